import { publicKeyOf } from '../base/crypto/keys.js'
import type { Hash } from '../base/primitives/hash.js'
import { signMessage } from './sign-message.js'
import type { SignStore } from './sign-state-file.js'
import type { LockState } from './tendermint/machine-events.js'
import type { SignedMessage, UnsignedMessage } from './tendermint/message.js'
import { encodeSignState, type SignState, withSigned } from './tendermint/sign-state.js'

/** A message that was signed, with the state that is stored then; or why it never will be. */
export type Signing = { readonly message: SignedMessage; readonly state: SignState } | { readonly refused: string }

/** A validator's key and its stored sign state: in this process, or behind a socket. */
export interface KeyHolder {
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
  /** Place of the state, for the log. */
  readonly path?: string
  /** Why the key cannot be asked now, in words; undefined while it can. */
  fault(): string | undefined
  /** The stored state; undefined if there is none. */
  load(): Promise<Uint8Array | undefined>
  /** Stores the first state of a key; resolves when a crash cannot lose it. */
  begin(state: SignState): Promise<void>
  /**
   * Signs a message that `state` allows; resolves when the state after it cannot be lost. Rejects where that failed: with a
   * {@link KeyUnreachable} if it can be tried again.
   */
  sign(message: UnsignedMessage, locks: LockState, state: SignState): Promise<Signing>
  /** Calls back with the stored state when the key can be asked again. */
  onReturn?(listener: (stored: Uint8Array | undefined) => void): void
}

/** The key cannot be asked now; whether it has signed is not known. */
export class KeyUnreachable extends Error {}

/** A key in the memory of this process. */
export class OwnKey implements KeyHolder {
  readonly publicKey: Uint8Array
  readonly #options: { readonly key: Uint8Array; readonly store: SignStore; readonly genesis: Hash }

  /** `key`: 32 bytes; `genesis`: hash of the genesis block. */
  constructor(options: { readonly key: Uint8Array; readonly store: SignStore; readonly genesis: Hash }) {
    this.#options = options
    this.publicKey = publicKeyOf(options.key)
  }

  get path(): string | undefined {
    return this.#options.store.path
  }

  fault(): undefined {
    return undefined
  }

  load(): Promise<Uint8Array | undefined> {
    return this.#options.store.load()
  }

  begin(state: SignState): Promise<void> {
    return this.#save(state)
  }

  async sign(message: UnsignedMessage, locks: LockState, state: SignState): Promise<Signing> {
    const { key, genesis } = this.#options
    const signed = signMessage(message, genesis, key)
    const next = withSigned(state, signed, locks)
    await this.#save(next)
    return { message: signed, state: next }
  }

  #save(state: SignState): Promise<void> {
    const { store, genesis } = this.#options
    return store.save(encodeSignState(state, { genesis, publicKey: this.publicKey }))
  }
}
