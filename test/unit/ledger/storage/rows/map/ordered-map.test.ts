import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../../../src/base/primitives/hash.js'
import { finish } from '../../../../../../src/base/primitives/steps.js'
import type { Leaf } from '../../../../../../src/identity/proofs/map-tree.js'
import { changeMapSteps, inKeyOrder, mapRootIn } from '../../../../../../src/ledger/storage/rows/map/change-map.js'
import { OrderedMap } from '../../../../../../src/ledger/storage/rows/map/ordered-map.js'
import { memoryPages } from '../../../../../support/builders/map-pages.js'
import { rounds } from '../../../../../support/process/thorough.js'

/** A key whose first `shared` bits are those of one of a few keys. */
const key = fc.record({ of: fc.nat(3), shared: fc.nat(40), number: fc.nat(500) }).map(({ of, shared, number }) => {
  const made = Uint8Array.from(sha256(`key ${number}`))
  const like = sha256(`like ${of}`)
  for (let bit = 0; bit < shared; bit++) {
    const mask = 0x80 >> (bit & 7)
    made[bit >> 3] = ((made[bit >> 3] as number) & ~mask) | ((like[bit >> 3] as number) & mask)
  }
  return made
})

const leaves = fc
  .uniqueArray(key, { selector: toHex, maxLength: 60 })
  .map((keys) => inKeyOrder(keys.map((one) => ({ key: one, value: sha256(one) }))) as Leaf[])

describe('a map that is made of leaves in the order of their keys', () => {
  it('has the pages of one whose leaves are put into it, each put once', () => {
    fc.assert(
      fc.property(leaves, (all) => {
        const expected = memoryPages()
        finish(changeMapSteps(expected, all))
        const pages = memoryPages()
        const put = new Set<string>()
        const map = new OrderedMap((place, page) => {
          if (page === undefined) return
          const name = `${place.depth} ${toHex(page.row)}`
          expect(put.has(name)).toBe(false)
          put.add(name)
          pages.put(place, page)
        })
        for (const leaf of all) {
          if (map.begins(leaf.key)) finish(map.closeSteps(leaf.key))
          map.add(leaf)
        }
        finish(map.closeSteps())
        expect(new Map([...pages.rows].sort())).toEqual(new Map([...expected.rows].sort()))
        expect(toHex(mapRootIn(pages))).toBe(toHex(mapRootIn(expected)))
      }),
      { numRuns: rounds(50, 3000) },
    )
  })
})
