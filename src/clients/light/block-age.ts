import { displayHash } from '../../base/primitives/bytes.js'
import type { AnchoredBlock } from '../../identity/proofs/anchor.js'
import type { Trust } from '../../identity/proofs/trust-root.js'
import { LightError } from './light-error.js'
import type { SeenBlock } from './light-memory.js'
import type { Proved } from './proved-answer.js'

/** How old blocks are, by the clock at hand, and how old they may be. */

/** @limit s: age of a believed block, by default */
const trustPeriod = 30 * 24 * 60 * 60
/** Seconds that clocks may differ besides what the chain allows. */
const clockDifference = 60

export interface AgeOptions {
  /** Maximum age of the trust root in seconds; 30 days by default. */
  readonly trustPeriod?: number
  /** Accepts an older root too, and marks each answer so. */
  readonly allowOldRoot?: boolean
  /** Unix milliseconds. */
  readonly now?: () => number
}

export class BlockAges {
  readonly #trust: Trust
  readonly #options: AgeOptions

  constructor(trust: Trust, options: AgeOptions) {
    this.#trust = trust
    this.#options = options
  }

  /** Unix milliseconds. */
  now(): number {
    return (this.#options.now ?? Date.now)()
  }

  /** Throws `future` for a block whose time has not come. */
  requirePast({ header }: AnchoredBlock): void {
    const ahead = header.time - this.now() / 1000
    if (this.#trust.devnet || ahead <= this.#trust.maxDrift + clockDifference) return
    throw new LightError('future', `the block is ${Math.round(ahead)} s ahead of the clock`)
  }

  /** Throws `stale`, with the answer, where the block of one is older than `maxAge`; undefined: it may have any age. */
  requireFresh(
    block: AnchoredBlock,
    maxAge: number | undefined,
    answer: () => { readonly proved: Partial<Proved> },
  ): void {
    const age = this.#ageOf(block)
    if (maxAge === undefined || this.#trust.devnet || age <= maxAge) return
    const { proved, ...rest } = answer()
    const old = { ...rest, proved: { ...this.proved(block, []), ...proved } }
    throw new LightError('stale', `the block is ${age} s old, at most ${maxAge} s are allowed`, { answer: old })
  }

  /** Throws `trust-expired` if the trusted block of a chain with validators is too old, unless that is allowed. */
  oldRoot(believed: SeenBlock): { oldRoot: true } | undefined {
    const { devnet, work } = this.#trust
    const { trustPeriod: period = trustPeriod, allowOldRoot } = this.#options
    const age = this.#ageOf(believed)
    if (devnet || work !== undefined || age <= period) return undefined
    if (allowOldRoot === true) return { oldRoot: true }
    throw new LightError('trust-expired', `the believed block is ${age} s old; a newer checkpoint is needed`)
  }

  /** Evidence of an answer as of a block. */
  proved(block: AnchoredBlock, servers: readonly string[]): Proved {
    const { height, hash, time } = block.header
    const { witnesses } = block
    return { height, hash: displayHash(hash), time, age: this.#ageOf(block), servers, ...(witnesses && { witnesses }) }
  }

  #ageOf({ header }: SeenBlock): number {
    return Math.max(0, Math.floor(this.now() / 1000) - header.time)
  }
}
