import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { operatePage } from '../../scripts/docs/fill-costs.js'
import { changedPages, mirrorCostTable, pagesOf, wayOf } from '../../scripts/docs/mirror-costs.js'
import { finish } from '../../src/base/primitives/steps.js'
import { pageFile } from '../../src/identity/proofs/mirror-page.js'
import { changeMapSteps, inKeyOrder } from '../../src/ledger/storage/rows/map/change-map.js'
import type { MapPlace } from '../../src/ledger/storage/rows/tables.js'
import { memoryPages } from '../support/builders/map-pages.js'
import { repositoryFile } from '../support/assert/markdown.js'

/** The cost of a mirror in docs/operate.md, held against maps that are built. */

const keyOf = (number: number) => createHash('sha256').update(`key ${number}`).digest()
const leaves = (numbers: readonly number[], version: number) =>
  inKeyOrder(numbers.map((number) => ({ key: keyOf(number), value: keyOf(version + number) })))

/** A map of so many leaves; `change` returns the pages that changes of some put, as files. */
function mapOf(dids: number) {
  const pages = memoryPages()
  const change = (numbers: readonly number[], version: number) => {
    const sizes: number[] = []
    const noting = {
      get: (place: MapPlace) => pages.get(place),
      put: (place: MapPlace, page: Parameters<typeof pages.put>[1]) => {
        if (page !== undefined) sizes.push(pageFile(place, page.row).length)
        pages.put(place, page)
      },
    }
    finish(changeMapSteps(noting, leaves(numbers, version)))
    return { count: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
  }
  const all = change(
    Array.from({ length: dids }, (_, i) => i),
    1e6,
  )
  return { all, change }
}

const near = (figure: number, part: number) => ({ least: figure * (1 - part), most: figure * (1 + part) })

describe('the cost of a mirror', () => {
  it('is what the script computes', () => {
    expect(repositoryFile('docs/operate.md')).toBe(operatePage())
    expect(repositoryFile('docs/operate.md')).toContain(mirrorCostTable().trim())
  })

  it.each([1000, 4096, 20_000])('has the pages of a map of %i leaves', (dids) => {
    const { all, change } = mapOf(dids)
    for (const [is, expected, part] of [
      [all.count, pagesOf(dids).count, 0.08],
      [all.bytes, pagesOf(dids).bytes, 0.08],
    ] as const) {
      expect(is).toBeGreaterThan(near(expected, part).least)
      expect(is).toBeLessThan(near(expected, part).most)
    }
    for (const changes of [1, 20, 500]) {
      const rounds = Math.ceil(200 / changes)
      let [count, bytes] = [0, 0]
      for (let round = 0; round < rounds; round++) {
        const some = Array.from({ length: changes }, (_, i) => (round * changes + i * 7919) % dids)
        const made = change(some, 2e6 + round * dids)
        count += made.count / rounds
        bytes += made.bytes / rounds
      }
      const expected = changedPages(dids, changes)
      expect(count / expected.count).toBeGreaterThan(0.93)
      expect(count / expected.count).toBeLessThan(1.07)
      expect(bytes / expected.bytes).toBeGreaterThan(0.85)
      expect(bytes / expected.bytes).toBeLessThan(1.15)
    }
  })

  it('has a map of one leaf in one page, and the way of a DID in as many as one change of it writes', () => {
    expect(pagesOf(1)).toEqual({ count: 1, bytes: 1 + 4 + 64 })
    expect(wayOf(1_000_000).count).toBeCloseTo(changedPages(1_000_000, 1).count, 1)
  })
})
