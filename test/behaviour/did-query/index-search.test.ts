import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileCondition } from '../../../src/did-query/compile.js'
import type { Members } from '../../../src/did-query/member-path.js'
import { payloadText } from '../../../src/did/build.js'
import { DocumentSearch, readQuery } from '../../../src/resolver/document-search.js'
import { Database } from '../../../src/storage/database.js'
import { keys, type TipRow, values } from '../../../src/storage/schema.js'
import { heldIndexRows } from '../../support/assert/index-rows.js'
import { memoryStore } from '../../support/builders/chain.js'
import { searchableCast } from '../../support/builders/did-cast.js'
import { type Deed, DidRows } from '../../support/builders/did-rows.js'
import { conditionsOf } from '../../support/builders/query-arbitraries.js'
import { SeededRandom } from '../../support/builders/seeded-random.js'
import { rounds } from '../../support/process/thorough.js'

/** The documents of all DIDs in the order of creation, by the operations of the blocks alone. */
function documentsOf({ blocks }: DidRows): string[] {
  const dids = new Map<number, string | undefined>()
  for (const { who, kind, document } of blocks.flatMap(({ done }) => done)) {
    dids.set(who, kind === 'deactivate' ? undefined : payloadText(document))
  }
  return [...dids.values()].filter((text) => text !== undefined)
}

/** A DID of the documents in the place of one of those that conditions name. */
function withDidsOf(condition: Members, { cast }: DidRows): Members {
  let text = JSON.stringify(condition)
  ;['iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', 'iUzmqPuHDSMgVJhmqbZNCBFEbhVWQ4mPAR'].forEach((identifier, i) => {
    text = text.replaceAll(`did:ledger:${identifier}`, cast.holders[i]?.did as string)
  })
  return JSON.parse(text) as Members
}

const tips = 5
const conditionsPerTip = 200
const holders = 30
const seeds = Array.from({ length: rounds(10, 50) }, (_, i) => i + 1)

/** A chain of DIDs that grows and reorganises at random, and searches of its database. */
class SearchedRows {
  readonly search: DocumentSearch
  matching = 0
  #tips = 0

  private constructor(
    readonly rows: DidRows,
    readonly random: SeededRandom,
    readonly seed: number,
  ) {
    this.search = new DocumentSearch(rows.database)
  }

  static async open(seed: number): Promise<SearchedRows> {
    const random = new SeededRandom(seed)
    const database = await Database.over(memoryStore())
    return new SearchedRows(new DidRows(database, searchableCast(random, { holders, documents: 3 })), random, seed)
  }

  async connect(count: number): Promise<void> {
    const { random } = this
    const deeds = Array.from({ length: count }, (): Deed => {
      return { who: random.below(holders), which: random.below(3), end: random.below(10) === 0 }
    })
    await this.rows.connect(deeds)
    await this.#commit()
  }

  /** Leaves some blocks for a longer branch; the index is meanwhile what it was before them. */
  async reorganise(): Promise<void> {
    const before = await heldIndexRows(this.rows.database)
    const blocks = 1 + this.random.below(3)
    for (let i = 0; i < blocks; i++) await this.connect(10)
    for (let i = 0; i < blocks; i++) await this.rows.disconnect()
    await this.#commit()
    expect(await heldIndexRows(this.rows.database)).toEqual(before)
    for (let i = 0; i <= blocks; i++) await this.connect(10)
  }

  async #commit(): Promise<void> {
    this.rows.overlay.put(keys.meta('tip'), values.tip.encode(this.#nextTip()))
    await this.rows.commit()
  }

  #nextTip(): TipRow {
    return { hash: Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? ++this.#tips : this.seed)), height: this.#tips }
  }

  /** Compares pages of searches with what reading every document gives. */
  async check(conditions: readonly Members[]): Promise<void> {
    const documents = documentsOf(this.rows).map((text) => ({ text, members: JSON.parse(text) as Members }))
    for (const condition of conditions) {
      const { matches } = compileCondition(condition)
      const expected = documents.filter(({ members }) => matches(members)).map(({ text }) => text)
      this.matching += expected.length
      // One page or two: cold, and from what is then known of the condition; also beyond the end.
      for (let pages = 1 + this.random.below(2); pages > 0; pages--) await this.#checkPage(condition, expected)
    }
  }

  async #checkPage(condition: Members, expected: readonly string[]): Promise<void> {
    const [skip, limit] = [this.random.below(expected.length + 3), this.random.below(6)]
    const { total, start, count, texts } = await this.search.find(readQuery({ query: condition, skip, limit }))
    expect({ total, start, count, texts }, JSON.stringify(condition)).toEqual({
      total: expected.length,
      start: expected.length === 0 ? 0 : skip,
      count: Math.max(0, Math.min(limit, expected.length - skip)),
      texts: expected.slice(skip, skip + limit),
    })
  }
}

describe('the search by the index', () => {
  it.each(seeds)('gives byte for byte what reading every document gives: seed %i', async (seed) => {
    const chain = await SearchedRows.open(seed)
    const conditions = fc
      .sample(conditionsOf(seed % 4), { seed, numRuns: tips * conditionsPerTip })
      .map((condition) => withDidsOf(condition, chain.rows))
    await chain.connect(50)
    for (let tip = 0; tip < tips; tip++) {
      if (tip > 0 && chain.random.below(2) === 0) await chain.reorganise()
      else await chain.connect(20)
      await chain.check(conditions.slice(tip * conditionsPerTip, (tip + 1) * conditionsPerTip))
    }
    expect(chain.matching).toBeGreaterThan(100)
    await chain.search.close()
  })
})
