import { equalBytes } from '../../base/primitives/bytes.js'

/** @tuning count: conditions whose number of matches is kept until the tip changes */
const conditionsAtMost = 1024
/** @tuning count: pages of a condition whose beginning is kept */
const positionsAtMost = 32

/** A known position in the matches: `skip` of them lie before `ordinal`, from which the search continues. */
export interface Position {
  readonly skip: number
  readonly ordinal: number
}

const beginning: Position = { skip: 0, ordinal: 0 }

/** Results kept for the matches of a condition at one tip. */
export class KnownMatches {
  /** Their number; undefined until they were counted. */
  total: number | undefined
  readonly #positions = new Map<number, number>()

  /** The last known beginning of a page that is not behind `skip` matches. */
  before(skip: number): Position {
    let best = beginning
    for (const [known, ordinal] of this.#positions) {
      if (known <= skip && known > best.skip) best = { skip: known, ordinal }
    }
    return best
  }

  note({ skip, ordinal }: Position): void {
    this.#positions.delete(skip)
    this.#positions.set(skip, ordinal)
    if (this.#positions.size <= positionsAtMost) return
    const [oldest] = this.#positions.keys()
    this.#positions.delete(oldest as number)
  }
}

/** Matches of conditions at the tip that was searched last; another tip empties it. The least recently used go first. */
export class SearchCache {
  #tip: Uint8Array | undefined
  readonly #known = new Map<string, KnownMatches>()

  /** Known matches of a condition, by its digest, at a tip. */
  at(tip: Uint8Array, condition: string): KnownMatches {
    if (this.#tip === undefined || !equalBytes(tip, this.#tip)) {
      this.#known.clear()
      this.#tip = Uint8Array.from(tip)
    }
    const known = this.#known.get(condition) ?? new KnownMatches()
    this.#known.delete(condition)
    this.#known.set(condition, known)
    if (this.#known.size > conditionsAtMost) {
      const [oldest] = this.#known.keys()
      this.#known.delete(oldest as string)
    }
    return known
  }
}
