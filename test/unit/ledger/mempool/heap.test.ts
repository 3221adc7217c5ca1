import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finish } from '../../../../src/base/primitives/steps.js'
import { Heap, type Placed } from '../../../../src/ledger/mempool/heap.js'
import { runs } from '../../../support/builders/arbitraries.js'

interface Item extends Placed {
  value: number
}

const itemOf = (value: number): Item => ({ place: -1, value })
const before = (a: Item, b: Item) => a.value < b.value
const steps = fc.array(
  fc.record({ kind: fc.constantFrom('add', 'remove', 'move'), at: fc.nat(40), value: fc.integer() }),
  { maxLength: 80 },
)

describe('a heap', () => {
  it('gives its items in order and then nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 200 }), (numbers) => {
        const heap = finish(Heap.of(numbers.map(itemOf), before))
        const taken: number[] = []
        for (let first = heap.first; first !== undefined; first = heap.first) {
          taken.push(first.value)
          heap.remove(first)
          expect(first.place).toBe(-1)
        }
        expect(taken).toEqual([...numbers].sort((a, b) => a - b))
        expect(heap.first).toBe(undefined)
      }),
      runs,
    )
  })

  it('knows its first item while items come, go and change', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 20 }), steps, (numbers, changes) => {
        const items = numbers.map(itemOf)
        const heap = finish(Heap.of(items, before))
        for (const { kind, at, value } of changes) {
          const item = items[at % Math.max(1, items.length)]
          if (kind === 'add' || item === undefined) {
            const added = itemOf(value)
            items.push(added)
            heap.add(added)
          } else if (kind === 'move') {
            item.value = value
            heap.moved(item)
          } else {
            items.splice(items.indexOf(item), 1)
            heap.remove(item)
            // Once more changes nothing.
            heap.remove(item)
          }
          const least = items.length === 0 ? undefined : Math.min(...items.map((one) => one.value))
          expect(heap.first?.value).toBe(least)
        }
      }),
      runs,
    )
  })
})
