import { describe, expect, it } from 'vitest'
import { readChanges } from '../../../../src/identity/proofs/changes.js'
import { lightWorld } from '../../../support/builders/light-world.js'

const { book } = lightWorld({ changeAt: 9 })
const change = book.change(9)
const answer = (...heights: number[]) => ({
  ...book.changes(0),
  changes: heights.map((height) => ({ ...change, height })),
})

describe('an answer with changes of validators', () => {
  it('is read where their heights ascend', () => {
    const { changes, more } = readChanges(answer(9, 10, 12), book.genesis)
    expect([changes.map(({ height }) => height), more]).toEqual([[9, 10, 12], false])
  })

  it.each([
    [9, 9],
    [10, 9],
    [9, 11, 10],
  ])('is refused before a signature is looked at where they do not: %d, %d', (...heights) => {
    expect(() => readChanges(answer(...heights), book.genesis)).toThrow(
      expect.objectContaining({ failure: 'changes-order' }),
    )
  })
})
