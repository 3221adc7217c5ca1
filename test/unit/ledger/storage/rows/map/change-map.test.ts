import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalBytes, toHex } from '../../../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../../../src/base/primitives/hash.js'
import { finish } from '../../../../../../src/base/primitives/steps.js'
import { mapRootOf } from '../../../../../../src/identity/proofs/map-proof.js'
import type { Leaf } from '../../../../../../src/identity/proofs/map-tree.js'
import {
  changeMapSteps,
  inKeyOrder,
  inKeyOrderSteps,
  type LeafChange,
  mapRootIn,
} from '../../../../../../src/ledger/storage/rows/map/change-map.js'
import { readWay } from '../../../../../../src/ledger/storage/rows/map/read-way.js'
import { memoryPages } from '../../../../../support/builders/map-pages.js'
import { naiveRoot } from '../../../../../support/builders/naive-map.js'
import { bytes, runs } from '../../../../../support/builders/arbitraries.js'
import { rounds } from '../../../../../support/process/thorough.js'

/** Keys of which many share a prefix of any length. */
const keys = Array.from({ length: 60 }, (_, i) => {
  const key = Uint8Array.from(sha256(`key ${i % 12}`))
  const bit = (i * 37) % 256
  if (i >= 12) key[bit >> 3] = (key[bit >> 3] as number) ^ (0x80 >> (bit & 7))
  return key
})

const change = fc.record({ key: fc.nat(keys.length - 1), value: fc.option(fc.nat(5), { nil: undefined, freq: 4 }) })
const blocks = fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 12 })

function changesOf(block: readonly { key: number; value: number | undefined }[]): LeafChange[] {
  const last = new Map(block.map(({ key, value }) => [key, value]))
  return inKeyOrder(
    [...last].map(([key, value]) => ({
      key: keys[key] as Uint8Array,
      value: value === undefined ? undefined : sha256(`value ${value}`),
    })),
  )
}

describe('the map of DIDs', () => {
  it('has the root and the pages that its leaves alone decide, whatever the order of changes', async () => {
    await fc.assert(
      fc.asyncProperty(blocks, async (all) => {
        const pages = memoryPages()
        const leaves = new Map<string, Leaf>()
        for (const block of all) {
          const changes = changesOf(block)
          const root = finish(changeMapSteps(pages, changes))
          for (const { key, value } of changes) {
            if (value === undefined) leaves.delete(toHex(key))
            else leaves.set(toHex(key), { key, value })
          }
          expect(toHex(root)).toBe(toHex(naiveRoot([...leaves.values()])))
          expect(toHex(mapRootIn(pages))).toBe(toHex(root))
        }
        const atOnce = memoryPages()
        finish(changeMapSteps(atOnce, inKeyOrder(leaves.values())))
        expect(new Map([...pages.rows].sort())).toEqual(new Map([...atOnce.rows].sort()))
        const root = mapRootIn(pages)
        for (const key of keys) {
          const { siblings, end } = await readWay(async (place) => pages.get(place), key)
          expect(end !== undefined && equalBytes(end.key, key)).toBe(leaves.has(toHex(key)))
          expect(toHex(mapRootOf({ siblings, ...(end && { leaf: end }) }, key))).toBe(toHex(root))
        }
      }),
      { numRuns: rounds(30, 3000) },
    )
  })

  it('is empty without leaves, and one leaf is its root', () => {
    const pages = memoryPages()
    expect(finish(changeMapSteps(pages, []))).toEqual(new Uint8Array(32))
    const leaf = { key: keys[0] as Uint8Array, value: sha256('one') }
    expect(toHex(finish(changeMapSteps(pages, [leaf])))).toBe(toHex(naiveRoot([leaf])))
    expect(pages.rows.size).toBe(1)
    expect(finish(changeMapSteps(pages, [{ key: leaf.key, value: undefined }]))).toEqual(new Uint8Array(32))
    expect(pages.rows.size).toBe(0)
  })

  it('refuses two values of one key', () => {
    const leaf = { key: keys[0] as Uint8Array, value: sha256('one') }
    expect(() => finish(changeMapSteps(memoryPages(), [leaf, leaf]))).toThrow('two leaves of one key')
  })
})

describe('changes in the order of their keys', () => {
  it('are the same in steps as at once, for no key and for keys that begin alike', () => {
    const alike = bytes(31, 31).map((rest) => Uint8Array.of(255, ...rest))
    const different = fc.uniqueArray(fc.oneof(bytes(32, 32), alike), { selector: toHex, maxLength: 40 })
    fc.assert(
      fc.property(different, (some) => {
        const changes = some.map((key) => ({ key, value: key }))
        expect(finish(inKeyOrderSteps(changes))).toEqual(inKeyOrder(changes))
        expect(finish(inKeyOrderSteps(changes.values()))).toEqual(inKeyOrder(changes))
      }),
      runs,
    )
    // A block without operations takes no step.
    expect([...inKeyOrderSteps([])]).toEqual([])
  })
})
