import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { concat } from '../../../src/base/primitives/bytes.js'
import { Reader, Writer } from '../../../src/base/primitives/codec.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { readOutline, writeOutline } from '../../../src/ledger/state/block-outline.js'
import { fieldsOf } from '../../support/builders/blocks.js'
import { checkState, StateError } from '../../../src/ledger/state/check-state.js'
import { encodeHead, readHead } from '../../../src/ledger/state/state-head.js'
import { type Part, partKind, readParts, stateFile } from '../../../src/ledger/state/parts.js'
import { latestState, PartTooLarge, stateParts, type WritingOptions } from '../../../src/ledger/state/write-state.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { busyChain, stateHeight as state } from '../../support/builders/busy-chain.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { random } from '../../support/builders/random-chain.js'
import { type SpecOverrides, testSpec } from '../../support/builders/spec.js'
import { rounds } from '../../support/process/thorough.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)
const committing: SpecOverrides = { ...oneValidator(), producer: 'sponsor', coinInterval: 330 }
const verifier = createInlineVerifier()

async function partsOf({ chain }: TestChain, options?: WritingOptions): Promise<Part[]> {
  const parts: Part[] = []
  for await (const part of readParts(stateFile(stateParts(chain, latestState(chain), options)))) parts.push(part)
  return parts
}

async function* each(parts: readonly Part[]): AsyncGenerator<Part> {
  yield* parts
}

async function* inPieces(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** The outlines of blocks with a program in each coinbase. */
function withPrograms(bytes: Uint8Array): Uint8Array {
  const [reader, writer] = [new Reader(bytes), new Writer()]
  while (reader.remaining > 0) {
    const { coinbase, ...outline } = readOutline(reader)
    const program = { parameter: new Uint8Array(1), code: new Uint8Array(35) }
    writeOutline(writer, { ...outline, coinbase: new Transaction({ ...fieldsOf(coinbase), programs: [program] }) })
  }
  return writer.finish()
}

const reasonOf = (check: Promise<unknown>) =>
  check.then(
    () => 'right',
    (error: unknown) => {
      expect(error).toBeInstanceOf(StateError)
      return String((error as StateError).message)
    },
  )

describe.each([
  ['with validators', committing],
  ['of work', { ...withoutValidators, coinInterval: 330 }],
])('a state of a chain %s', (_, overrides) => {
  let test: TestChain
  let parts: Part[]
  const check = (some: readonly Part[], spec = test.spec) =>
    checkState(each(some), { spec, verifier, clock: test.clock })
  beforeAll(async () => {
    test = await busyChain(overrides)
    parts = await partsOf(test, { leavesAtOnce: 2, bytes: 3_000 })
  })
  afterAll(() => test.close())

  it('is right, whatever the sizes of its parts, and has what there was at its height', async () => {
    const counts = { dids: 0, coins: 0, transactions: 1 }
    for await (const page of test.database.pages(tables.didOperation.range(), 1e5)) {
      counts.dids += page.filter(([key, row]) => {
        return tables.didOperation.fields(key)[1] === 0 && tables.didOperation.decode(row).height <= state
      }).length
    }
    counts.coins = (await test.chain.coinRoots.of(test.activeHeader(state).header)).count
    for (let height = 1; height <= state; height++) counts.transactions += test.activeHeader(height).transactionCount
    const wanted = { ...counts, transactions: counts.transactions - 1, height: state, credentials: 2 }
    expect(await check(parts)).toMatchObject({ ...wanted, committing: { height: 330 } })
    expect(await check(await partsOf(test))).toMatchObject(wanted)
    const kinds = new Set(parts.map(({ kind }) => kind))
    expect([...kinds]).toEqual([1, 2, 3, 5, 6, 7, 8])
    expect(parts.filter(({ kind }) => kind === partKind.leaves).length).toBeGreaterThan(1)
    for (const kind of [partKind.headers, partKind.blocks])
      expect(parts.filter((one) => one.kind === kind).length).toBeGreaterThan(1)
  })

  it('is refused when any byte of it is another', async () => {
    const roll = random(seed)
    for (let i = 0; i < rounds(30, 1000); i++) {
      const at = roll(parts.length)
      const part = parts[at] as Part
      const bytes = Uint8Array.from(part.bytes)
      const place = roll(bytes.length)
      bytes[place]! ^= 1 << roll(8)
      const changed = parts.map((one, j) => (j === at ? { ...one, bytes } : one))
      const reason = await reasonOf(check(changed))
      // Nothing binds what a block of the parent chain is besides its work.
      if (part.kind === partKind.headers && !test.spec.hasValidators) continue
      expect({ reason, kind: part.kind, number: part.number, place }).not.toMatchObject({ reason: 'right' })
    }
  })

  it('is refused when any part of it is missing, cut or there twice', async () => {
    for (const [i, part] of parts.entries()) {
      const without = parts.filter((one) => one !== part)
      const cut = parts.map((one) => (one === part ? { ...one, bytes: one.bytes.subarray(0, -1) } : one))
      const twice = [...parts.slice(0, i + 1), part, ...parts.slice(i + 1)]
      for (const some of [without, cut, twice])
        expect({ i, reason: await reasonOf(check(some)) }).not.toMatchObject({ reason: 'right' })
    }
    expect(await reasonOf(check([]))).not.toBe('right')
  })

  it('is refused with what no hash of it binds', async () => {
    const head = parts[0] as Part
    const at = parts.findIndex(({ kind }) => kind > partKind.blocks)
    const junk = { kind: partKind.sideChains, number: 0, bytes: new Uint8Array(5) }
    const none = { kind: partKind.sideChains, number: 1, bytes: new Uint8Array(1) }
    expect(await reasonOf(check([...parts.slice(0, at), junk, none, ...parts.slice(at)]))).toContain('are one part')
    // The confirm is the end of the head.
    const confirmed = { ...head, bytes: concat(head.bytes.subarray(0, -1), Uint8Array.of(1, 7)) }
    if (!test.spec.hasValidators) expect(await reasonOf(check([confirmed, ...parts.slice(1)]))).toContain('no confirms')
    const headers = parts.filter(({ kind }) => kind === partKind.headers)
    const blocks = parts.filter(({ kind }) => kind === partKind.blocks)
    const programs = blocks.map((one) => ({ ...one, bytes: withPrograms(one.bytes) }))
    expect(await reasonOf(check([head, ...headers, ...programs, ...parts.slice(at)]))).toContain('coinbase')
  })

  it('is refused with more chunks of coins than its transactions can have made, whatever its head names', async () => {
    const head = readHead(new Reader((parts[0] as Part).bytes))
    const boasting = { kind: partKind.head, number: 0, bytes: encodeHead({ ...head, coins: 2 ** 50 }) }
    const before = parts.slice(1).filter(({ kind }) => kind < partKind.chunks)
    const chunks = { kind: partKind.chunks, number: 0, bytes: new Uint8Array(32 * 10_000) }
    const reason = await reasonOf(check([boasting, ...before, chunks]))
    const [, most] = /there are more than (\d+) chunks/.exec(reason) ?? [reason]
    expect(Number(most)).toBeLessThan(1_000)
  })

  it('is not written with a subtree that is larger than a part may be', async () => {
    const small = { bytes: 3_000 }
    const sizes = (some: readonly Part[], isOf: (one: Part) => boolean) =>
      Math.max(...some.filter(isOf).map(({ bytes }) => bytes.length))
    const written = await partsOf(test, small)
    const most = sizes(written, ({ kind }) => kind !== partKind.leaves)
    expect(sizes(written, ({ kind }) => kind === partKind.leaves)).toBeGreaterThan(most)
    const refused = partsOf(test, { ...small, most })
    await expect(refused).rejects.toThrow(PartTooLarge)
    await expect(refused).rejects.toThrow(
      /credentials of one subtree would have \d+ bytes, and a part has at most \d+$/,
    )
    const smaller = { ...small, leavesAtOnce: 1 / 64 }
    const largest = sizes(await partsOf(test, smaller), () => true)
    expect(await check(await partsOf(test, { ...smaller, most: largest }))).toMatchObject({ height: state })
    await expect(partsOf(test, { ...smaller, most: largest - 1 })).rejects.toThrow(PartTooLarge)
  })

  it('is refused when it is of the future', async () => {
    const spec = test.spec
    const clock = { now: () => spec.time * 1000 - 7_200_001 }
    const reason = reasonOf(checkState(each(parts), { spec, verifier, clock }))
    expect(await reason).toMatch(spec.hasValidators ? /right|time/ : /time/)
  })

  it('is refused for another chain', async () => {
    const other = parseSpec(testSpec({ ...overrides, maturity: 2, time: test.spec.time + 1 }))
    expect(await reasonOf(check(parts, other))).toContain('another chain')
    const never = parseSpec(testSpec({ ...overrides, maturity: 2, coinInterval: undefined }))
    expect(await reasonOf(check(parts, never))).not.toBe('right')
  })
})

describe('the state of genesis', () => {
  it.each([{ ...oneValidator(), producer: 'sponsor' }, withoutValidators])('is one as well: %j', async (overrides) => {
    const test = await TestChain.open({ ...overrides, coinInterval: 288 })
    await test.mineEmpty(290)
    const parts = await partsOf(test)
    const { spec, clock } = test
    expect(await checkState(each(parts), { spec, verifier, clock })).toMatchObject({ height: 0, dids: 0, coins: 2 })
    const invented = parts.map((one) => {
      return one.kind === partKind.map ? { ...one, bytes: new Uint8Array(33).fill(1) } : one
    })
    expect(await reasonOf(checkState(each(invented), { spec, verifier, clock }))).toContain('genesis has no DIDs')
    await test.close()
  })
})

describe('a file of a state', () => {
  const part = (kind: Part['kind'], ...bytes: number[]) => ({ kind, bytes: Uint8Array.from(bytes) })
  async function fileOf(...parts: Omit<Part, 'number'>[]): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    const all = async function* () {
      yield* parts
    }
    for await (const piece of stateFile(all())) pieces.push(piece)
    return Buffer.from(concat(...pieces))
  }
  const read = async (bytes: Uint8Array, size?: number) => {
    const parts: Part[] = []
    for await (const one of readParts(inPieces(bytes, size))) parts.push(one)
    return parts.map(({ kind, number, bytes: content }) => [kind, number, ...content])
  }

  it('has numbered parts and a list of them', async () => {
    const file = await fileOf(part(1, 5), part(2, 6), part(2, 7), part(4, 1))
    for (const size of [1, 7, 1000]) {
      expect(await read(file, size)).toEqual([
        [1, 0, 5],
        [2, 0, 6],
        [2, 1, 7],
        [4, 0, 1],
      ])
    }
  })

  it('is refused cut at any place, and with any byte changed or more behind it', async () => {
    const file = await fileOf(part(1, 5), part(2, 6))
    for (let at = 0; at < file.length; at++) {
      await expect(read(file.subarray(0, at))).rejects.toThrow(/ends too early|does not begin/)
      const changed = Buffer.from(file)
      changed[at]! ^= 1
      await expect(read(changed)).rejects.toThrow()
    }
    await expect(read(Buffer.concat([file, Buffer.of(0)]))).rejects.toThrow('more behind its end')
  })

  it('is refused with parts out of order, or too large', async () => {
    await expect(read(await fileOf(part(2, 1), part(1, 1)))).rejects.toThrow('does not follow')
    await expect(read(await fileOf(part(1, 1), part(2)))).rejects.toThrow('does not follow')
    const file = await fileOf(part(1, 5))
    file.writeUInt32LE(64 * 1024 * 1024 + 1, 9)
    await expect(read(file)).rejects.toThrow('67108865 bytes does not follow')
    file.writeUInt32LE(64 * 1024 * 1024, 9)
    await expect(read(file)).rejects.toThrow('ends too early')
  })
})
