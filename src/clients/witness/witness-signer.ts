/**
 * A witness: signs the heads of a chain that it has checked, each once, and never two of a height.
 *
 *   LightWitness (light-witness.ts)  asks nodes: validators or work, then that a head follows from the last one signed
 *   or a full node (node/own-witness) that has checked every rule
 *     -> WitnessSigner.sign -> ruling by the state -> state on disk (witness-state.ts) -> CosignedHeads (cosigned-heads.ts)
 *
 * Imports errors, runtime, primitives, crypto, did, proofs, light; used by api, node, cli, heads.
 * - The state is on disk before a signature leaves: a crash can lose a signature, never the memory of it.
 * - A head that does not follow from the last one signed raises an alarm, and nothing is signed any more.
 */
import { UserError } from '../../base/errors/rule-error.js'
import { ed25519PublicKey, ed25519Signer } from '../../base/crypto/ed25519.js'
import { displayHash, equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import type { AnchorJson } from '../../identity/did/state-proof.js'
import {
  cosignatureLine,
  cosignedMessage,
  headOf,
  noteText,
  readSignerKey,
  verifierKeyText,
  witnessKey,
  type WitnessKey,
} from '../../identity/proofs/witness-note.js'
import type { ShownHead } from '../light/witnessed-heads.js'
import { CosignedHeads } from './cosigned-heads.js'
import { emptyWitnessState, readWitnessState, witnessStateBytes } from './witness-state.js'

/** Storage of the state of a key; `save` resolves when a crash cannot lose it. */
export interface WitnessStore {
  readonly path?: string
  load(): Promise<Uint8Array | undefined>
  save(bytes: Uint8Array): Promise<void>
}

/** A key that signs. */
export interface WitnessSecret {
  readonly key: WitnessKey
  readonly seed: Uint8Array
}

/** A head that was checked. */
export interface CheckedHead {
  readonly header: Header
  readonly didRoot: Hash
  /** With its confirm, on a chain with validators, and the root of the map. */
  readonly anchor: AnchorJson
}

export interface WitnessSignerOptions {
  readonly secret: WitnessSecret
  /** Hash of the genesis block. */
  readonly genesis: Hash
  readonly hasValidators: boolean
  readonly store: WitnessStore
  /** Unix milliseconds. */
  now(): number
  /** Told once, when the alarm is raised. */
  onAlarm?(text: string): void
}

/** The key in the text of a private key; a UserError that shows nothing of it. */
export function readWitnessSecret(sent: string, what: string): WitnessSecret {
  const found = readSignerKey(sent)
  const refused = () =>
    new UserError(`${what} is no private key of a witness: "didledger witness key" makes one, PRIVATE+KEY+NAME+ID+KEY`)
  if (found === undefined) throw refused()
  const key = witnessKey(found.name, ed25519PublicKey(found.seed))
  if (!verifierKeyText(key).startsWith(`${found.name}+${found.id}+`)) throw refused()
  return { key, seed: found.seed }
}

export class WitnessSigner {
  readonly heads: CosignedHeads
  readonly key: WitnessKey
  readonly #options: WitnessSignerOptions
  readonly #sign: (message: Uint8Array) => Uint8Array
  #last: CheckedHead['header'] | undefined
  #head: ShownHead | undefined
  #memory: string | undefined
  #alarm: string | undefined
  /** Signs one head after another: what the second may be follows from the first. */
  #turn: Promise<unknown> = Promise.resolve()

  private constructor(options: WitnessSignerOptions) {
    this.#options = options
    this.key = options.secret.key
    this.#sign = ed25519Signer(options.secret.seed)
    this.heads = new CosignedHeads(this.key, options.genesis, () => this.#alarm)
  }

  /** A UserError where the state is missing, damaged, or that of another key or chain: then it is unknown what the key has signed. */
  static async open(options: WitnessSignerOptions): Promise<WitnessSigner> {
    const { store } = options
    const signer = new WitnessSigner(options)
    const bytes = await store.load()
    if (bytes === undefined) {
      throw new UserError(
        `the state of the witness key is missing${store.path === undefined ? '' : ` (${store.path})`}: what the key has signed is ` +
          'unknown, so that it signs no more; "didledger witness key" makes a new key with its state',
      )
    }
    const { head, signed, memory } = readWitnessState(bytes, signer.#owner)
    signer.#memory = memory
    if (head === undefined || signed === undefined) return signer
    signer.#head = head
    signer.#last = signed.header
    signer.heads.add(signed.header.height, head)
    return signer
  }

  /** The block that was signed last; undefined: none yet. */
  get last(): Header | undefined {
    return this.#last
  }

  /** The head of that block as it is shown. */
  get head(): ShownHead | undefined {
    return this.#head
  }

  /** Text that {@link remember} took last. */
  get memory(): string | undefined {
    return this.#memory
  }

  /** Why nothing is signed any more; undefined while all is well. */
  get alarm(): string | undefined {
    return this.#alarm
  }

  /** Memory of the chain that goes with the next state. */
  remember(text: string): void {
    this.#memory = text
  }

  /**
   * Signs a head above the last one signed; `ancestor` is the hash of its chain at the height of that one. Resolves with the cosigned head
   * once the state is on disk; with undefined for a head at or below the last one, and for one that does not follow: then the alarm is raised.
   */
  sign(head: CheckedHead, ancestor: Hash | undefined): Promise<ShownHead | undefined> {
    const signed = this.#turn.then(() => this.#signNext(head, ancestor))
    this.#turn = signed.catch(() => {})
    return signed
  }

  async #signNext(head: CheckedHead, ancestor: Hash | undefined): Promise<ShownHead | undefined> {
    if (this.#alarm !== undefined) return undefined
    const { height, hash } = head.header
    const last = this.#last
    if (last !== undefined) {
      const seen = height === last.height ? hash : ancestor
      if (height >= last.height && (seen === undefined || !equalBytes(seen, last.hash))) return this.#refuse(head, seen)
      if (height <= last.height) return undefined
    }
    const shown = this.#cosigned(head)
    try {
      await this.#options.store.save(witnessStateBytes({ head: shown, memory: this.#memory }, this.#owner))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return this.#raise(`the state of the witness key cannot be written (${reason}); nothing is signed any more`)
    }
    this.#last = head.header
    this.#head = shown
    this.heads.add(height, shown)
    return shown
  }

  #cosigned(head: CheckedHead): ShownHead {
    const { genesis } = this.#options
    const time = Math.floor(this.#options.now() / 1000)
    const signed = headOf(genesis, head)
    const line = cosignatureLine(this.key, time, this.#sign(cosignedMessage(signed, time)))
    return { note: noteText(signed, [line]), anchor: head.anchor }
  }

  #refuse({ header }: CheckedHead, seen: Hash | undefined): undefined {
    const last = this.#last as Header
    const other = seen === undefined ? 'it was not shown which block' : `the block ${displayHash(seen)}`
    return this.#raise(
      `block ${header.height}, ${displayHash(header.hash)}, does not follow from block ${last.height}, ${displayHash(last.hash)}, which ` +
        `this witness has signed: ${other} is below it there. The chain has two histories; nothing is signed any more`,
    )
  }

  #raise(text: string): undefined {
    this.#alarm = text
    this.#options.onAlarm?.(text)
    return undefined
  }

  get #owner() {
    const { genesis, hasValidators } = this.#options
    return { key: verifierKeyText(this.key), genesis, hasValidators }
  }
}

/** The first state of a new key. */
export function firstWitnessState(key: WitnessKey): Uint8Array {
  return emptyWitnessState(verifierKeyText(key))
}
