import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Coin } from '../../../src/consensus/ledger.js'
import {
  type BlockStatus,
  derivedTables,
  type HeaderRecord,
  heightOfUndoKey,
  historyRange,
  keys,
  parseAddressCoinKey,
  positionInKey,
  rangeOf,
  stateTables,
  table,
  TransferRows,
  transactionRange,
  transactionsBefore,
  undoRange,
  values,
} from '../../../src/storage/schema.js'
import { mapKey, ofMapKey, toHex } from '../../../src/primitives/bytes.js'
import { outpointKey } from '../../../src/primitives/input.js'
import { seal } from '../../../src/storage/sealed-row.js'
import { bytes, hash, runs, text, u16, u32, u8 } from '../../support/builders/arbitraries.js'
import { plainForm } from '../../support/assert/plain-form.js'

const programHash = bytes(21)
const amount = fc.bigInt({ min: 0n, max: (1n << 63n) - 1n })
const coin: fc.Arbitrary<Coin> = fc.record({
  height: u32,
  coinbase: fc.boolean(),
  value: amount,
  outputLock: u32,
  owner: programHash.map(mapKey),
})
const status = fc.constantFrom<BlockStatus>('header', 'side', 'active', 'invalid')
const headerRecord: fc.Arbitrary<HeaderRecord> = fc.record({
  header: bytes(84),
  auxPow: bytes(0, 300),
  status,
  chainWork: fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
  transactionCount: u32,
  size: u32,
  arrival: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
})

const credentialOperation = fc.constantFrom(4 as const, 5 as const)
const tip = fc.record({ hash, height: u32 })

/** Every value that has a layout of its own. */
const rows: { [Name in keyof typeof values]: fc.Arbitrary<Parameters<(typeof values)[Name]['encode']>[0]> } = {
  location: fc.record({ height: u32, index: u16 }),
  header: headerRecord,
  coin,
  addressCoin: amount,
  balance: fc.record({ sum: amount, count: u32 }),
  undo: fc.record({
    spent: fc.array(fc.array(coin, { maxLength: 4 }), { maxLength: 4 }),
    dids: fc.array(programHash, { maxLength: 4 }),
    credentials: fc.array(fc.record({ operation: credentialOperation, key: hash, holder: programHash }), {
      maxLength: 4,
    }),
  }),
  credential: fc.array(
    fc.record({ index: u16, operation: credentialOperation, height: u32, time: u32, txid: hash, payloadHash: hash }),
    { minLength: 1, maxLength: 2 },
  ),
  declared: text,
  declaredCount: u32,
  didHead: fc.record({
    status: fc.constantFrom('valid' as const, 'deactivated' as const),
    operationCount: u32,
    documentSequence: u32,
    ordinal: u32,
  }),
  didOperation: fc.record({
    height: u32,
    index: u16,
    txid: hash,
    operation: fc.constantFrom(1 as const, 2 as const, 3 as const),
    time: u32,
    payloadHash: hash,
    digest: hash,
  }),
  mapRoot: fc.record({
    root: hash,
    pages: fc.array(
      fc.record({ depth: fc.nat(63).map((n) => 4 * n), key: hash }).map((place) => keys.mapPage(place)),
      { maxLength: 5 },
    ),
  }),
  height: u32,
  tokenCount: u32,
  indexUndo: fc.array(
    fc.record({ key: bytes(5, 21), value: fc.option(bytes(0, 300), { nil: undefined }) }).map(({ key, value }) => ({
      key: Buffer.from(key),
      value,
    })),
    { maxLength: 4 },
  ),
  tip,
  reorganisation: fc.record({ from: tip, to: tip }),
  leftBranch: fc.record({ tip, forkHeight: u32 }),
  evidence: fc.record({ first: bytes(0, 300), second: bytes(0, 300) }),
  peer: fc.record({ address: text, seen: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), failures: u8 }),
  ban: fc.record({
    kind: fc.constantFrom('key' as const, 'host' as const),
    until: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    reason: text,
  }),
  dropped: fc.record({ order: fc.nat(), reason: fc.string({ unit: 'binary' }) }),
  pool: fc.record({ arrival: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), bytes: bytes(0, 100) }),
}

interface Layout {
  encode(value: unknown): Uint8Array
  decode(bytes: Uint8Array): unknown
}

describe('the rows', () => {
  it('have a test for every layout', () => {
    expect(Object.keys(rows).sort()).toEqual(Object.keys(values).sort())
  })

  it('name as many pages of the map as a block can change', () => {
    const page = keys.mapPage({ depth: 40, key: new Uint8Array(32) })
    const pages = Array.from({ length: 200_000 }, () => page)
    const row = values.mapRoot.encode({ root: new Uint8Array(32), pages })
    expect(values.mapRoot.decode(row).pages).toHaveLength(pages.length)
  })

  it.each(Object.keys(rows) as (keyof typeof rows)[])('come back as they were: %s', (name) => {
    const layout: Layout = Reflect.get(values, name)
    fc.assert(
      fc.property(rows[name] as fc.Arbitrary<unknown>, (value) => {
        expect(plainForm(layout.decode(layout.encode(value)))).toEqual(plainForm(value))
      }),
      runs,
    )
  })
})

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

  it('and values are the same bytes where rows are made in the same memory', () => {
    const made = new TransferRows()
    fc.assert(
      fc.property(hash, u16, coin, amount, u16, (txid, index, one, sum, number) => {
        const outpoint = { txid, index }
        const [name, at] = [outpointKey(outpoint), { height: one.height, index: number }]
        const { owner, height } = one
        const address = ofMapKey(owner)
        const balance = { sum, count: number }
        for (const [row, key, value] of [
          [made.coin(name, one), keys.coin(outpoint), values.coin.encode(one)],
          [
            made.addressCoin(name, one),
            keys.addressCoin(address, height, outpoint),
            values.addressCoin.encode(one.value),
          ],
          [made.balance(owner, balance), keys.balance(address), values.balance.encode(balance)],
          [made.history(owner, height, number), keys.history(address, height, number), new Uint8Array(0)],
          [made.location(mapKey(txid), at), keys.location(txid), values.location.encode(at)],
        ] as const) {
          expect([row.key, row.value].map(toHex)).toEqual([key, value].map(toHex))
          expect(toHex(row.seal())).toBe(toHex(seal(key, value)))
        }
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
