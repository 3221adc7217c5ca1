import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  derivedTables,
  historyRange,
  stateTables,
  tables,
  transactionsBefore,
} from '../../../../../src/ledger/storage/rows/tables.js'
import { plainForm } from '../../../../support/assert/plain-form.js'
import { hash, programHash, runs, u16, u32 } from '../../../../support/builders/arbitraries.js'

describe('the keys', () => {
  it('have table bytes of their own', () => {
    const bytesOfTables = Object.values(tables).map(({ number }) => number)
    expect(new Set(bytesOfTables).size).toBe(bytesOfTables.length)
    for (const one of [...stateTables, ...derivedTables]) expect(bytesOfTables).toContain(one)
    expect(new Set(derivedTables)).toEqual(new Set([...derivedTables, ...stateTables]))
  })

  it('sort by height, then by index', () => {
    fc.assert(
      fc.property(u32, u16, u32, u16, programHash, (height, index, otherHeight, otherIndex, address) => {
        const wanted = Math.sign(height - otherHeight || index - otherIndex)
        expect(
          Buffer.compare(tables.transaction.key(height, index), tables.transaction.key(otherHeight, otherIndex)),
        ).toBe(wanted)
        expect(
          Buffer.compare(
            tables.history.key(address, height, index),
            tables.history.key(address, otherHeight, otherIndex),
          ),
        ).toBe(wanted)
        expect(Buffer.compare(tables.active.key(height), tables.active.key(otherHeight))).toBe(
          Math.sign(height - otherHeight),
        )
        expect(Buffer.compare(tables.undo.key(height), tables.undo.key(otherHeight))).toBe(
          Math.sign(height - otherHeight),
        )
        expect(Buffer.compare(tables.journal.key(height), tables.journal.key(otherHeight))).toBe(
          Math.sign(height - otherHeight),
        )
        expect(
          Buffer.compare(tables.didOperation.key(address, height), tables.didOperation.key(address, otherHeight)),
        ).toBe(Math.sign(height - otherHeight))
      }),
      runs,
    )
  })

  it('name what they stand for, and nothing else does', () => {
    fc.assert(
      fc.property(hash, u16, u32, programHash, (txid, index, height, address) => {
        const key = tables.addressCoin.key(address, height, { txid, index })
        expect(plainForm(tables.addressCoin.fields(key))).toEqual(plainForm([address, height, { txid, index }]))
        const { gte, lt } = tables.addressCoin.range(address)
        expect(Buffer.compare(gte, key)).toBeLessThanOrEqual(0)
        expect(Buffer.compare(key, lt)).toBeLessThan(0)
        expect(tables.coin.key({ txid, index }).length).toBe(35)
        expect(tables.coin.key({ txid, index })[0]).toBe(tables.coin.number)
      }),
      runs,
    )
  })

  it('of transactions and histories end with the position, by which a range is cut', () => {
    const inside = ({ gte, lt }: { gte: Buffer; lt: Buffer }, key: Buffer) =>
      Buffer.compare(gte, key) <= 0 && Buffer.compare(key, lt) < 0
    const position = fc.record({ height: u32, index: u16 })
    fc.assert(
      fc.property(position, position, programHash, programHash, (at, before, address, other) => {
        const isBelow = at.height < before.height || (at.height === before.height && at.index < before.index)
        const [entry, row] = [
          tables.history.key(address, at.height, at.index),
          tables.transaction.key(at.height, at.index),
        ]
        expect(tables.history.fields(entry).slice(1)).toEqual([at.height, at.index])
        expect(tables.transaction.fields(row)).toEqual([at.height, at.index])
        expect(inside(historyRange(address), entry)).toBe(true)
        expect(inside(historyRange(address, { before }), entry)).toBe(isBelow)
        const strange = tables.history.key(other, at.height, at.index)
        expect(inside(historyRange(address), strange)).toBe(Buffer.compare(address, other) === 0)
        expect(inside(transactionsBefore(before), row)).toBe(isBelow && at.height === before.height)
        expect(tables.undo.fields(tables.undo.key(at.height))).toEqual([at.height])
      }),
      runs,
    )
  })

  it('of one height are a range that ends before the next', () => {
    fc.assert(
      fc.property(u32, u16, (height, index) => {
        const { gte, lt } = tables.transaction.range(height)
        const inside = (key: Buffer) => Buffer.compare(gte, key) <= 0 && Buffer.compare(key, lt) < 0
        expect(inside(tables.transaction.key(height, index))).toBe(true)
        if (height > 0) expect(inside(tables.transaction.key(height - 1, index))).toBe(false)
        if (height < 0xffffffff) expect(inside(tables.transaction.key(height + 1, index))).toBe(false)
      }),
      runs,
    )
  })
})
