import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../../src/primitives/hash.js'
import { emptyPage, type MapPage, topNode } from '../../../../src/storage/map/map-page.js'
import { PageMemory } from '../../../../src/storage/map/page-memory.js'
import { keys } from '../../../../src/storage/schema.js'

const upper = keys.mapPage({ depth: 12, key: sha256('place') })
const lower = keys.mapPage({ depth: 16, key: sha256('place') })

/** The page of a state with a number. */
function pageOf(number: number): MapPage {
  return emptyPage.with([0, 1].map((index) => ({ index, slot: { hash: sha256(`${number} ${index}`) } })))
}

const held = (memory: PageMemory, number: number) => memory.find(upper, pageOf(number).hash(topNode))?.row

describe('the memory of pages', () => {
  it('finds a page by its hash, and keeps the two versions that were used last', () => {
    const memory = new PageMemory()
    for (const number of [1, 2]) memory.keep(upper, pageOf(number))
    expect([1, 2].map((number) => held(memory, number))).toEqual([pageOf(1).row, pageOf(2).row])
    // Version 2 was asked for last.
    memory.keep(upper, pageOf(3))
    expect([1, 2, 3].map((number) => held(memory, number))).toEqual([undefined, pageOf(2).row, pageOf(3).row])
    memory.keep(upper, pageOf(2))
    expect(held(memory, 3)).toEqual(pageOf(3).row)
    expect(memory.find(keys.mapPage({ depth: 12, key: sha256('other') }), pageOf(2).hash(topNode))).toBeUndefined()
  })

  it('keeps upper pages alone, in memory of their own', () => {
    const memory = new PageMemory()
    memory.keep(lower, pageOf(1))
    expect(memory.find(lower, pageOf(1).hash(topNode))).toBeUndefined()
    memory.keep(upper, pageOf(1))
    expect(held(memory, 1)?.buffer.byteLength).toBeLessThan(1024)
  })
})
