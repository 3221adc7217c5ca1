import { compareBytes, equalBytes, toHex } from '../primitives/bytes.js'
import { type Confirm, confirmBytes } from '../primitives/confirm.js'
import type { AnchoredBlock, KnownChain } from '../proofs/anchor.js'
import type { Trust } from '../proofs/trust.js'
import type { Server } from './ask-server.js'
import { FollowedValidators } from './followed-validators.js'
import type { ChainOptions, Foundation } from './foundation.js'
import { type ForkEvidence, LightError } from './light-error.js'
import type { LightMemory, SeenBlock } from './light-memory.js'

/** What is believed of one chain: what stands behind its blocks, and the highest block seen. */

export class FollowedChain {
  readonly trust: Trust
  readonly #foundation: Foundation
  #seen: SeenBlock
  #blocks = 0

  constructor(trust: Trust, seen: SeenBlock, foundation: Foundation) {
    this.trust = trust
    this.#seen = seen
    this.#foundation = foundation
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
    return this.#seen
  }

  /** What checks of answers believe. */
  get known(): KnownChain {
    return { genesis: this.trust.chain, ...this.#foundation.known(this.#seen) }
  }

  /** Asks a server what followed. Returns whether anything did. */
  follow(server: Server, now: number): Promise<boolean> {
    return this.#foundation.follow(server, now)
  }

  /** Remembers a block if it is the highest. */
  saw({ header, confirm }: AnchoredBlock): void {
    if (header.height <= this.#seen.header.height && this.#seen.confirm !== undefined) return
    if (header.height < this.#seen.header.height) return
    if (confirm === undefined && equalBytes(header.hash, this.#seen.header.hash)) return
    this.#seen = { header, ...(confirm && { confirm }) }
    this.#blocks++
  }

  /** Counts what became known: blocks, validators, headers. */
  get changes(): number {
    return this.#blocks + this.#foundation.changes
  }

  /** The text that {@link readMemory} reads. */
  async text(): Promise<string> {
    const { memoryText } = await import('./light-memory.js')
    return memoryText({ ...this.#foundation.memory, seen: this.#seen }, this.trust.chain)
  }
}

/** Throws `fork` where another block of the same height is confirmed as well. */
export function requireSame(one: SeenBlock, other: SeenBlock): void {
  const { height, hash } = one.header
  if (height !== other.header.height || equalBytes(hash, other.header.hash)) return
  if (one.confirm === undefined || other.confirm === undefined) return
  throw new LightError('fork', `two blocks of height ${height} are confirmed`, { evidence: evidenceOf(one, other) })
}

/** Two confirmed blocks that contradict each other, in hex; the lower one, or the one with the lower hash, first. */
export function evidenceOf(...blocks: readonly [SeenBlock, SeenBlock]): ForkEvidence | undefined {
  const [a, b] = [...blocks].sort(
    ({ header: one }, { header: other }) => one.height - other.height || compareBytes(one.hash, other.hash),
  ) as [SeenBlock, SeenBlock]
  if (a.confirm === undefined || b.confirm === undefined) return undefined
  const whole = (confirm: Confirm) => toHex(confirmBytes(confirm))
  return { headers: [toHex(a.header.bytes), toHex(b.header.bytes)], confirms: [whole(a.confirm), whole(b.confirm)] }
}
