import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import { checkProofOfWork } from '../consensus/check-auxpow.js'
import { checkHeaderContext } from '../consensus/context.js'
import { RuleError } from '../errors/rule-error.js'
import { parseAuxPow } from '../primitives/auxpow.js'
import type { Block } from '../primitives/block.js'
import { equalBytes, mapKey } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import type { Header } from '../primitives/header.js'
import type { Clock } from '../runtime/env.js'

/** Candidates of other nodes, and offers of this one, that are held for one height. */
export const maxCandidates = 8

/** A block that a miner found, without its body: what is gossiped on a chain whose producer is `miners`. */
export interface CandidateUnit {
  readonly header: Header
  /** Bytes of the AuxPow. */
  readonly auxPow: Uint8Array
}

/** Where the body of a candidate comes from: bytes of the whole block, undefined when nobody hands them out. */
export type FetchBody = () => Promise<Uint8Array | undefined>

/** A block that somebody waits for. */
interface Offer {
  readonly block: Block
  resolve(): void
  reject(error: RuleError): void
}

interface Candidate extends CandidateUnit {
  readonly fetch: FetchBody
  /** Whether nobody handed out its body when it was to be proposed. */
  withheld: boolean
}

/** Blocks that could be the next one: what was handed in at this node, and what miners announced. */
export class Candidates {
  readonly #chain: Chain
  readonly #clock: Clock
  readonly #announced = new Map<string, Candidate>()
  #offers: Offer[] = []

  constructor(chain: Chain, clock: Clock) {
    this.#chain = chain
    this.#clock = clock
  }

  /** Whether there is anything to propose. */
  get some(): boolean {
    return this.#announced.size > 0 || this.#offers.length > 0
  }

  /** Blocks handed in at this node whose bodies are checked, the oldest first. */
  get offered(): readonly Block[] {
    return this.#offers.map(({ block }) => block)
  }

  /** What others announced, the oldest first; those that were withheld come last. */
  get announced(): readonly Candidate[] {
    return [...this.#announced.values()].sort((a, b) => Number(a.withheld) - Number(b.withheld))
  }

  /**
   * Holds a candidate; false when it is held already, is for another tip, or there is no room. Throws the RuleError of a header
   * or a work that is not right: nothing else can be said without the body.
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

  /** Nobody handed out the body of a candidate: it is tried after all others, and gives way to a new one. */
  withhold(hash: Hash): void {
    const candidate = this.#announced.get(mapKey(hash))
    if (candidate !== undefined) candidate.withheld = true
  }

  /** What was withheld goes, or else what may be proposed last: of a time that is too far ahead, and later than the new one's. */
  #makeRoom({ time }: Header): boolean {
    const held = [...this.#announced.values()]
    const [latest] = held
      .filter(({ header }) => header.time > time && !isTimely(header, this.#chain, this.#clock))
      .sort((a, b) => b.header.time - a.header.time)
    const gone = held.find(({ withheld }) => withheld) ?? latest
    return gone !== undefined && this.#announced.delete(mapKey(gone.header.hash))
  }

  /** A candidate turned out to be of no use. */
  drop(hash: Hash): void {
    this.#announced.delete(mapKey(hash))
  }

  /** Resolves when the tip is this block, rejects with `template-stale` when it is another. The block was checked before. */
  offer(block: Block): Promise<void> {
    if (this.#offers.length >= maxCandidates) {
      return Promise.reject(new RuleError('busy', `${maxCandidates} blocks wait for their turn already`))
    }
    return new Promise((resolve, reject) => this.#offers.push({ block, resolve, reject }))
  }

  /** Everything that was held is decided: the tip moved. */
  settle(tip: KnownHeader): void {
    this.#announced.clear()
    for (const { block, resolve, reject } of this.#offers.splice(0)) {
      if (equalBytes(block.header.hash, tip.header.hash)) resolve()
      else reject(new RuleError('template-stale', `height ${block.header.height} was decided for another block`))
    }
  }

  /** Nobody will propose them any more. */
  abandon(): void {
    for (const { reject } of this.#offers.splice(0)) reject(new RuleError('busy', 'the node is stopping'))
  }
}

/** Whether the time of a block on top of the tip may be proposed now: not too far ahead of the clock, or the parent's. */
export function isTimely({ time }: Header, { spec, tip }: Chain, clock: Clock): boolean {
  return time * 1000 <= Math.max(clock.now() + spec.timing.maxDrift, tip.header.time * 1000)
}
