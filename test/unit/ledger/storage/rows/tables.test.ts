import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type BlockStatus,
  type DayCounters,
  dayCounters,
  type HeaderRecord,
  meta,
  tables,
} from '../../../../../src/ledger/storage/rows/tables.js'
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
const location = fc.record({ height: u32, index: u16 })
const postings = fc.uniqueArray(u16, { minLength: 1, maxLength: 20 }).map((some) => Uint16Array.from(some).sort())
const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })

/** Tables whose values are stored as they are. */
const raw = [
  'meta',
  'active',
  'transaction',
  'sideBody',
  'confirm',
  'history',
  'didDocument',
  'mapPage',
  'mapPageBefore',
  'candidate',
] as const
type Coded = Exclude<keyof typeof tables, (typeof raw)[number]>
type Values<Rows, Names extends keyof Rows> = {
  [Name in Names]: Rows[Name] extends { encode(value: infer Value): Uint8Array } ? fc.Arbitrary<Value> : never
}

const didHead = fc.record({
  status: fc.constantFrom('valid' as const, 'deactivated' as const),
  operationCount: u32,
  documentSequence: u32,
  ordinal: u32,
})

/** Values of every other table. */
const rows: Values<typeof tables, Coded> = {
  journal: fc.record({
    kind: fc.constantFrom('block', 'pool'),
    height: u32,
    hash,
    bytes: u32,
    previous: hash,
    operations: hash,
  }),
  location,
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
  didHead,
  declaring: text,
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
      fc.record({ depth: fc.nat(63).map((n) => 4 * n), key: hash }).map((place) => tables.mapPage.key(place)),
      { maxLength: 5 },
    ),
  }),
  tokenCount: u32,
  ordinal: location,
  posting: postings,
  sideChain: u32,
  givenUp: fc.record({ txid: hash, digest: hash }),
  day: fc
    .tuple(...dayCounters.map(() => fc.bigInt(-(1n << 63n), (1n << 63n) - 1n)))
    .map((sums) => Object.fromEntries(dayCounters.map((name, i) => [name, sums[i]])) as unknown as DayCounters),
  indexUndo: fc.array(
    fc.record({ key: bytes(5, 21), value: fc.option(bytes(0, 300), { nil: undefined }) }).map(({ key, value }) => ({
      key: Buffer.from(key),
      value,
    })),
    { maxLength: 4 },
  ),
  leftBranch: fc.record({ tip, forkHeight: u32 }),
  evidence: fc.record({ first: bytes(0, 300), second: bytes(0, 300) }),
  peer: fc.record({ address: text, seen: time, failures: u8 }),
  ban: fc.record({
    kind: fc.constantFrom('key' as const, 'host' as const),
    until: time,
    reason: text,
  }),
  dropped: fc.record({ order: fc.nat(), reason: fc.string({ unit: 'binary' }) }),
  pool: fc.record({ arrival: time, bytes: bytes(0, 100) }),
  outbox: fc.record({
    before: time,
    digestBefore: hash,
    digest: hash,
    height: u32,
    hash,
    time: u32,
    isOpen: fc.nat(1),
    total: time,
    rows: bytes(0, 300),
  }),
}

/** Values of the rows of which there is one each. */
const metaRows: Values<typeof meta, keyof typeof meta> = {
  version: u8,
  tip,
  upgrades: hash,
  clock: fc.maxSafeInteger(),
  events: time,
  assumed: u32,
  reorganisation: fc.record({ from: tip, to: tip }),
  indexUndo: u32,
  pruned: u32,
  superseded: fc.record({ height: u32, left: u32 }),
  joined: u32,
  didMap: u8,
  proofs: u32,
  dropped: u32,
  rules: u8,
  days: u32,
  shipping: fc.record({ stream: bytes(16, 16), sequence: time, digest: hash, total: time }),
}

interface Row {
  readonly valueSize?: number
  encode(value: unknown): Uint8Array
  decode(bytes: Uint8Array): unknown
}

describe('the rows', () => {
  it('have a test for every value', () => {
    expect([...Object.keys(rows), ...raw].sort()).toEqual(Object.keys(tables).sort())
    expect(Object.keys(metaRows)).toEqual(Object.keys(meta))
  })

  it('name as many pages of the map as a block can change', () => {
    const page = tables.mapPage.key({ depth: 40, key: new Uint8Array(32) })
    const pages = Array.from({ length: 200_000 }, () => page)
    const row = tables.mapRoot.encode({ root: new Uint8Array(32), pages })
    expect(tables.mapRoot.decode(row).pages).toHaveLength(pages.length)
  })

  it.each([
    ...Object.entries(rows).map(([name, values]) => [name, Reflect.get(tables, name) as Row, values] as const),
    ...Object.entries(metaRows).map(
      ([name, values]) => [`meta ${name}`, Reflect.get(meta, name) as Row, values] as const,
    ),
  ])('come back as they were, in their size: %s', (_, row, values) => {
    fc.assert(
      fc.property(values as fc.Arbitrary<unknown>, (value) => {
        const bytes = row.encode(value)
        expect(plainForm(row.decode(bytes))).toEqual(plainForm(value))
        if (row.valueSize !== undefined) expect(bytes.length).toBe(row.valueSize)
      }),
      runs,
    )
  })
})
