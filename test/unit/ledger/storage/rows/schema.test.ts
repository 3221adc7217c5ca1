import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  derivedTables,
  heightOfUndoKey,
  historyRange,
  keys,
  parseAddressCoinKey,
  positionInKey,
  rangeOf,
  stateTables,
  table,
  transactionRange,
  transactionsBefore,
  undoRange,
} from '../../../../../src/ledger/storage/rows/schema.js'
import { plainForm } from '../../../../support/assert/plain-form.js'
import { hash, programHash, runs, u16, u32 } from '../../../../support/builders/arbitraries.js'

describe('the keys', () => {
  it('have table bytes of their own', () => {
    const bytesOfTables = Object.values(table)
    expect(new Set(bytesOfTables).size).toBe(bytesOfTables.length)
    for (const one of [...stateTables, ...derivedTables]) expect(bytesOfTables).toContain(one)
    expect(new Set(derivedTables)).toEqual(new Set([...derivedTables, ...stateTables]))
  })

  it('sort by height, then by index', () => {
    fc.assert(
      fc.property(u32, u16, u32, u16, programHash, (height, index, otherHeight, otherIndex, address) => {
        const wanted = Math.sign(height - otherHeight || index - otherIndex)
        expect(Buffer.compare(keys.transaction(height, index), keys.transaction(otherHeight, otherIndex))).toBe(wanted)
        expect(
          Buffer.compare(keys.history(address, height, index), keys.history(address, otherHeight, otherIndex)),
        ).toBe(wanted)
        expect(Buffer.compare(keys.active(height), keys.active(otherHeight))).toBe(Math.sign(height - otherHeight))
        expect(Buffer.compare(keys.undo(height), keys.undo(otherHeight))).toBe(Math.sign(height - otherHeight))
        expect(Buffer.compare(keys.journal(height), keys.journal(otherHeight))).toBe(Math.sign(height - otherHeight))
        expect(Buffer.compare(keys.didOperation(address, height), keys.didOperation(address, otherHeight))).toBe(
          Math.sign(height - otherHeight),
        )
      }),
      runs,
    )
  })

  it('name what they stand for, and nothing else does', () => {
    fc.assert(
      fc.property(hash, u16, u32, programHash, (txid, index, height, address) => {
        const key = keys.addressCoin(address, height, { txid, index })
        expect(plainForm(parseAddressCoinKey(key))).toEqual(plainForm({ height, outpoint: { txid, index } }))
        const { gte, lt } = rangeOf(table.addressCoin, address)
        expect(Buffer.compare(gte, key)).toBeLessThanOrEqual(0)
        expect(Buffer.compare(key, lt)).toBeLessThan(0)
        expect(keys.coin({ txid, index }).length).toBe(35)
        expect(keys.coin({ txid, index })[0]).toBe(table.coin)
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
        const [entry, row] = [keys.history(address, at.height, at.index), keys.transaction(at.height, at.index)]
        expect([positionInKey(entry), positionInKey(row)]).toEqual([at, at])
        expect(inside(historyRange(address), entry)).toBe(true)
        expect(inside(historyRange(address, { before }), entry)).toBe(isBelow)
        const strange = keys.history(other, at.height, at.index)
        expect(inside(historyRange(address), strange)).toBe(Buffer.compare(address, other) === 0)
        expect(inside(transactionsBefore(before), row)).toBe(isBelow && at.height === before.height)
        expect(heightOfUndoKey(keys.undo(at.height))).toBe(at.height)
        const [from, below] = [Math.min(at.height, before.height), Math.max(at.height, before.height)]
        expect(inside(undoRange(from, below), keys.undo(from))).toBe(from < below)
        expect(inside(undoRange(from, below), keys.undo(below))).toBe(false)
      }),
      runs,
    )
  })

  it('of one height are a range that ends before the next', () => {
    fc.assert(
      fc.property(u32, u16, (height, index) => {
        const { gte, lt } = transactionRange(height)
        const inside = (key: Buffer) => Buffer.compare(gte, key) <= 0 && Buffer.compare(key, lt) < 0
        expect(inside(keys.transaction(height, index))).toBe(true)
        if (height > 0) expect(inside(keys.transaction(height - 1, index))).toBe(false)
        if (height < 0xffffffff) expect(inside(keys.transaction(height + 1, index))).toBe(false)
      }),
      runs,
    )
  })
})
