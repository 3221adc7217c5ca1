import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BlockStatus, type HeaderRecord, values } from '../../../../../src/ledger/storage/rows/row-values.js'
import { keys } from '../../../../../src/ledger/storage/rows/schema.js'
import { plainForm } from '../../../../support/assert/plain-form.js'
import {
  amount,
  bytes,
  coin,
  hash,
  programHash,
  runs,
  text,
  u16,
  u32,
  u8,
} from '../../../../support/builders/arbitraries.js'

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
    sideChains: fc.array(fc.record({ genesis: hash, before: fc.option(fc.nat(2 ** 29 - 1), { nil: undefined }) }), {
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
