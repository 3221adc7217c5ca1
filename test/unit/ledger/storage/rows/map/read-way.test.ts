import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../../../src/base/primitives/hash.js'
import { mapRootOf } from '../../../../../../src/identity/proofs/map-proof.js'
import { Database } from '../../../../../../src/ledger/storage/database.js'
import type { FrozenRows } from '../../../../../../src/ledger/storage/stored-rows.js'
import { inKeyOrder } from '../../../../../../src/ledger/storage/rows/map/change-map.js'
import {
  MapMemory,
  mapChangeOf,
  provedFrom,
  provedHeights,
  putMapChange,
  putMapComplete,
} from '../../../../../../src/ledger/storage/rows/map/map-rows.js'
import { pagesAfter, readWay } from '../../../../../../src/ledger/storage/rows/map/read-way.js'
import { Overlay } from '../../../../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../../../../src/ledger/storage/rows/tables.js'
import { memoryStore } from '../../../../../support/builders/chain.js'
import { random } from '../../../../../support/builders/random-chain.js'

const info = { kind: 'pool', height: 0, hash: sha256('block') } as const
const asked = Array.from({ length: 40 }, (_, i) => sha256(`key ${i}`))

/** A map that blocks change one after the other. */
class Blocks {
  readonly database: Database
  /** Map roots by height. */
  readonly roots: string[] = []
  readonly memory = new MapMemory()
  readonly #roll = random(1)

  constructor(database: Database) {
    this.database = database
  }

  static async open(): Promise<Blocks> {
    const blocks = new Blocks(await Database.over(memoryStore()))
    await blocks.#commit(async (overlay) => putMapComplete(overlay, 0))
    blocks.roots.push('00'.repeat(32))
    return blocks
  }

  /** Puts leaves into the map, and takes some out. */
  async mine(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const height = this.roots.length
      await this.#commit(async (overlay) => {
        const changed = asked.filter(() => this.#roll(6) === 0)
        const leaves = changed.map((key) => ({ key, value: this.#roll(4) === 0 ? undefined : sha256(`${height}`) }))
        const change = await mapChangeOf(overlay, inKeyOrder(leaves), this.memory)
        await putMapChange(overlay, height, change, { knownHeight: height })
        this.roots.push(toHex(change.root))
      })
    }
  }

  async #commit(stage: (overlay: Overlay) => Promise<void>): Promise<void> {
    const overlay = new Overlay(this.database)
    await stage(overlay)
    await overlay.commit(info, { sync: false })
  }

  /** The roots to which the ways of all keys lead after a block, all read at once. */
  async provedIn(rows: FrozenRows, height: number): Promise<Set<string>> {
    const ways = asked.map(async (key) => {
      const { siblings, end } = await readWay(pagesAfter(rows, height, this.memory.pages), key)
      return toHex(mapRootOf({ siblings, ...(end && { leaf: end }) }, key))
    })
    return new Set(await Promise.all(ways))
  }
}

describe('ways through the map', () => {
  it('lead to the root of each height, many at a time, from one memory of pages', async () => {
    const blocks = await Blocks.open()
    await blocks.mine(30)
    const rows = blocks.database.freeze()
    for (const height of [30, 3, 29, 30, 0, 15, 16, 30, 1]) {
      expect(await blocks.provedIn(rows, height)).toEqual(new Set([blocks.roots[height]]))
    }
    rows.close()
  })

  it('are of one state, whatever later blocks write and drop', async () => {
    const blocks = await Blocks.open()
    await blocks.mine(10)
    const rows = blocks.database.freeze()
    expect(await blocks.provedIn(rows, 5)).toEqual(new Set([blocks.roots[5]]))
    await blocks.mine(provedHeights)
    expect(provedFrom(blocks.database)).toBe(10)
    for (const height of [0, 5, 10]) {
      expect(await blocks.provedIn(rows, height)).toEqual(new Set([blocks.roots[height]]))
    }
    rows.close()
    const later = blocks.database.freeze()
    for (const height of [10, 11, 10 + provedHeights]) {
      expect(await blocks.provedIn(later, height)).toEqual(new Set([blocks.roots[height]]))
    }
    later.close()
  })

  it('end with a damage where a page is missing', async () => {
    const blocks = await Blocks.open()
    await blocks.mine(5)
    const overlay = new Overlay(blocks.database)
    for (const key of asked) overlay.del(tables.mapPage.key({ depth: 4, key }))
    await overlay.commit(info, { sync: false })
    const rows = blocks.database.freeze()
    const ways = asked.map((key) => readWay(pagesAfter(rows, 5), key))
    const failed = (await Promise.allSettled(ways)).filter(({ status }) => status === 'rejected')
    expect(failed[0]).toMatchObject({ reason: { message: expect.stringMatching(/a page .* at depth 4 is missing/) } })
    const changed = inKeyOrder(asked.map((key) => ({ key, value: sha256('new') })))
    await expect(mapChangeOf(new Overlay(blocks.database), changed)).rejects.toThrow(/a page .* at depth 4 is missing/)
    rows.close()
  })
})
