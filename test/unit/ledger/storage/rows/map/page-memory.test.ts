import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../../../../src/base/primitives/hash.js'
import { emptyPage, type MapPage, topNode } from '../../../../../../src/ledger/storage/rows/map/map-page.js'
import { PageMemory } from '../../../../../../src/ledger/storage/rows/map/page-memory.js'
import { tables } from '../../../../../../src/ledger/storage/rows/tables.js'

const upper = tables.mapPage.key({ depth: 12, key: sha256('place') })
const lower = tables.mapPage.key({ depth: 16, key: sha256('place') })

/** The page of a state with a number. */
function pageOf(number: number): MapPage {
  return emptyPage.with([0, 1].map((index) => ({ index, slot: { hash: sha256(`${number} ${index}`) } })))
}

const held = (memory: PageMemory, number: number) => memory.find(upper, pageOf(number).hash(topNode))?.row

describe('the memory of pages', () => {
  it('finds a page by its hash, and keeps the three versions that were used last', () => {
    const memory = new PageMemory()
    for (const number of [1, 2, 3]) memory.keep(upper, pageOf(number))
    // Version 2 is now the one that was asked for the longest time ago.
    expect([2, 1, 3].map((number) => held(memory, number))).toEqual([2, 1, 3].map((number) => pageOf(number).row))
    memory.keep(upper, pageOf(4))
    expect(held(memory, 2)).toBeUndefined()
    expect([1, 3, 4].map((number) => held(memory, number))).toEqual([1, 3, 4].map((number) => pageOf(number).row))
    memory.keep(upper, pageOf(1))
    expect(held(memory, 3)).toEqual(pageOf(3).row)
    expect(
      memory.find(tables.mapPage.key({ depth: 12, key: sha256('other') }), pageOf(1).hash(topNode)),
    ).toBeUndefined()
  })

  it('keeps upper pages alone, in memory of their own', () => {
    const memory = new PageMemory()
    memory.keep(lower, pageOf(1))
    expect(memory.find(lower, pageOf(1).hash(topNode))).toBeUndefined()
    memory.keep(upper, pageOf(1))
    expect(held(memory, 1)?.buffer.byteLength).toBeLessThan(1024)
  })
})
