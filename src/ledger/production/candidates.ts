import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import { checkProofOfWork } from '../../identity/proofs/auxpow-proof.js'
import { checkHeaderContext } from '../consensus/context.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { parseAuxPow } from '../../base/primitives/auxpow.js'
import type { Block } from '../../base/primitives/block.js'
import { equalBytes, mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import type { Clock } from '../../base/runtime/env.js'

/** @limit count: candidates of miners kept of one height, and as many submitted blocks of this node */
export const maxCandidates = 8

/** A mined block without its body, as gossiped on a chain whose producer is `miners`. */
export interface CandidateUnit {
  readonly header: Header
  /** Bytes of the AuxPow. */
  readonly auxPow: Uint8Array
}

/** Fetches the bytes of the whole block of a candidate; undefined if no peer serves them. */
export type FetchBody = () => Promise<Uint8Array | undefined>

/** A block submitted to this node, with the promise of its caller. */
interface Offer {
  readonly block: Block
  resolve(): void
  reject(error: RuleError): void
}

interface Candidate extends CandidateUnit {
  readonly fetch: FetchBody
  /** Whether no peer served its body when it was to be proposed. */
  withheld: boolean
}

/** Blocks to propose next: submitted to this node, or announced by miners. */
export class Candidates {
  readonly #chain: Chain
  readonly #clock: Clock
  readonly #announced = new Map<string, Candidate>()
  #offers: Offer[] = []

  constructor(chain: Chain, clock: Clock) {
    this.#chain = chain
    this.#clock = clock
  }

  /** Whether there is a block to propose. */
  get some(): boolean {
    return this.#announced.size > 0 || this.#offers.length > 0
  }

  /** Checked blocks submitted to this node, oldest first. */
  get offered(): readonly Block[] {
    return this.#offers.map(({ block }) => block)
  }

  /** Announced candidates, oldest first; withheld ones come last. */
  get announced(): readonly Candidate[] {
    return [...this.#announced.values()].sort((a, b) => Number(a.withheld) - Number(b.withheld))
  }

  /**
   * Holds a candidate; returns false if it is held already, is for another tip, or there is no room. Throws the RuleError of a
   * wrong header or work; the rest needs the body.
   */
  announce({ header, auxPow }: CandidateUnit, fetch: FetchBody): boolean {
    const { spec, headers, tip } = this.#chain
    if (!spec.hasValidators || spec.producer !== 'miners') {
      throw new RuleError('vote-candidate', `the blocks of ${spec.name} do not come from miners`)
    }
    const id = mapKey(header.hash)
    if (!equalBytes(header.previous, tip.header.hash) || this.#announced.has(id)) return false
    checkHeaderContext(spec, header, headers.ancestry(tip))
    checkProofOfWork(spec, header, parseAuxPow(auxPow))
    if (this.#announced.size >= maxCandidates && !this.#makeRoom(header)) return false
    this.#announced.set(id, { header, auxPow, fetch, withheld: false })
    return true
  }

  /** Marks a candidate whose body no peer served: tried after all others, and replaced by a new one. */
  withhold(hash: Hash): void {
    const candidate = this.#announced.get(mapKey(hash))
    if (candidate !== undefined) candidate.withheld = true
  }

  /** Drops a withheld candidate, else the one with the latest time, if that is not acceptable yet and above `time`. */
  #makeRoom({ time }: Header): boolean {
    const held = [...this.#announced.values()]
    const [latest] = held
      .filter(({ header }) => header.time > time && !isTimely(header, this.#chain, this.#clock))
      .sort((a, b) => b.header.time - a.header.time)
    const dropped = held.find(({ withheld }) => withheld) ?? latest
    return dropped !== undefined && this.#announced.delete(mapKey(dropped.header.hash))
  }

  /** Drops a candidate that broke a rule. */
  drop(hash: Hash): void {
    this.#announced.delete(mapKey(hash))
  }

  /** Adds a checked block. Resolves when it is the tip; rejects with `template-stale` if another is, `busy` if full. */
  offer(block: Block): Promise<void> {
    if (this.#offers.length >= maxCandidates) {
      return Promise.reject(new RuleError('busy', `${maxCandidates} blocks wait for their turn already`))
    }
    return new Promise((resolve, reject) => this.#offers.push({ block, resolve, reject }))
  }

  /** Settles all offers and drops all candidates, since the tip moved. */
  settle(tip: KnownHeader): void {
    this.#announced.clear()
    for (const { block, resolve, reject } of this.#offers.splice(0)) {
      if (equalBytes(block.header.hash, tip.header.hash)) resolve()
      else reject(new RuleError('template-stale', `height ${block.header.height} was decided for another block`))
    }
  }

  /** Rejects all offers with `busy`, since the node is stopping. */
  close(): void {
    for (const { reject } of this.#offers.splice(0)) reject(new RuleError('busy', 'the node is stopping'))
  }
}

/** Whether a block on the tip may be proposed now: its time is at most maxDrift ahead of the clock, or the parent's. */
export function isTimely({ time }: Header, { spec, tip }: Chain, clock: Clock): boolean {
  return time * 1000 <= Math.max(clock.now() + spec.timing.maxDrift, tip.header.time * 1000)
}
