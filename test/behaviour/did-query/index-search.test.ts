import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileCondition } from '../../../src/did-query/compile.js'
import type { Members } from '../../../src/did-query/member-path.js'
import { payloadText } from '../../../src/did/build.js'
import { DocumentSearch, readQuery } from '../../../src/resolver/document-search.js'
import { Database } from '../../../src/storage/database.js'
import { keys, values } from '../../../src/storage/schema.js'
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

const conditionsPerTip = 40
const seeds = Array.from({ length: rounds(10, 50) }, (_, i) => i + 1)

describe('the search by the index', () => {
  it.each(seeds)('gives byte for byte what reading every document gives: seed %i', async (seed) => {
    const random = new SeededRandom(seed)
    const rows = new DidRows(await Database.over(memoryStore()), searchableCast(random, { holders: 40, documents: 3 }))
    const search = new DocumentSearch(rows.database)
    const conditions = fc.sample(conditionsOf(1), { seed, numRuns: 200 })
    const deeds = (count: number): Deed[] =>
      Array.from({ length: count }, () => {
        return { who: random.below(40), which: random.below(3), end: random.below(10) === 0 }
      })
    await rows.connect(deeds(60))
    let matching = 0
    for (let tip = 0; tip < 5; tip++) {
      if (tip > 0 && random.below(3) === 0) await rows.disconnect()
      else await rows.connect(deeds(20))
      const hash = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? tip : seed))
      rows.overlay.put(keys.meta('tip'), values.tip.encode({ hash, height: tip }))
      await rows.commit()
      const texts = documentsOf(rows)
      for (let i = 0; i < conditionsPerTip; i++) {
        const condition = withDidsOf(conditions[(tip * conditionsPerTip + i) % conditions.length] as Members, rows)
        const { matches } = compileCondition(condition)
        const expected = texts.filter((text) => matches(JSON.parse(text) as Members))
        matching += expected.length
        // Pages forwards, backwards and beyond the end, cold and from what is known of the condition.
        for (let page = 0; page < 4; page++) {
          const [skip, limit] = [random.below(expected.length + 3), random.below(6)]
          const found = await search.find(readQuery({ query: condition, skip, limit }))
          expect(found).toEqual({
            total: expected.length,
            start: expected.length === 0 ? 0 : skip,
            count: Math.max(0, Math.min(limit, expected.length - skip)),
            texts: expected.slice(skip, skip + limit),
            tip: { hash: Buffer.from(hash), height: tip },
          })
        }
      }
    }
    expect(matching).toBeGreaterThan(100)
    await search.close()
  })
})
