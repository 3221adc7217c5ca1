import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import {
  auxPowBytes,
  mergedMiningMagic,
  parentHash,
  readAuxPow,
  soloAuxPow,
} from '../../../../src/base/primitives/auxpow.js'
import { Block, maxBlockTransactions, transactionRoot, witnessRoot } from '../../../../src/base/primitives/block.js'
import { concat, equalBytes, toHex } from '../../../../src/base/primitives/bytes.js'
import { decodeAll, Writer } from '../../../../src/base/primitives/codec.js'
import { sha256d, zeroHash } from '../../../../src/base/primitives/hash.js'
import { Header, headerSize } from '../../../../src/base/primitives/header.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import type { TransactionFields } from '../../../../src/base/primitives/transaction-fields.js'
import {
  auxPow,
  block,
  hash,
  header,
  mutated,
  mutation,
  runs,
  transaction,
  u32,
} from '../../../support/builders/arbitraries.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { plainForm } from '../../../support/assert/plain-form.js'
import { rounds } from '../../../support/process/thorough.js'

const bare: TransactionFields = {
  version: 0,
  payloadVersion: 0,
  payload: { type: 2 },
  attributes: [],
  inputs: [],
  outputs: [],
  lockTime: 0,
  programs: [],
}

const malformed = (reason: string) => new RuleError('block-malformed', reason)
const readAll = (bytes: Uint8Array) => decodeAll(bytes, readAuxPow, malformed)

describe('headers', () => {
  it('come back as they were, 84 bytes long', () => {
    fc.assert(
      fc.property(header, (value) => {
        const decoded = decodeAll(value.bytes, Header.read, malformed)
        expect(plainForm(decoded)).toEqual(plainForm(value))
        expect(value.bytes).toHaveLength(headerSize)
        expect(toHex(decoded.hash)).toBe(toHex(sha256d(value.bytes)))
      }),
      runs,
    )
  })

  it('hold on to nothing of what they were read from', () => {
    const [some] = fc.sample(header, 1) as [Header]
    const { bytes, previous, merkleRoot, hash: own } = decodeAll(some.bytes, Header.read, malformed)
    for (const { buffer } of [bytes, previous, merkleRoot]) expect(buffer.byteLength).toBe(headerSize)
    expect(own.buffer.byteLength).toBe(32)
  })
})

describe('AuxPows', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(auxPow, (value) => {
        const written = auxPowBytes(value)
        expect(plainForm(readAll(written))).toEqual(plainForm(value))
        for (let length = 0; length < written.length; length++) {
          if (codeOf(() => readAll(written.subarray(0, length))) !== 'block-malformed') return false
        }
        return codeOf(() => readAll(concat(written, Uint8Array.of(0)))) === 'block-malformed'
      }),
      runs,
    )
  })

  it('of a block that is its own parent carry nothing but the commitment', () => {
    fc.assert(
      fc.property(hash, u32, u32, (blockHash, time, nonce) => {
        const solo = soloAuxPow(blockHash, time, nonce)
        expect(toHex(solo.coinbase.scripts[0] as Uint8Array)).toBe(
          `${toHex(mergedMiningMagic)}${toHex(blockHash)}0100000000000000`,
        )
        expect(solo.coinbase.bytes).toHaveLength(95)
        expect(toHex(solo.parent.merkleRoot)).toBe(toHex(sha256d(solo.coinbase.bytes)))
        expect(solo.parent).toMatchObject({ version: 0x7fffffff, time, nonce, bits: 0 })
        const written = auxPowBytes(solo)
        expect(written).toHaveLength(217)
        expect(plainForm(readAll(written))).toEqual(plainForm(solo))
        expect(toHex(parentHash(solo))).toBe(toHex(sha256d(written.subarray(-80))))
      }),
      runs,
    )
  })
})

describe('blocks', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(block, (value) => {
        const written = value.bytes
        const decoded = Block.fromBytes(written)
        expect(toHex(decoded.bytes)).toBe(toHex(written))
        expect(plainForm(decoded.header)).toEqual(plainForm(value.header))
        expect(plainForm(decoded.auxPow)).toEqual(plainForm(value.auxPow))
        expect(decoded.transactions.map((tx) => tx.toHex())).toEqual(value.transactions.map((tx) => tx.toHex()))
        expect(Block.fromHex(value.toHex()).hash).toBe(value.hash)
        const bodies = value.transactions.reduce((sum, tx) => sum + tx.bytes.length, 0)
        expect(decoded.limitedSize).toBe(88 + bodies)
        expect(written).toHaveLength(89 + bodies + auxPowBytes(value.auxPow).length)
      }),
      runs,
    )
  })

  it('are refused cut off anywhere, and with anything after them', () => {
    fc.assert(
      fc.property(block, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (value, place) => {
        const written = value.bytes
        const cut = written.subarray(0, Math.floor(place * written.length))
        expect(codeOf(() => Block.fromBytes(cut))).toBe('block-malformed')
        expect(codeOf(() => Block.fromBytes(concat(written, Uint8Array.of(1))))).toBe('block-malformed')
      }),
      runs,
    )
  })

  it('are refused or exact after any damage', () => {
    fc.assert(
      fc.property(block, mutation, (value, changes) => {
        const bytes = mutated(value.bytes, changes)
        let decoded: Block | undefined
        const code = codeOf(() => (decoded = Block.fromBytes(bytes)))
        if (decoded === undefined) return code === 'block-malformed' || code === 'block-transaction-count'
        return equalBytes(decoded.bytes, bytes)
      }),
      { numRuns: rounds(150, 3000) },
    )
  })

  const head = new Header({
    version: 0,
    previous: zeroHash,
    merkleRoot: zeroHash,
    time: 1,
    bits: 2,
    nonce: 3,
    height: 4,
  })
  const work = soloAuxPow(head.hash, 1)
  it('may end in the smallest transaction there is', () => {
    const smallest = new Transaction(bare)
    expect(smallest.bytes).toHaveLength(10)
    expect(Block.fromBytes(new Block(head, work, [smallest, smallest]).bytes).transactions).toHaveLength(2)
  })

  it('want 01 after the AuxPow, and hex', () => {
    const bytes = Uint8Array.from(new Block(head, work, []).bytes)
    expect(bytes.at(-5)).toBe(1)
    bytes[bytes.length - 5] = 0
    expect(codeOf(() => Block.fromBytes(bytes))).toBe('block-malformed')
    expect(codeOf(() => Block.fromHex('0'))).toBe('block-malformed')
  })

  it('are not read further when they count too many transactions', () => {
    const start = new Block(head, work, []).bytes.subarray(0, -4)
    const counting = (count: number) => concat(start, new Writer().u32(count).finish())
    expect(codeOf(() => Block.fromBytes(counting(maxBlockTransactions)))).toBe('block-malformed')
    expect(codeOf(() => Block.fromBytes(counting(maxBlockTransactions + 1)))).toBe('block-transaction-count')
    expect(codeOf(() => Block.fromBytes(counting(0xffffffff)))).toBe('block-transaction-count')
  })
})

describe('roots', () => {
  it('cover ids, and full bytes with zeros for the coinbase', () => {
    expect(toHex(witnessRoot([new Transaction(bare)]))).toBe(toHex(zeroHash))
    fc.assert(
      fc.property(transaction, transaction, (a, b) => {
        expect(toHex(transactionRoot([a, b]))).toBe(toHex(sha256d(concat(a.hash, b.hash))))
        expect(toHex(witnessRoot([a, b]))).toBe(toHex(sha256d(concat(zeroHash, sha256d(b.bytes)))))
        const signed = new Transaction({ ...b, programs: [{ parameter: zeroHash, code: zeroHash }, ...b.programs] })
        expect(toHex(transactionRoot([a, signed]))).toBe(toHex(transactionRoot([a, b])))
        expect(toHex(witnessRoot([a, signed]))).not.toBe(toHex(witnessRoot([a, b])))
      }),
      runs,
    )
  })
})
