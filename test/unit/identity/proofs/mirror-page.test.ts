import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { finish } from '../../../../src/base/primitives/steps.js'
import { didMapKey, type MapKey } from '../../../../src/identity/proofs/map-tree.js'
import { pageFile, readPageFile, wayInPage } from '../../../../src/identity/proofs/mirror-page.js'
import { changeMapSteps, inKeyOrder } from '../../../../src/ledger/storage/rows/map/change-map.js'
import { isLeaf, type MapPage, topNode } from '../../../../src/ledger/storage/rows/map/map-page.js'
import { readWay } from '../../../../src/ledger/storage/rows/map/read-way.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'

/** The pages of a map with so many leaves, by the key of their rows. */
function pagesOf(keys: readonly MapKey[]): ReadonlyMap<string, MapPage> {
  const pages = new Map<string, MapPage>()
  const idOf = (place: { depth: number; key: MapKey }) => mapKey(tables.mapPage.key(place))
  const source = {
    get: (place: { depth: number; key: MapKey }) => pages.get(idOf(place)),
    put: (place: { depth: number; key: MapKey }, page: MapPage | undefined) => {
      if (page === undefined) pages.delete(idOf(place))
      else pages.set(idOf(place), page)
    },
  }
  finish(changeMapSteps(source, inKeyOrder(keys.map((key) => ({ key, value: sha256(key) })))))
  return pages
}

describe('pages as files', () => {
  it('lead each key to where the rows lead it, by the same hashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 400 }), fc.integer(), async (count, seed) => {
        const keys = Array.from({ length: count }, (_, i) => didMapKey(`${seed} ${i}`))
        const pages = pagesOf(keys)
        const pageAt = (place: { depth: number; key: MapKey }) => pages.get(mapKey(tables.mapPage.key(place)))
        for (const key of [...keys.slice(0, 20), ...[1, 2, 3].map((n) => didMapKey(`none ${seed} ${n}`))]) {
          const right = await readWay(pageAt, key)
          const siblings: Uint8Array[] = []
          for (let depth = 0; ; depth += 4) {
            const row = pageAt({ depth, key }) as MapPage
            const page = readPageFile(pageFile({ depth, key }, row.row), { depth, key })
            expect(page && mapKey(page.hash)).toBe(mapKey(row.hash(topNode)))
            const way = wayInPage(page as NonNullable<typeof page>, depth, key)
            siblings.push(...way.siblings)
            if (way.end === undefined || isLeaf(way.end)) {
              expect(way.end && mapKey(way.end.key)).toBe(right.end && mapKey(right.end.key))
              break
            }
          }
          expect(siblings.map(mapKey)).toEqual(right.siblings.map(mapKey))
        }
      }),
      { numRuns: 30 },
    )
  })
})
