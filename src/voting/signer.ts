import type { Hash } from '../base/primitives/hash.js'
import type { Log } from '../base/runtime/env.js'
import { refusalOf } from '../ledger/storage/failure.js'
import { type KeyHolder, KeyUnreachable } from './key-holder.js'
import { type SigningState, signingText } from './signing-state.js'
import type { LockState, RestoredState } from './tendermint/machine-events.js'
import { type SignedMessage, stepOf, type UnsignedMessage, viewOf } from './tendermint/message.js'
import {
  freshSignState,
  parseSignState,
  positionOrder,
  restoredAt,
  signRuling,
  type SignState,
  SignStateError,
} from './tendermint/sign-state.js'

/** When a key with a lost sign state votes again: after the height that is open now, or at once. */
export type SignReset = 'next' | 'now'

export interface SignerOptions {
  readonly holder: KeyHolder
  /** Hash of the genesis block. */
  readonly genesis: Hash
  readonly reset?: SignReset
  readonly log: Log
}

/** Facts by which a signer decides whether it may sign, and whether a lost sign state may be reset. */
export interface SigningOutlook {
  /** The open height. */
  readonly height: number
  /** The highest tip that a peer reports; undefined while there is no peer. */
  readonly bestPeerHeight: number | undefined
  /** Whether that is above the own tip, and the claim is trusted. */
  readonly isBehind: boolean
  /** Whether the tip was confirmed after this node was started. */
  readonly fresh: boolean
  /** Whether no other validator exists. */
  readonly alone: boolean
}

/**
 * A validator's key with its sign state: a message is stored before it leaves, and no message is signed that contradicts
 * the state.
 */
export class Signer {
  readonly publicKey: Uint8Array
  readonly #options: SignerOptions
  #state: SignState | undefined
  /** Damage of the stored state, in words. */
  #damage: string | undefined
  /** Why the state could not be written; nothing is signed any more. */
  #unwritable: string | undefined
  /** The first height to sign at after the reset `next`, once known. */
  #from: number | undefined

  private constructor(options: SignerOptions) {
    this.#options = options
    this.publicKey = options.holder.publicKey
    options.holder.onReturn?.((stored) => this.#adopt(stored))
  }

  static async open(options: SignerOptions): Promise<Signer> {
    const signer = new Signer(options)
    signer.#adopt(await options.holder.load())
    return signer
  }

  /** Takes the stored state over, unless this process has seen a later one: then it was put back, and nothing is signed by it. */
  #adopt(stored: Uint8Array | undefined): void {
    const { holder, log } = this.#options
    this.#damage = undefined
    try {
      const state = stored && parseSignState(stored, this.#owner)
      const seen = this.#state
      if (seen !== undefined && (state === undefined || positionOrder(state, seen) < 0)) {
        throw new SignStateError('it is older than what this node saw')
      }
      this.#state = state
    } catch (error) {
      if (!(error instanceof SignStateError)) throw error
      this.#damage = error.message
      log.error({ path: holder.path, reason: error.message }, 'the sign state is damaged')
    }
  }

  /** Whether the key signs at the open height, and if not, why. */
  signing(outlook: SigningOutlook): SigningState {
    if (this.#unwritable !== undefined) return { kind: 'sign-state-unwritable', text: this.#unwritable }
    const fault = this.#options.holder.fault()
    if (fault !== undefined) return { kind: 'signer-unreachable', text: fault }
    if (this.#state !== undefined && this.#damage !== undefined)
      return { kind: 'sign-state-damaged', text: this.#damage }
    if (this.#state !== undefined) {
      const { height } = this.#state
      return height > outlook.height ? { kind: 'signed-above', height } : { kind: 'voting' }
    }
    const { reset } = this.#options
    if (reset === 'now') return { kind: 'voting' }
    if (reset === 'next') return this.#signingAfterReset(outlook)
    const { height, bestPeerHeight, alone } = outlook
    if (this.#damage !== undefined) return { kind: 'sign-state-damaged', text: this.#damage }
    if (height > 1 || (bestPeerHeight ?? 0) > 0) return { kind: 'sign-state-missing' }
    // Only another node can show whether the chain has begun without this one.
    return { kind: bestPeerHeight === undefined && !alone ? 'waits-for-peer' : 'voting' }
  }

  /** The newest height at which the key signed, as far as is known here; 0 for none. */
  get signedHeight(): number {
    return this.#state?.height ?? 0
  }

  /** Whether there is no state yet. */
  get missing(): boolean {
    return this.#state === undefined
  }

  /**
   * Whether a signature of the key at a height that is not in the state shows a second process, or a lost state. A key without a state,
   * or with one that a reset began, may have signed any block of before: only those on a `fresh` tip were signed by another process.
   */
  shownElsewhere(height: number, fresh: boolean): boolean {
    if (this.#state !== undefined && height < this.#state.height) return false
    return fresh || (this.#state !== undefined && this.#options.reset === undefined)
  }

  /**
   * Writes the first state of a key, if it may sign now. The state distinguishes a key that began with the chain from one
   * that lost its state, also if others confirm the first blocks without it. Not to be called while a message is signed.
   */
  async begin(outlook: SigningOutlook): Promise<void> {
    if (!this.missing || this.signing(outlook).kind !== 'voting') return
    const { height } = outlook
    const state = freshSignState(height)
    await this.#stored({ height }, async () => {
      await this.#options.holder.begin(state)
      this.#take(state)
    })
  }

  /** The state from which the machine of a height resumes; undefined if nothing was signed there. */
  restored(height: number): RestoredState | undefined {
    return this.#state === undefined ? undefined : restoredAt(this.#state, height)
  }

  /**
   * Signs a message; resolves when the state is on disk. Returns the stored message if one was signed at that height, view
   * and step before; undefined if the message may not be signed.
   */
  async sign(message: UnsignedMessage, locks: LockState): Promise<SignedMessage | undefined> {
    const { holder, log } = this.#options
    const position = { height: message.height, view: viewOf(message), step: stepOf(message) }
    const refuse = (reason: string) => log.warn({ ...position, reason }, 'a message is not signed')
    const state = this.#state ?? freshSignState(message.height)
    const ruling = signRuling(state, message)
    if (ruling.ruling === 'stored') return ruling.message
    if (ruling.ruling === 'refused') {
      refuse(ruling.reason)
      return undefined
    }
    return this.#stored(position, async () => {
      const signing = await holder.sign(message, locks, state)
      if ('refused' in signing) {
        refuse(signing.refused)
        return undefined
      }
      this.#take(signing.state)
      return signing.message
    })
  }

  /** A state that is stored now: what was wrong with the one before is of no interest any more. */
  #take(state: SignState): void {
    this.#state = state
    this.#damage = undefined
  }

  /** Runs what stores a state. If it cannot be stored, nothing is signed any more; a key out of reach is asked again. */
  async #stored<T>(position: { readonly height: number }, store: () => Promise<T>): Promise<T | undefined> {
    const { log } = this.#options
    try {
      return await store()
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (error instanceof KeyUnreachable) {
        log.warn({ ...position, reason: text }, 'the signer does not answer')
        return undefined
      }
      this.#unwritable = refusalOf(error)?.what ?? text
      const reason = signingText({ kind: 'sign-state-unwritable', text: this.#unwritable })
      log.error({ ...position, reason }, 'this node votes no more')
      return undefined
    }
  }

  get #owner() {
    return { genesis: this.#options.genesis, publicKey: this.publicKey }
  }

  /** Peers had more blocks than this node: the first height of a reset is determined anew. */
  overtaken(): void {
    this.#from = undefined
  }

  #signingAfterReset({ height, bestPeerHeight, isBehind, fresh, alone }: SigningOutlook): SigningState {
    // Lost signatures belong to the height that was open when the state was lost: at the latest the one that is open when no
    // trusted peer claims more blocks. Peers can claim wrongly and serve late, but not have an old block confirmed now.
    // Once the tip was confirmed after the start so is each further block, which peers have for a moment before this node.
    const isNewBlock = fresh && bestPeerHeight === height
    if (isBehind && !isNewBlock) this.overtaken()
    else if (!isBehind && bestPeerHeight !== undefined) this.#from ??= height + 1
    if (alone && !isBehind && !fresh) return { kind: 'reset-waits', for: 'own-block' }
    if (this.#from === undefined) return { kind: 'reset-waits', for: 'peer' }
    if (height < this.#from) return { kind: 'reset-waits', for: { height: this.#from } }
    return fresh ? { kind: 'voting' } : { kind: 'reset-waits', for: 'fresh-block' }
  }
}
