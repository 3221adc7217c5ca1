import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { databaseOf, isAt, placed, shardsAmong } from '../../../../src/ledger/engine/placement.js'
import { shardOf, slots } from '../../../../src/ledger/engine/slots.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { runs, u32 } from '../../../support/builders/arbitraries.js'

const of = (number: number, shards: number) => ({ number, shards })
const wide = fc
  .integer({ min: 1, max: slots })
  .chain((shards) => fc.tuple(fc.constant(shards), fc.integer({ min: 1, max: Math.floor(slots / shards) })))

describe('databases of a list', () => {
  it('form the shards that the first of each says, whatever those behind it have', () => {
    expect(shardsAmong([of(0, 1)])).toBe(1)
    expect(shardsAmong([of(0, 2), undefined, of(1, 2), undefined])).toBe(2)
    expect(shardsAmong([of(0, 2), of(1, 4), of(1, 2), of(3, 4)])).toBe(2)
    expect(shardsAmong([of(0, 4), of(1, 4), of(2, 4), of(3, 4)])).toBe(4)
    expect(placed([of(0, 2), of(1, 4), of(1, 2), undefined])).toEqual([of(0, 2), of(1, 2)])
  })

  it.each([
    [[]],
    [[undefined]],
    [[of(0, 0)]],
    [[of(0, 2)]],
    [[of(0, 2), of(1, 2), of(2, 3)]],
    [[of(1, 2), of(0, 2)]],
    [[of(0, 2), undefined]],
    [[of(0, 2), of(1, 2), undefined, undefined]],
    [[of(0, 2), undefined, of(1, 3), undefined]],
    [[of(0, 4), of(1, 4), of(1, 2), of(3, 4)]],
  ])('form none as %j', (states) => {
    expect(shardsAmong(states)).toBeUndefined()
    expect(placed(states)).toBeUndefined()
  })

  it('have the rows of a shard among them when it is divided', () => {
    fc.assert(
      fc.property(wide, u32, ([shards, times], height) => {
        const key = tables.undo.key(height)
        const first = databaseOf(shardOf(key, shards) as number, shards, shards * times)
        const part = shardOf(key, shards * times) as number
        expect(part).toBeGreaterThanOrEqual(first)
        expect(part).toBeLessThan(first + times)
      }),
      runs,
    )
  })
})

it('a position is another one after another batch, in another stream, and over another number of shards', () => {
  const at = { stream: 'one', sequence: 7, shards: 2 }
  expect(isAt({ ...at }, at)).toBe(true)
  for (const other of [{ stream: 'two' }, { sequence: 8 }, { shards: 4 }])
    expect(isAt({ ...at, ...other }, at)).toBe(false)
})
