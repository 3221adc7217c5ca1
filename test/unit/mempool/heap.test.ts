import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finish } from '../../../src/primitives/steps.js'
import { Heap } from '../../../src/mempool/heap.js'
import { runs } from '../../support/builders/arbitraries.js'

describe('a heap', () => {
  it('gives its items in order and then nothing, and leaves what it was made of alone', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (numbers) => {
        const before = [...numbers]
        const heap = finish(Heap.of(numbers, (a, b) => a < b))
        const taken = Array.from({ length: numbers.length }, () => heap.take())
        expect(taken).toEqual([...numbers].sort((a, b) => a - b))
        expect([heap.take(), heap.take()]).toEqual([undefined, undefined])
        expect(numbers).toEqual(before)
      }),
      runs,
    )
  })
})
