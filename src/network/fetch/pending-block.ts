import type { Block } from '../../base/primitives/block.js'
import type { HeaderUnit } from '../wire/headers-message.js'
import type { SyncPeer } from './sync-peer.js'

/** A header as it is verified. */
interface PendingBlockParts {
  readonly unit: HeaderUnit
  /** Chain work including this block. */
  readonly chainWork: bigint
  /** The peer that sent the header. */
  readonly source: SyncPeer
  /** Whether its signatures are assumed valid. */
  readonly assumed: boolean
}

/** A verified header with its proofs; its block is not connected yet. */
export class PendingBlock implements PendingBlockParts {
  readonly unit: HeaderUnit
  readonly chainWork: bigint
  readonly source: SyncPeer
  readonly assumed: boolean
  #body: Uint8Array | undefined
  #giver: SyncPeer | undefined
  #matched: Block | undefined
  /** Whether the chain is connecting it. */
  isConnecting = false
  #misses: Map<number, number> | undefined
  #withheld = false

  constructor({ unit, chainWork, source, assumed }: PendingBlockParts) {
    this.unit = unit
    this.chainWork = chainWork
    this.source = source
    this.assumed = assumed
  }

  /** The bytes of the block; undefined before they arrive. */
  get body(): Uint8Array | undefined {
    return this.#body
  }

  /** The peer that delivered them. */
  get giver(): SyncPeer | undefined {
    return this.#giver
  }

  /** The decoded block after its body check. */
  get matched(): Block | undefined {
    return this.#matched
  }

  /** Whether the source of the header reported that it lacks the body. */
  get withheld(): boolean {
    return this.#withheld
  }

  /** Stores the body that a peer delivered. */
  give(body: Uint8Array, giver: SyncPeer): void {
    this.#body = body
    this.#giver = giver
  }

  /** Stores the result of the check of this body; ignored if another one came since. */
  match(body: Uint8Array, block: Block): void {
    if (this.#body === body) this.#matched = block
  }

  /** Forgets the body, so that it is requested again. */
  dropBody(): void {
    this.#body = undefined
  }

  /** Counts a failed request to a peer. */
  noteMiss({ id }: SyncPeer): void {
    this.#misses ??= new Map()
    this.#misses.set(id, this.missesOf({ id }) + 1)
  }

  /** A peer reported that it lacks the body. */
  noteWithheld(peer: SyncPeer): void {
    this.#withheld ||= this.source === peer
  }

  /** Failed requests to a peer since {@link forgetMisses}. */
  missesOf({ id }: Pick<SyncPeer, 'id'>): number {
    return this.#misses?.get(id) ?? 0
  }

  forgetMisses(): void {
    this.#misses = undefined
  }
}
