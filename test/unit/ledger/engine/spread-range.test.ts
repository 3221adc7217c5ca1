import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { EngineRange, EngineRow } from '../../../../src/ledger/engine/row-engine.js'
import { hasRow } from '../../../../src/ledger/engine/slots.js'
import { joinRanges, spreadRange } from '../../../../src/ledger/engine/spread-range.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { runs } from '../../../support/builders/arbitraries.js'

/** What a shard gives for a range. */
function rowsOf(rows: readonly EngineRow[], { gte, lt, limit, bytes, reverse }: EngineRange): EngineRow[] {
  const inside = rows.filter(([key]) => gte.compare(key) <= 0 && key.compare(lt) < 0)
  let size = 0
  const fits = ([, value]: EngineRow, i: number) => (i < limit && size < bytes ? ((size += value.length), true) : false)
  return (reverse === true ? inside.reverse() : inside).filter(fits)
}

const heights = fc.uniqueArray(fc.integer({ min: 0, max: 5000 }), { maxLength: 60 })
const whole = { gte: tables.undo.key(0), lt: tables.undo.key(6000) }

it('rows of a range are read whole and in order, page by page, past rows that went to other shards', () => {
  fc.assert(
    fc.property(
      heights,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      fc.infiniteStream(fc.boolean()),
      (some, shards, limit, bytes, reverse, chance) => {
        const keys = some.sort((a, b) => a - b).map((height) => tables.undo.key(height))
        const stored = Array.from({ length: shards }, (_, number) =>
          keys.flatMap((key): EngineRow[] => {
            if (hasRow({ number, shards }, key)) return [[key, Buffer.from('now')]]
            return chance.next().value === true ? [[key, Buffer.from('before')]] : []
          }),
        )
        const read: EngineRow[] = []
        let { gte, lt } = whole
        for (let pages = 0; ; pages++) {
          expect(pages).toBeLessThan(400)
          const range = { gte, lt, limit, bytes, reverse }
          const parts = spreadRange(range, shards)
          const { rows, upTo } = joinRanges(
            range,
            parts.map(({ shard, range: part }) => rowsOf(stored[shard] as EngineRow[], part)),
          )
          expect(rows.length).toBeLessThanOrEqual(limit)
          read.push(...rows)
          if (upTo === undefined) break
          if (reverse) lt = upTo
          else gte = Buffer.concat([upTo, Buffer.of(0)])
        }
        const own = keys.map((key): EngineRow => [key, Buffer.from('now')])
        expect(read).toEqual(reverse ? own.reverse() : own)
      },
    ),
    runs,
  )
})
