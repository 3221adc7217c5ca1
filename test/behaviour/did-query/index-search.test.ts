import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chunkOrdinals } from '../../../src/identity/did-index/posting-chunk.js'
import { compileCondition } from '../../../src/identity/did-query/compile.js'
import type { Members } from '../../../src/identity/did-query/member-path.js'
import { payloadText } from '../../support/builders/payload-text.js'
import { DocumentSearch, readQuery } from '../../../src/answers/resolver/document-search.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { meta, type TipRow } from '../../../src/ledger/storage/rows/tables.js'
import { heldIndexRows } from '../../support/assert/index-rows.js'
import { memoryStore } from '../../support/builders/chain.js'
import { castDates, castTypes, searchableCast } from '../../support/builders/did-cast.js'
import { type Deed, DidRows } from '../../support/builders/did-rows.js'
import { conditionsOf, withDids } from '../../support/builders/query-arbitraries.js'
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

const didsOf = ({ cast }: DidRows) => cast.holders.map(({ did }) => did)

const tips = 5
const conditionsPerTip = rounds(100, 200)
const seeds = Array.from({ length: rounds(3, 50) }, (_, i) => i + 1)

/** A chain of DIDs that grows and reorganises at random, and searches of its database. */
class SearchedRows {
  readonly search: DocumentSearch
  matching = 0
  /** Conditions that matched more documents than one chunk of the index has. */
  wide = 0
  #tips = 0

  private constructor(
    readonly rows: DidRows,
    readonly random: SeededRandom,
    readonly seed: number,
  ) {
    this.search = new DocumentSearch(rows.database)
  }

  static async open(seed: number, sizes = { holders: 30, documents: 3 }): Promise<SearchedRows> {
    const random = new SeededRandom(seed)
    const database = await Database.over(memoryStore())
    return new SearchedRows(new DidRows(database, searchableCast(random, sizes)), random, seed)
  }

  async connect(count: number): Promise<void> {
    const { random } = this
    const { holders, documents } = this.rows.cast
    const deeds = Array.from({ length: count }, (): Deed => {
      const which = random.below(documents[0]?.length ?? 0)
      return { who: random.below(holders.length), which, end: random.below(10) === 0 }
    })
    await this.rows.connect(deeds)
    await this.#commit()
  }

  /** Creates all DIDs in blocks of many: first those whose issuers exist by then, then the others. */
  async connectAll(): Promise<void> {
    const all = this.rows.cast.holders.map((_, who): Deed => ({ who, which: 0, end: false }))
    for (let from = 0; from < all.length; from += 150) await this.rows.connect(all.slice(from, from + 150))
    const made = new Set(this.rows.blocks.flatMap(({ done }) => done.map(({ who }) => who)))
    await this.rows.connect(all.filter(({ who }) => !made.has(who)))
    await this.#commit()
  }

  /** Leaves some blocks for a longer branch; the index is meanwhile what it was before them. */
  async reorganise(deeds = 10): Promise<void> {
    const before = await heldIndexRows(this.rows.database)
    const blocks = 1 + this.random.below(3)
    for (let i = 0; i < blocks; i++) await this.connect(deeds)
    for (let i = 0; i < blocks; i++) await this.rows.disconnect()
    await this.#commit()
    expect(await heldIndexRows(this.rows.database)).toEqual(before)
    for (let i = 0; i <= blocks; i++) await this.connect(deeds)
  }

  async #commit(): Promise<void> {
    this.rows.overlay.put(meta.tip.key, meta.tip.encode(this.#nextTip()))
    await this.rows.commit()
  }

  #nextTip(): TipRow {
    return { hash: Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? ++this.#tips : this.seed)), height: this.#tips }
  }

  /** Conditions with what reading every document gives for them. */
  *#scanned(conditions: readonly Members[]): Generator<readonly [condition: Members, expected: readonly string[]]> {
    const documents = documentsOf(this.rows).map((text) => ({ text, members: JSON.parse(text) as Members }))
    for (const condition of conditions) {
      const { matches } = compileCondition(condition)
      const expected = documents.filter(({ members }) => matches(members)).map(({ text }) => text)
      this.matching += expected.length
      yield [condition, expected]
    }
  }

  /** Compares pages of searches with what reading every document gives. */
  async check(conditions: readonly Members[]): Promise<void> {
    for (const [condition, expected] of this.#scanned(conditions)) {
      // One page or two: cold, and from what is then known of the condition; also beyond the end.
      for (let pages = 1 + this.random.below(2); pages > 0; pages--) await this.#checkPage(condition, expected)
    }
  }

  /** Compares whole answers, and all pages of one size joined, with what reading every document gives. */
  async checkWhole(conditions: readonly Members[]): Promise<void> {
    for (const [condition, expected] of this.#scanned(conditions)) {
      const ofSize = async (limit: number) => {
        const joined: string[] = []
        do {
          const { total, texts } = await this.search.find(readQuery({ query: condition, skip: joined.length, limit }))
          expect([total, texts.length]).toEqual([expected.length, Math.min(limit, expected.length - joined.length)])
          joined.push(...texts)
        } while (joined.length < expected.length)
        return joined
      }
      const pages = [200 + this.random.below(200), 1000]
      if (expected.length < 100 || this.random.below(4) === 0) pages.unshift(1 + this.random.below(50))
      for (const limit of pages) expect(await ofSize(limit), JSON.stringify(condition)).toEqual(expected)
      if (expected.length > chunkOrdinals) this.wide++
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
      .map((condition) => withDids(condition, didsOf(chain.rows)))
    await chain.connect(50)
    for (let tip = 0; tip < tips; tip++) {
      if (tip > 0 && chain.random.below(2) === 0) await chain.reorganise()
      else await chain.connect(20)
      await chain.check(conditions.slice(tip * conditionsPerTip, (tip + 1) * conditionsPerTip))
    }
    expect(chain.matching).toBeGreaterThan(100)
    await chain.search.close()
  })

  it('does so across chunks of ordinals, and pages joined are the whole', async () => {
    const seed = 90
    const chain = await SearchedRows.open(seed, { holders: 600, documents: 2 })
    const random = fc
      .sample(conditionsOf(0), { seed, numRuns: rounds(10, 40) })
      .map((condition) => withDids(condition, didsOf(chain.rows)))
    const conditions = [
      ...castTypes.map((type) => ({ 'service.type': type })),
      ...castTypes.map((type) => ({ 'verifiableCredential.type': type })),
      ...castDates.map((date) => ({ expires: date })),
      ...chain.rows.cast.holders
        .filter((_, i) => i % 140 === 0)
        .map(({ did }) => ({ 'verifiableCredential.issuer': did })),
      { service: { $elemMatch: { type: 'Hub', a: 'x' } } },
      { $and: [{ 'service.type': 'Hub' }, { 'verifiableCredential.type': { $in: ['Membership', 'Hub'] } }] },
      { $or: [{ 'service.type': 'Mailbox' }, { 'verifiableCredential.type': 'Mailbox' }] },
      { 'service.type': { $ne: 'Hub' } },
      {},
      ...random,
    ]
    await chain.connectAll()
    expect(documentsOf(chain.rows).length).toBeGreaterThan(2 * chunkOrdinals)
    await chain.checkWhole(conditions)
    await chain.connect(150)
    await chain.reorganise(60)
    expect(documentsOf(chain.rows).length).toBeGreaterThan(2 * chunkOrdinals)
    await chain.checkWhole(conditions)
    expect(chain.wide).toBeGreaterThan(10)
    await chain.search.close()
  })
})
