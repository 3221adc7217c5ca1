import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, equalBytes, fromUtf8, hex, reversed, toHex } from '../../../../src/base/primitives/bytes.js'
import { Writer } from '../../../../src/base/primitives/codec.js'
import { sha256d, zeroHash } from '../../../../src/base/primitives/hash.js'
import { payloadJson } from '../../../../src/base/primitives/payload.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import type { TransactionFields } from '../../../../src/base/primitives/transaction-fields.js'
import { transactionJson } from '../../../../src/base/primitives/transaction-json.js'
import { mutated, mutation, runs, transaction, transactionFields } from '../../../support/builders/arbitraries.js'
import { fieldsOf } from '../../../support/builders/blocks.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { plainForm } from '../../../support/assert/plain-form.js'
import { rounds } from '../../../support/process/thorough.js'
import { scriptAt, signaturesAt } from '../../../../src/base/primitives/transaction-programs.js'

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
const output = { assetId: zeroHash, value: 5n, outputLock: 0, programHash: new Uint8Array(21) }

describe('the transaction codec', () => {
  it('decodes what it encoded', () => {
    fc.assert(
      fc.property(transactionFields, (fields) => {
        const tx = new Transaction(fields)
        const decoded = Transaction.fromBytes(tx.bytes)
        expect(plainForm(fieldsOf(decoded))).toEqual(plainForm(fields))
        expect(decoded.toHex()).toBe(tx.toHex())
        expect(toHex(decoded.unsigned)).toBe(toHex(tx.unsigned))
        expect(toHex(tx.hash)).toBe(toHex(sha256d(tx.unsigned)))
        expect(tx.txid).toBe(toHex(reversed(tx.hash)))
      }),
      runs,
    )
  })

  it('shows the fields of what it read', () => {
    fc.assert(
      fc.property(transaction, (tx) => {
        const read = Transaction.fromBytes(tx.bytes)
        for (const list of ['attributes', 'inputs', 'outputs', 'programs'] as const) {
          expect(inspect(read[list], { maxArrayLength: null })).toBe(
            inspect(fieldsOf(read)[list], { maxArrayLength: null }),
          )
        }
      }),
      runs,
    )
  })

  it.each([300, 300_000])('shows the payload of an operation, of %d characters', (length) => {
    const payload = 'é'.repeat(length)
    const operation = { specification: 's', operation: 'create', payload, proofType: '', verificationMethod: '#k' }
    const tx = new Transaction({ ...bare, payload: { type: 10, operation: { ...operation, signature: 'g' } } })
    const read = Transaction.fromBytes(tx.bytes).payload
    expect(inspect(read)).toBe(inspect(tx.payload))
    expect(JSON.stringify(read)).toBe(JSON.stringify(tx.payload))
    expect(structuredClone(read)).toEqual(tx.payload)
  })

  it('finds again what it forgets', () => {
    fc.assert(
      fc.property(transaction, (tx) => {
        const shown = () => [toHex(tx.unsigned), tx.programs.map((_, i) => [scriptAt(tx, i), signaturesAt(tx, i)])]
        const before = shown()
        tx.forget()
        expect(shown()).toEqual(before)
      }),
      runs,
    )
  })

  it('refuses every truncation and every longer text', () => {
    fc.assert(
      fc.property(transaction, (tx) => {
        for (let length = 0; length < tx.bytes.length; length++) {
          if (codeOf(() => Transaction.fromBytes(tx.bytes.subarray(0, length))) !== 'tx-malformed') return false
        }
        return codeOf(() => Transaction.fromBytes(concat(tx.bytes, Uint8Array.of(0)))) === 'tx-malformed'
      }),
      runs,
    )
  })

  it('answers damage with tx-malformed, or with a transaction of exactly those bytes', () => {
    fc.assert(
      fc.property(transaction, mutation, (tx, changes) => {
        const bytes = mutated(tx.bytes, changes)
        let decoded: Transaction | undefined
        const code = codeOf(() => (decoded = Transaction.fromBytes(bytes)))
        if (decoded === undefined) return code === 'tx-malformed'
        payloadJson(decoded.payload, decoded.payloadVersion)
        return equalBytes(new Transaction(decoded).bytes, bytes)
      }),
      { numRuns: rounds(150, 5000) },
    )
  })

  it('reads 09 as the version and everything else as the type', () => {
    expect(Transaction.fromHex('0902000000000000000000').version).toBe(9)
    expect(Transaction.fromHex('02000000000000000000')).toMatchObject({ version: 0, type: 2 })
    expect(codeOf(() => Transaction.fromHex('0802000000000000000000'))).toBe('tx-malformed')
    expect(codeOf(() => Transaction.fromHex('0909000000000000000000'))).toBe('tx-malformed')
  })

  it('has DID operations in version 0 alone', () => {
    const operation = { specification: 's', operation: 'create', payload: 'p', proofType: '' }
    const payload = { type: 10 as const, operation: { ...operation, verificationMethod: '#k', signature: 'x' } }
    const tx = new Transaction({ ...bare, payload })
    expect(Transaction.fromBytes(tx.bytes).type).toBe(10)
    expect(codeOf(() => Transaction.fromBytes(concat(Uint8Array.of(9), tx.bytes)))).toBe('tx-malformed')
  })

  it.each([
    ['a type without a known layout', '04000000000000000000'],
    ['an unknown payload version of type 6', '06020000000000000000'],
    ['an unknown payload version of type 7', '07030000000000000000'],
    ['an unknown payload version of type 8', '08020000000000000000'],
    ['an unknown attribute usage', '020001010000000000000000'],
    ['a count in a longer form than needed', '0200fd00000000000000000000'],
    ['a count far above what follows', '0200feffffff0000000000000000'],
    ['a count of 2^64 - 1', '0200ffffffffffffffffff000000'],
    ['text that is not hex', '0g'],
    ['an odd number of hex digits', '020'],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(codeOf(() => Transaction.fromHex(text))).toBe('tx-malformed')
  })

  it('refuses strings that are not UTF-8, and keeps a leading BOM', () => {
    const record = (type: Uint8Array) =>
      new Writer().u8(3).u8(0).varbytes(type).varbytes(hex('00')).bytes(hex('000000'))
    const bytes = (type: string) => record(hex(type)).u32(0).u8(0).finish()
    expect(Transaction.fromBytes(bytes('efbbbf61')).payload).toMatchObject({ recordType: '\ufeffa' })
    for (const wrong of ['ff', 'c080', 'eda080', 'f4908080', 'e282']) {
      expect(codeOf(() => Transaction.fromBytes(bytes(wrong)))).toBe('tx-malformed')
    }
  })

  it('refuses version 9 outputs of an unknown type, and program fields above their caps', () => {
    const tx = new Transaction({ ...bare, version: 9, outputs: [{ ...output, extra: { type: 0, payload: hex('') } }] })
    const bytes = Uint8Array.from(tx.bytes)
    bytes[bytes.length - 6] = 8
    expect(codeOf(() => Transaction.fromBytes(bytes))).toBe('tx-malformed')
    const program = (parameter: number, code: number) =>
      new Transaction({
        ...bare,
        programs: [{ parameter: new Uint8Array(parameter), code: new Uint8Array(code) }],
      }).bytes
    expect(Transaction.fromBytes(program(20_000, 10_000)).programs).toHaveLength(1)
    expect(codeOf(() => Transaction.fromBytes(program(20_001, 0)))).toBe('tx-malformed')
    expect(codeOf(() => Transaction.fromBytes(program(0, 10_001)))).toBe('tx-malformed')
  })

  it('takes 65535 outputs and not one more', () => {
    const many = (count: number) => new Transaction({ ...bare, outputs: Array.from({ length: count }, () => output) })
    expect(Transaction.fromBytes(many(65535).bytes).outputs).toHaveLength(65535)
    expect(codeOf(() => Transaction.fromBytes(many(65536).bytes))).toBe('tx-malformed')
  })

  it('will not write an output whose extra does not fit the version', () => {
    const extra = { type: 0, payload: hex('') }
    expect(() => new Transaction({ ...bare, version: 9, outputs: [output] })).toThrow(TypeError)
    expect(() => new Transaction({ ...bare, outputs: [{ ...output, extra }] })).toThrow(TypeError)
  })
})

describe('transactions as JSON', () => {
  const hashText = '00'.repeat(31) + 'aa'
  const sideHash = hex(hashText)

  it('carry their place on the chain', () => {
    const place = { blockhash: 'ab', confirmations: 7, blocktime: 99 }
    const json = transactionJson(new Transaction(bare), place)
    expect(json).toMatchObject({ blockhash: 'ab', confirmations: 7, time: 99, blocktime: 99, size: 10, programs: [] })
  })

  it.each([
    [{ type: 0, data: fromUtf8('hello') }, 4, { CoinbaseData: 'hello' }],
    [
      {
        type: 1,
        name: 'A',
        description: 'B',
        precision: 8,
        assetType: 0,
        recordType: 1,
        amount: 150_000_000n,
        controller: hex('01' + '00'.repeat(19) + '02'),
      },
      0,
      {
        Asset: { Name: 'A', Description: 'B', Precision: 8, AssetType: 0, RecordType: 1 },
        Amount: '1.50000000',
        Controller: '02' + '00'.repeat(19) + '01',
      },
    ],
    [{ type: 2 }, 0, {}],
    [{ type: 3, recordType: 't', content: hex('beef') }, 0, { Type: 't', Content: 'beef' }],
    [
      { type: 5, sideBlockHash: sideHash, sideGenesisHash: sideHash, blockHeight: 3, signedData: new Uint8Array(64) },
      0,
      { BlockHeight: 3, SideBlockHash: hashText, SideGenesisHash: hashText, SignedData: '00'.repeat(64) },
    ],
    [
      { type: 6, merkleProof: hex('01'), mainChainTransaction: hex('02') },
      0,
      { Proof: '01', MainChainTransaction: '02' },
    ],
    [
      { type: 6, merkleProof: hex(''), mainChainTransaction: hex(''), mainChainTxHash: sideHash },
      1,
      { mainchaintxhash: 'aa' + '00'.repeat(31) },
    ],
    [
      { type: 7, blockHeight: 4, genesisBlockAddress: 'X', sideTransactionHashes: [sideHash], signers: [] },
      0,
      { BlockHeight: 4, GenesisBlockAddress: 'X', SideChainTransactionHashes: [hashText] },
    ],
    [{ type: 7, blockHeight: 0, genesisBlockAddress: '', sideTransactionHashes: [], signers: [] }, 1, {}],
    [
      { type: 7, blockHeight: 0, genesisBlockAddress: '', sideTransactionHashes: [], signers: [1, 2] },
      2,
      { Signers: [1, 2] },
    ],
    [
      { type: 8, assets: [{ address: 'E', index: 1, amount: 90n }] },
      0,
      { CrossChainAddresses: ['E'], OutputIndexes: [1], CrossChainAmounts: [90] },
    ],
    [
      {
        type: 10,
        operation: {
          specification: 's',
          operation: 'update',
          previousTxid: 'ff',
          payload: 'p',
          proofType: 'ECDSAsecp256r1',
          verificationMethod: '#primary',
          signature: 'x',
        },
      },
      0,
      {
        header: { specification: 's', operation: 'update', previousTxid: 'ff' },
        payload: 'p',
        proof: { type: 'ECDSAsecp256r1', verificationMethod: '#primary', signature: 'x' },
      },
    ],
    [
      {
        type: 10,
        operation: {
          specification: 's',
          operation: 'deactivate',
          payload: 'did',
          proofType: '',
          verificationMethod: '#recovery',
          signature: 'x',
        },
      },
      0,
      {
        header: { specification: 's', operation: 'deactivate' },
        payload: 'did',
        proof: { verificationMethod: '#recovery', signature: 'x' },
      },
    ],
  ] as const)('show payload %#', (payload, version, expected) => {
    expect(payloadJson(payload, version)).toStrictEqual(expected)
  })
})
