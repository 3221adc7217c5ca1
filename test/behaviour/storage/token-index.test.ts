import { describe, expect, it } from 'vitest'
import { payloadText } from '../../support/builders/payload-text.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { changesOf } from '../../../src/ledger/storage/write/row-changes.js'
import { type Location, rangeOf, tables } from '../../../src/ledger/storage/rows/tables.js'
import { indexUndoFrom, indexUndoHeights, nextOrdinal } from '../../../src/ledger/storage/rows/token-index.js'
import { memoryStore, TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { searchableCast } from '../../support/builders/did-cast.js'
import { type Deed, DidRows } from '../../support/builders/did-rows.js'
import { SeededRandom } from '../../support/builders/seeded-random.js'
import { heldIndexRows, indexRowsOf } from '../../support/assert/index-rows.js'
import { faultOf } from '../../support/assert/row-invariants.js'
import { rounds } from '../../support/process/thorough.js'

/** The index by the operations of the blocks alone. */
function expected({ blocks }: DidRows) {
  const dids = new Map<number, { create: Location; text: string | undefined }>()
  blocks.forEach(({ done }, height) =>
    done.forEach(({ who, kind, document }, i) => {
      const create = dids.get(who)?.create ?? { height, index: i + 1 }
      dids.set(who, { create, text: kind === 'deactivate' ? undefined : payloadText(document) })
    }),
  )
  return indexRowsOf([...dids.values()])
}

const undoRows = async ({ database }: DidRows) => database.rows(tables.indexUndo.range())

describe('the index', () => {
  const seeds = Array.from({ length: rounds(3, 120) }, (_, i) => i + 1)

  it.each(seeds)('follows from the documents, whatever is connected and taken back: seed %i', async (seed) => {
    const random = new SeededRandom(seed)
    const cast = searchableCast(random, { holders: 12, documents: 3 })
    const rows = new DidRows(await Database.over(memoryStore()), cast)
    const deeds = (): Deed[] =>
      Array.from({ length: random.below(12) }, () => {
        return { who: random.below(12), which: random.below(3), end: random.below(8) === 0 }
      })
    for (let step = 0; step < 30; step++) {
      const what = random.below(10)
      if (what < 5) await rows.connect(deeds())
      else if (what < 8) await rows.disconnect()
      else await rows.commit()
      // A block without its row is taken back by its documents.
      if (rows.blocks.length > 0 && random.below(4) === 0)
        rows.overlay.del(tables.indexUndo.key(rows.blocks.length - 1))
      if (random.below(3) > 0) continue
      await rows.commit()
      expect(await heldIndexRows(rows.database)).toEqual(expected(rows))
    }
    while (rows.blocks.length > 0) await rows.disconnect()
    await rows.commit()
    expect(await heldIndexRows(rows.database)).toEqual({})
    expect(await undoRows(rows)).toEqual([])
  })

  it('numbers DIDs in the order of creation, and none twice', async () => {
    const cast = searchableCast(new SeededRandom(1), { holders: 6, documents: 1 })
    const rows = new DidRows(await Database.over(memoryStore()), cast)
    const deed = (who: number, end = false): Deed => ({ who, which: 0, end })
    await rows.connect([deed(3), deed(1)])
    await rows.connect([deed(3, true), deed(4)])
    await rows.commit()
    const creates = (await rows.database.rows(tables.ordinal.range())).map(([, value]) => tables.location.decode(value))
    expect(creates.length).toBeGreaterThan(0)
    expect(creates).toEqual([...creates].sort((a, b) => a.height - b.height || a.index - b.index))
    expect(nextOrdinal(rows.database)).toBe(creates.length)
  })

  it.each([0, 1, 2, 3, 7, 8, 9, 1000])('finds the end of %i ordinals', (count) => {
    const get = (key: Buffer) => (key.readUInt32BE(1) < count ? Uint8Array.of() : undefined)
    expect(nextOrdinal({ get })).toBe(count)
  })

  it('keeps the rows that take it back for 288 blocks', async () => {
    const cast = searchableCast(new SeededRandom(3), { holders: 2, documents: 2 })
    const rows = new DidRows(await Database.over(memoryStore()), cast)
    for (let height = 0; height < indexUndoHeights + 5; height++) {
      await rows.connect([{ who: 0, which: height % 2, end: false }])
    }
    await rows.commit()
    const heights = (await undoRows(rows)).map(([key]) => key.readUInt32BE(1))
    expect([heights.length, heights[0], heights.at(-1)]).toEqual([indexUndoHeights, 5, indexUndoHeights + 4])
    // Whatever is taken back and connected: of the blocks that need their row, none lacks it.
    for (const blocks of [-1, -10, 4, -2, 7, -indexUndoHeights, 3]) {
      for (let i = 0; i > blocks; i--) await rows.disconnect()
      for (let i = 0; i < blocks; i++) await rows.connect([{ who: 0, which: rows.blocks.length % 2, end: false }])
      await rows.commit()
      const held = new Set((await undoRows(rows)).map(([key]) => key.readUInt32BE(1)))
      const from = indexUndoFrom(rows.database)
      const needed = rows.blocks.map((_, height) => height).filter((height) => height >= from)
      expect(needed.slice(-indexUndoHeights).filter((height) => !held.has(height))).toEqual([])
    }
    // Of six blocks the last three were connected after all rows had been used or dropped.
    expect([rows.blocks.length, indexUndoFrom(rows.database)]).toEqual([6, 3])
    while (rows.blocks.length > 0) await rows.disconnect()
    await rows.commit()
    expect(await heldIndexRows(rows.database)).toEqual({})
  })
})

describe('a chain', () => {
  it('has the index of its tip through blocks, runs of blocks and blocks taken back', async () => {
    const test = await TestChain.open()
    const [ada, bob] = [holder(), holder()]
    const hub = { id: '#hub', type: 'Hub', serviceEndpoint: 'https://hub.example' }
    const created = await test.publish(ada.create({ services: [hub] }), ada.did)
    await test.publish(bob.create(), bob.did)
    await test.mine()
    await test.publish(ada.update(created), ada.did)
    await test.publish(bob.deactivate(), bob.did)
    expect(await faultOf(test)).toBe(undefined)
    expect((await test.database.rows(tables.indexUndo.range())).length).toBe(4)
  })

  it.each([
    ['postings', tables.posting.number],
    ['numbers of documents', tables.tokenCount.number],
    ['ordinals', tables.ordinal.number],
    ['rows that take the index back', tables.indexUndo.number],
  ])('is found wrong by its verification where %s are', async (_, number) => {
    const test = await TestChain.open()
    const ada = holder()
    await test.publish(ada.create(), ada.did)
    const [row] = await test.database.rows(rangeOf(number), { limit: 1 })
    const [key, value] = row as [Buffer, Buffer]
    const changes = new Map([['row', { key, value: Buffer.concat([value, Buffer.of(0)]) }]])
    await test.database.commit(changesOf(changes), { kind: 'block', ...test.chain.tip.header }, { sync: false })
    expect(await faultOf(test)).toBe(`the rows of table ${number.toString(16)} are wrong`)
  })

  it('is found wrong by its verification where a row that takes the index back is missing', async () => {
    const test = await TestChain.open()
    const [ada, bob] = [holder(), holder()]
    await test.publish(ada.create(), ada.did)
    await test.publish(bob.create(), bob.did)
    for (const [key] of await test.database.rows(tables.indexUndo.range())) {
      const before = test.database.get(key) as Buffer
      const put = (value: Buffer | undefined) =>
        test.database.commit(
          changesOf(new Map([['row', { key, value }]])),
          { kind: 'block', ...test.chain.tip.header },
          { sync: false },
        )
      await put(undefined)
      expect(await faultOf(test)).toBe('the rows of table 19 are wrong')
      await put(before)
    }
    expect(await faultOf(test)).toBe(undefined)
  })

  it('leaves no rows to take the index back for blocks far below those that are known to follow', async () => {
    const source = await TestChain.open()
    const ada = holder()
    await source.publish(ada.create(), ada.did)
    const body = await source.reader.block(source.chain.tip)
    for (const [following, count] of [
      [indexUndoHeights, 0],
      [indexUndoHeights - 1, 1],
    ] as const) {
      const test = await TestChain.open()
      await test.chain.acceptBlocks([{ block: body?.bytes as Uint8Array }], { following })
      expect((await test.database.rows(tables.indexUndo.range())).length).toBe(count)
      expect(await faultOf(test)).toBe(undefined)
    }
  })
})
