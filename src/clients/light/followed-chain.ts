import type { AnchoredBlock, KnownChain } from '../../identity/proofs/anchor.js'
import type { Trust } from '../../identity/proofs/trust-root.js'
import type { Server } from './ask-server.js'
import { FollowedValidators } from './followed-validators.js'
import type { ChainOptions, TrustBasis } from './trust-basis.js'
import type { LightMemory, SeenBlock } from './light-memory.js'
import { Remembered, type Update } from './remembered.js'

/** One chain: what is remembered of it, and the one place that replaces it. */

export class FollowedChain {
  readonly trust: Trust
  #remembered: Remembered
  #changes = 0

  constructor(trust: Trust, seen: SeenBlock, foundation: TrustBasis) {
    this.trust = trust
    this.#remembered = new Remembered(seen, foundation)
  }

  /** The chain as it was remembered, else from genesis on. */
  static async from(options: ChainOptions, memory?: LightMemory): Promise<FollowedChain> {
    const { trust } = options
    const foundation =
      trust.work === undefined
        ? new FollowedValidators(options, memory?.lists)
        : (await import('./follow-work.js')).rememberedWork(options, memory)
    return new FollowedChain(trust, memory?.seen ?? { header: trust.header }, foundation)
  }

  get seen(): SeenBlock {
    return this.#remembered.seen
  }

  /** Trusted data for checks of answers. */
  get known(): KnownChain {
    const { seen, foundation } = this.#remembered
    return { genesis: this.trust.chain, ...foundation.known(seen) }
  }

  /** The validators or the work that are known; another object once more is. */
  get basis(): TrustBasis {
    return this.#remembered.foundation
  }

  /** Asks a server what followed. Returns whether anything did, of this server or meanwhile of another. */
  async follow(server: Server, now: number): Promise<boolean> {
    const { foundation } = this.#remembered
    const followed = await foundation.follow(server, now, (found) => this.#apply({ followed: found }))
    return followed || this.#remembered.foundation !== foundation
  }

  /** Remembers a block if it is the highest. */
  saw({ header, confirm }: AnchoredBlock): void {
    this.#apply({ block: { header, ...(confirm && { confirm }) } })
  }

  #apply(update: Update): void {
    const next = this.#remembered.apply(update)
    if (next === this.#remembered) return
    this.#remembered = next
    this.#changes++
  }

  /** Counts what became known: blocks, validators, headers. */
  get changes(): number {
    return this.#changes
  }

  /** The text that `loadMemory` reads. */
  async text(): Promise<string> {
    const { memoryText } = await import('./light-memory.js')
    const { seen, foundation } = this.#remembered
    return memoryText({ ...foundation.memory, seen }, this.trust.chain)
  }
}
