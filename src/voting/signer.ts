import { publicKeyOf } from '../crypto/keys.js'
import type { Hash } from '../primitives/hash.js'
import type { Log } from '../runtime/env.js'
import { signMessage } from './sign-message.js'
import type { SignStore } from './sign-state-file.js'
import type { LockState, RestoredState } from './tendermint/machine-events.js'
import { type SignedMessage, stepOf, type UnsignedMessage, viewOf } from './tendermint/message.js'
import {
  encodeSignState,
  freshSignState,
  parseSignState,
  restoredAt,
  signRuling,
  type SignState,
  SignStateError,
  withSigned,
} from './tendermint/sign-state.js'

/** When a key whose sign state is lost votes again: after the height that is open now, or at once. */
export type SignReset = 'next' | 'now'

export interface SignerOptions {
  /** 32 bytes. */
  readonly key: Uint8Array
  readonly store: SignStore
  /** Hash of the genesis block. */
  readonly genesis: Hash
  readonly reset?: SignReset | undefined
  readonly log: Log
}

/** What decides whether a lost sign state may be begun anew. */
export interface SigningOutlook {
  /** The open height. */
  readonly height: number
  /** The highest tip that a peer reports; undefined while there is no peer. */
  readonly bestPeerHeight: number | undefined
  /** Whether that is above the own tip, and believed. */
  readonly isBehind: boolean
  /** Whether the tip was confirmed after this node was started. */
  readonly fresh: boolean
  /** Whether no other validator exists. */
  readonly alone: boolean
}

/**
 * A validator's key with the memory of what it signed: nothing leaves before it is in the store, and nothing is signed
 * that contradicts it.
 */
export class Signer {
  readonly publicKey: Uint8Array
  readonly #options: SignerOptions
  #state: SignState | undefined
  /** Why there is no state. */
  #lost: string | undefined
  /** Why nothing is signed any more. */
  #broken: string | undefined
  /** The first height to sign at, once `next` has been settled. */
  #from: number | undefined

  private constructor(options: SignerOptions) {
    this.#options = options
    this.publicKey = publicKeyOf(options.key)
  }

  static async open(options: SignerOptions): Promise<Signer> {
    const signer = new Signer(options)
    const bytes = await options.store.load()
    try {
      if (bytes !== undefined) signer.#state = parseSignState(bytes, signer.#owner)
    } catch (error) {
      if (!(error instanceof SignStateError)) throw error
      signer.#lost = `the sign state is damaged (${error.message})`
      options.log.error({ path: options.store.path, reason: error.message }, 'the sign state is damaged')
    }
    return signer
  }

  /** Why nothing is signed at the open height; undefined when it is. */
  refusal(outlook: SigningOutlook): string | undefined {
    if (this.#broken !== undefined) return this.#broken
    const signedAt = this.#state?.height ?? 0
    if (signedAt > outlook.height) return `the key has signed at height ${signedAt} already, and signs nothing below`
    if (this.#state !== undefined) return undefined
    const { reset } = this.#options
    if (reset === 'now') return undefined
    if (reset === 'next') return this.#refusalAfterReset(outlook)
    const { height, bestPeerHeight, alone } = outlook
    if (this.#lost !== undefined) return `${this.#lost}; ${resetHint}`
    if (height > 1 || (bestPeerHeight ?? 0) > 0) return `the sign state is missing; ${resetHint}`
    // Whether the chain has begun without this node nobody but another can tell.
    return bestPeerHeight === undefined && !alone ? 'waits for a peer, since it has signed nothing yet' : undefined
  }

  /** Whether there is no state yet. */
  get missing(): boolean {
    return this.#state === undefined
  }

  /** Whether what the key signed at a height is not kept any more, because it went on to a higher one. */
  past(height: number): boolean {
    return this.#state !== undefined && height < this.#state.height
  }

  /**
   * Writes the state of a key that signed nothing, if it may sign now. A key that began with the chain is told by that from
   * one whose state is lost, also when others confirm the first blocks without it. Not while a message is being signed.
   */
  async begin(outlook: SigningOutlook): Promise<void> {
    if (!this.missing || this.refusal(outlook) !== undefined) return
    const { height } = outlook
    await this.#save(freshSignState(height), { height })
  }

  /** Where the machine of a height goes on; undefined when nothing was signed there. */
  restored(height: number): RestoredState | undefined {
    return this.#state === undefined ? undefined : restoredAt(this.#state, height)
  }

  /**
   * Signs a message and resolves when that is on disk; what was signed in its place before comes back as it was. Undefined
   * when it may not be signed.
   */
  async sign(message: UnsignedMessage, locks: LockState): Promise<SignedMessage | undefined> {
    const { key, genesis, log } = this.#options
    const place = { height: message.height, view: viewOf(message), step: stepOf(message) }
    const state = this.#state ?? freshSignState(message.height)
    const ruling = signRuling(state, message)
    if (ruling.ruling === 'stored') return ruling.message
    if (ruling.ruling === 'refused') {
      log.warn({ ...place, reason: ruling.reason }, 'a message is not signed')
      return undefined
    }
    const signed = signMessage(message, genesis, key)
    return (await this.#save(withSigned(state, signed, locks), place)) ? signed : undefined
  }

  /** Whether the state is on disk; if not, nothing is signed any more. */
  async #save(next: SignState, place: { readonly height: number }): Promise<boolean> {
    const { store, log } = this.#options
    try {
      await store.save(encodeSignState(next, this.#owner))
    } catch (error) {
      this.#broken = `the sign state cannot be written (${error instanceof Error ? error.message : String(error)})`
      log.error({ ...place, reason: this.#broken }, 'this node votes no more')
      return false
    }
    this.#state = next
    return true
  }

  get #owner() {
    return { genesis: this.#options.genesis, publicKey: this.publicKey }
  }

  /** Others have had more blocks than this node: a reset begins after what is open at their end. */
  overtaken(): void {
    this.#from = undefined
  }

  #refusalAfterReset({ height, bestPeerHeight, isBehind, fresh }: SigningOutlook): string | undefined {
    // What may have been signed belongs to the height that was open when the state was lost: at the latest the one that is
    // open when nobody who is believed has more blocks. They may lie, and hand out blocks late; what they cannot do is to
    // have a block of the past confirmed in the present.
    if (isBehind) this.overtaken()
    else if (bestPeerHeight !== undefined) this.#from ??= height + 1
    if (this.#from === undefined) return 'the sign state was reset: waits until it has caught up with a peer'
    if (height < this.#from) return `the sign state was reset: votes from height ${this.#from}`
    return fresh ? undefined : 'the sign state was reset: waits for a block made after the start of this node'
  }
}

const resetHint =
  'if no other node votes with this key, start once with --reset-sign-state, or for a chain that waits for it with ' +
  '--reset-sign-state=now'
