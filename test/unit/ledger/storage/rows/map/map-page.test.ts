import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../../../src/base/primitives/bytes.js'
import { Writer } from '../../../../../../src/base/primitives/codec.js'
import { emptyNode, innerHash, leafHash } from '../../../../../../src/identity/proofs/map-tree.js'
import {
  emptyPage,
  isLeaf,
  MapPage,
  pageSlots,
  type Slot,
  topNode,
} from '../../../../../../src/ledger/storage/rows/map/map-page.js'
import { rounds } from '../../../../../support/process/thorough.js'

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
const slot: fc.Arbitrary<Slot | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.record({ key: bytes, value: bytes }),
  fc.record({ hash: bytes }),
)
const slots = fc.array(slot, { minLength: pageSlots, maxLength: pageSlots })
const changes = fc.uniqueArray(fc.record({ index: fc.nat(pageSlots - 1), slot }), { selector: ({ index }) => index })

/** The row of a page, straight from its layout. */
function rowOf(all: readonly (Slot | undefined)[]): Uint8Array {
  const kinds = all.map((one) => (one === undefined ? 0 : isLeaf(one) ? 1 : 2))
  const writer = new Writer(4).u32(kinds.reduce((sum: number, one, i) => sum + one * 4 ** i, 0))
  for (const one of all) {
    if (one === undefined) continue
    if (isLeaf(one)) writer.bytes(one.key).bytes(one.value)
    else writer.bytes(one.hash)
  }
  return writer.finish()
}

/** The subtree over slots, straight from the definition of the tree. */
function subtreeOf(all: readonly (Slot | undefined)[]): Slot | undefined {
  if (all.length === 1) return all[0]
  const held = all.filter((one) => one !== undefined)
  if (held.length === 0 || (held.length === 1 && isLeaf(held[0] as Slot))) return held[0]
  const [left, right] = [all.slice(0, all.length / 2), all.slice(all.length / 2)].map((half) => naiveHash(half))
  return { hash: innerHash(left as Uint8Array, right as Uint8Array) }
}

function naiveHash(all: readonly (Slot | undefined)[]): Uint8Array {
  const subtree = subtreeOf(all)
  if (subtree === undefined) return emptyNode
  return isLeaf(subtree) ? leafHash(subtree) : subtree.hash
}

const textOf = (one: Slot | undefined) => {
  if (one === undefined) return 'nothing'
  return isLeaf(one) ? `${toHex(one.key)} ${toHex(one.value)}` : toHex(one.hash)
}

function pageOf(all: readonly (Slot | undefined)[]): MapPage {
  return emptyPage.with(all.map((one, index) => ({ index, slot: one })))
}

/** Expects each node of a page to be what the slots say. */
function expectNodes(page: MapPage, all: readonly (Slot | undefined)[]): void {
  expect(toHex(page.row)).toBe(toHex(rowOf(all)))
  for (let number = topNode; number < 2 * pageSlots; number++) {
    const width = pageSlots >> (31 - Math.clz32(number))
    const below = all.slice(number * width - pageSlots, (number + 1) * width - pageSlots)
    expect(textOf(page.node(number))).toBe(textOf(subtreeOf(below)))
    expect(toHex(page.hash(number))).toBe(toHex(naiveHash(below)))
  }
  all.forEach((one, i) => expect(textOf(page.slot(i))).toBe(textOf(one)))
}

describe('a page of the map', () => {
  it('is the bytes of its row, and its nodes follow from its slots', () => {
    fc.assert(
      fc.property(slots, (all) => {
        expectNodes(pageOf(all), all)
        expectNodes(new MapPage(rowOf(all)), all)
      }),
      { numRuns: rounds(30, 2000) },
    )
  })

  it('with other slots is a page of its own, whatever hashes were known before', () => {
    fc.assert(
      fc.property(slots, fc.array(fc.tuple(changes, fc.array(fc.integer({ min: 1, max: 15 })))), (first, all) => {
        let [page, held] = [pageOf(first), first]
        for (const [some, asked] of all) {
          for (const number of asked) page.hash(number)
          const before = page.copy()
          const sorted = [...some].sort((a, b) => a.index - b.index)
          const next = [...held]
          for (const change of sorted) next[change.index] = change.slot
          page = before.with(sorted)
          expectNodes(page, next)
          expectNodes(before, held)
          held = next
        }
      }),
      { numRuns: rounds(30, 2000) },
    )
  })

  it('is refused where its length is not that of its slots, or a kind is unknown', () => {
    const whole = rowOf(Array.from({ length: pageSlots }, (_, i) => (i % 2 === 0 ? { hash: emptyNode } : undefined)))
    expect(new MapPage(whole).row).toHaveLength(whole.length)
    const unknown = Uint8Array.from(whole)
    unknown[3] = 0xc0
    for (const row of [
      new Uint8Array(0),
      whole.subarray(0, 3),
      whole.subarray(0, -1),
      Buffer.concat([whole, whole]),
      unknown,
    ]) {
      expect(() => new MapPage(row)).toThrow('a page of the map of DIDs has a wrong length')
    }
  })
})
