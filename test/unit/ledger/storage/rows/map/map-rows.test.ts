import { describe, expect, it, vi } from 'vitest'
import { toHex } from '../../../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../../../src/base/primitives/hash.js'
import { finish, type Steps } from '../../../../../../src/base/primitives/steps.js'
import { Database } from '../../../../../../src/ledger/storage/database.js'
import {
  changeMapSteps,
  inKeyOrder,
  type LeafChange,
} from '../../../../../../src/ledger/storage/rows/map/change-map.js'
import {
  type MapKeeping,
  MapMemory,
  mapChangeOf,
  provedFrom,
  putMapBack,
  putMapChange,
  putMapComplete,
  storedMapRoot,
} from '../../../../../../src/ledger/storage/rows/map/map-rows.js'
import { Overlay } from '../../../../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../../../../src/ledger/storage/rows/tables.js'
import { memoryStore } from '../../../../../support/builders/chain.js'
import { memoryPages } from '../../../../../support/builders/map-pages.js'

const info = { kind: 'pool', height: 0, hash: sha256('block') } as const

/** Leaves from one number to below another; without values every third is taken out. */
function leavesOf(from: number, to: number, value: string | undefined): LeafChange[] {
  const numbers = Array.from({ length: to - from }, (_, i) => from + i)
  return inKeyOrder(
    numbers.map((n) => ({
      key: sha256(`leaf ${n}`),
      value: value === undefined && n % 3 === 0 ? undefined : sha256(`${value} ${n}`),
    })),
  )
}

function* noLeaves(): Steps<LeafChange[]> {
  return []
}

async function write(database: Database, stage: (overlay: Overlay) => Promise<unknown> | void): Promise<void> {
  const overlay = new Overlay(database)
  await stage(overlay)
  await overlay.commit(info, { sync: false })
}

/** The pages in a database, as {@link pagesOf} gives them. */
async function pagesIn(database: Database): Promise<Map<string, string>> {
  const rows = await database.rows(tables.mapPage.range())
  return new Map(rows.map(([key, row]) => [toHex(key), toHex(row)]))
}

/** The pages that blocks of leaves make, one after the other. */
function pagesOf(...blocks: readonly (readonly LeafChange[])[]): Map<string, string> {
  const pages = memoryPages()
  for (const leaves of blocks) finish(changeMapSteps(pages, leaves))
  return new Map([...pages.rows].map(([key, row]) => [Buffer.from(key, 'latin1').toString('hex'), toHex(row)] as const))
}

describe('the rows of the map', () => {
  it('are those of its leaves through changes, undo and other changes, with one memory of pages', async () => {
    const database = await Database.over(memoryStore())
    const memory = new MapMemory()
    await write(database, (overlay) => putMapComplete(overlay, 0))
    const change = (height: number, leaves: readonly LeafChange[]) =>
      write(database, async (overlay) => {
        await putMapChange(overlay, height, await mapChangeOf(overlay, leaves, memory), { knownHeight: height })
      })
    const [first, second, third] = [leavesOf(0, 3000, 'a'), leavesOf(1500, 4500, undefined), leavesOf(2000, 5000, 'b')]
    await change(1, first)
    expect(await pagesIn(database)).toEqual(pagesOf(first))
    await change(2, second)
    expect(await pagesIn(database)).toEqual(pagesOf(first, second))
    await write(database, (overlay) => putMapBack(overlay, 2, noLeaves))
    expect(await pagesIn(database)).toEqual(pagesOf(first))
    await change(2, third)
    expect(await pagesIn(database)).toEqual(pagesOf(first, third))
  })

  describe('of states of before', () => {
    const held = 288
    async function blocks() {
      const database = await Database.over(memoryStore())
      const memory = new MapMemory()
      await write(database, (overlay) => putMapComplete(overlay, 0))
      let tip = 0
      const add = async (count: number, keeping: Partial<MapKeeping> = {}) => {
        for (const end = tip + count; tip < end;) {
          const height = ++tip
          await write(database, async (overlay) => {
            const change = await mapChangeOf(overlay, leavesOf(height, height + 2, 'a'), memory)
            await putMapChange(overlay, height, change, { knownHeight: height, ...keeping })
          })
        }
      }
      const heights = async () => {
        const rows = await database.rows(tables.mapPageBefore.range())
        return [...new Set(rows.map(([key]) => key.readUInt32BE(key.length - 4)))].sort((a, b) => a - b)
      }
      const back = async () => {
        await write(database, (overlay) => putMapBack(overlay, tip, noLeaves))
        tip--
      }
      return { database, add, back, heights, lowest: async () => (await heights())[0] }
    }

    it('go some at a time once they are not kept for ever any more', async () => {
      const { database, add, heights, lowest } = await blocks()
      await add(500, { archive: true })
      expect([await lowest(), provedFrom(database)]).toEqual([1, 0])
      await add(1)
      expect([await lowest(), provedFrom(database)]).toEqual([65, 64])
      await add(1)
      expect([await lowest(), provedFrom(database)]).toEqual([129, 128])
      await add(2)
      expect([await lowest(), (await heights()).length, provedFrom(database)]).toEqual([
        504 - held + 1,
        held,
        504 - held,
      ])
    })

    it('go too where a sync passes over them', async () => {
      const { database, add, heights, lowest } = await blocks()
      await add(400)
      expect(await lowest()).toBe(400 - held + 1)
      await add(400, { knownHeight: 5000 })
      expect(await lowest()).toBeUndefined()
      await add(held + 5)
      expect([await lowest(), (await heights()).length, provedFrom(database)]).toEqual([806, held, 805])
    })

    it('are there again above blocks that were taken back', async () => {
      const { database, add, back, lowest } = await blocks()
      await add(300)
      for (let i = 0; i < held; i++) await back()
      expect([await lowest(), provedFrom(database)]).toEqual([undefined, 12])
      await add(held)
      expect([await lowest(), provedFrom(database)]).toEqual([13, 12])
    })
  })

  it('are read in portions, upper pages that are in memory not at all', async () => {
    const database = await Database.over(memoryStore())
    const build = async (height: number, leaves: readonly LeafChange[], memory: MapMemory) => {
      const overlay = new Overlay(database)
      const reads = vi.spyOn(overlay, 'getMany')
      const change = await mapChangeOf(overlay, leaves, memory)
      await putMapChange(overlay, height, change, { knownHeight: height })
      await overlay.commit(info, { sync: false })
      expect(toHex(storedMapRoot(database))).toBe(toHex(change.root))
      return reads.mock.calls.map(([wanted]) => wanted)
    }
    const memory = new MapMemory()
    await build(1, leavesOf(0, 5000, 'a'), memory)
    const cold = await build(2, leavesOf(0, 5000, 'b'), new MapMemory())
    expect(cold.flat().length).toBeGreaterThan(1000)
    expect(Math.max(...cold.map(({ length }) => length))).toBe(256)
    // The memory knows the pages of before block 2, and block 3 brings these back.
    await build(3, leavesOf(0, 5000, 'a'), new MapMemory())
    const warm = (await build(4, leavesOf(0, 5000, 'c'), memory)).flat()
    expect(warm.filter((key) => (key[1] as number) > 0 && (key[1] as number) <= 12)).toEqual([])
  })
})
