import { describe, expect, it } from 'vitest'
import {
  blockSanitySteps,
  bodyMatchSteps,
  checkTransactionSanity,
  transactionSanitySteps,
} from '../../../../src/ledger/consensus/sanity.js'
import { transactionWork } from '../../../../src/ledger/consensus/signature-work.js'
import { typeRulesOf } from '../../../../src/ledger/consensus/types/all-types.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { hex } from '../../../../src/base/primitives/bytes.js'
import { multisigCode, parameterOf, standardProgram } from '../../../../src/base/primitives/program.js'
import { coinbaseInput } from '../../../../src/base/primitives/input.js'
import { finish, type Steps } from '../../../../src/base/primitives/steps.js'
import { attributeUsage, Transaction } from '../../../../src/base/primitives/transaction.js'
import { craft, craftBlock, fieldsOf, genesisCoin } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { testPublicKey } from '../../../support/builders/spec.js'

const test = await TestChain.open()
const context = test.chain.sanity
const value = 99_999_000_000n
const transfer = craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value }], [10])
const signature = new Uint8Array(64).fill(1)
/** Runs a check in steps to its end. */
function run(steps: Steps): void {
  while (steps.next().done !== true);
}

/** Checks the transfer with these changes, at once and in steps. */
function sanity(changes: Partial<Transaction>): string | undefined {
  const tx = new Transaction({ ...fieldsOf(transfer), ...changes })
  const code = codeOf(() => checkTransactionSanity(tx, context))
  expect(codeOf(() => finish(transactionSanitySteps(tx, context)))).toBe(code)
  return code
}

describe('a transaction by itself', () => {
  it('may be of the types that a chain accepts', async () => {
    const ada = holder()
    const operation = await test.carry(ada.create(), ada.did)
    expect(codeOf(() => checkTransactionSanity(operation, context))).toBe(undefined)
    expect(sanity({ payload: { type: 3, recordType: 'text', content: new Uint8Array(9) } })).toBe(undefined)
    expect(sanity({ version: 9, outputs: transfer.outputs.map(withExtra(0)) })).toBe(undefined)
    expect(sanity({ version: 9, outputs: transfer.outputs.map(withExtra(1)) })).toBe('tx-output-type')
    expect(sanity({ payload: { type: 0, data: new Uint8Array(0) } })).toBe('tx-type')
    expect(sanity({ payload: { type: 1, ...test.spec.asset } })).toBe('tx-type')
    expect(sanity({ payloadVersion: 1 })).toBe('tx-payload-version')
  })

  const withExtra = (type: number) => (output: Transaction['outputs'][number]) => {
    return { ...output, extra: { type, payload: new Uint8Array(0) } }
  }

  it('has amounts that add up to no more than there can be', () => {
    const [output] = transfer.outputs
    if (output === undefined) throw new Error('no output')
    const { maxMoney } = test.spec
    expect(sanity({ outputs: [{ ...output, value: maxMoney }] })).toBe(undefined)
    expect(sanity({ outputs: [{ ...output, value: maxMoney + 1n }] })).toBe('tx-output-value')
    expect(
      sanity({
        outputs: [
          { ...output, value: maxMoney },
          { ...output, value: 1n },
        ],
      }),
    ).toBe('tx-output-value')
    expect(sanity({ outputs: [{ ...output, value: (1n << 63n) - 1n }] })).toBe('tx-output-value')
    expect(
      sanity({
        outputs: [
          { ...output, value: maxMoney },
          { ...output, value: -1n },
        ],
      }),
    ).toBe('tx-output-value')
  })

  it('pays the accepted prefixes alone', () => {
    const [output] = transfer.outputs
    if (output === undefined) throw new Error('no output')
    for (let prefix = 0; prefix < 256; prefix++) {
      const programHash = Uint8Array.of(prefix, ...output.programHash.subarray(1))
      const wanted = [0x21, 0x12, 0x67].includes(prefix) ? undefined : 'tx-output-address'
      expect(sanity({ outputs: [{ ...output, programHash }] })).toBe(wanted)
    }
  })

  it('has attributes within their bounds', () => {
    const memo = (size: number) => ({ usage: attributeUsage.memo, data: new Uint8Array(size) })
    const script = (data: Uint8Array) => ({ usage: attributeUsage.script, data })
    expect(sanity({ attributes: Array.from({ length: 16 }, () => memo(1024)) })).toBe(undefined)
    expect(sanity({ attributes: Array.from({ length: 17 }, () => memo(1)) })).toBe('tx-attribute')
    expect(sanity({ attributes: [script(Uint8Array.of(0x21, ...new Uint8Array(20)))] })).toBe(undefined)
    expect(sanity({ attributes: [script(Uint8Array.of(0x21, ...new Uint8Array(19)))] })).toBe('tx-attribute')
    expect(sanity({ attributes: [script(Uint8Array.of(0x4b, ...new Uint8Array(20)))] })).toBe('tx-attribute')
  })

  it('has programs of the accepted forms, with as many signatures as they take', () => {
    const keys = [1, 2, 3].map(testPublicKey)
    const code = multisigCode(2, keys)
    const signed = (count: number) => ({ code, parameter: parameterOf(new Array<Uint8Array>(count).fill(signature)) })
    expect([1, 2, 3, 4].map((count) => sanity({ programs: [signed(count)] }))).toEqual([
      'tx-program-form',
      undefined,
      undefined,
      'tx-program-form',
    ])
    const standard = standardProgram(testPublicKey(1), signature)
    const trailer = (byte: number) => Uint8Array.of(...standard.code.subarray(0, 34), byte)
    expect(sanity({ programs: [{ ...standard, code: trailer(0xad) }] })).toBe(undefined)
    expect(sanity({ programs: [{ ...standard, code: trailer(0xaf) }] })).toBe('tx-program-form')
    expect(sanity({ programs: [{ ...standard, parameter: new Uint8Array(0) }] })).toBe('tx-program-form')
    expect(sanity({ programs: [] })).toBe('tx-program-count')
    expect(sanity({ programs: [{ ...standard, code: hex('51') }] })).toBe('tx-program-form')
  })

  it('keeps each rule in all of its parts, however many there are', () => {
    const [output, input, program] = [transfer.outputs[0], transfer.inputs[0], transfer.programs[0]]
    if (output === undefined || input === undefined || program === undefined) throw new Error('an empty transfer')
    const odd = { ...output, programHash: Uint8Array.of(0x4b, ...output.programHash.subarray(1)) }
    for (const count of [1, 8, 9, 16, 17, 31, 40]) {
      const outputs = Array.from({ length: count }, () => ({ ...output, value: 1n }))
      const inputs = Array.from({ length: count }, (_, index) => ({ ...input, index }))
      const programs = Array.from({ length: count }, () => program)
      expect(sanity({ outputs, inputs, programs })).toBe(undefined)
      expect(sanity({ outputs: [...outputs, odd] })).toBe('tx-output-address')
      expect(sanity({ inputs: [...inputs, inputs[0] as typeof input] })).toBe('tx-input-repeated')
      const unsigned = { ...program, parameter: new Uint8Array(0) }
      expect(sanity({ programs: [...programs, unsigned] })).toBe('tx-program-form')
    }
  })

  it('spends no coinbase outpoint, has a part that is signed of other than 64 bytes, and fits into a block', () => {
    const [input] = transfer.inputs
    if (input === undefined) throw new Error('no input')
    expect(sanity({ inputs: [input, coinbaseInput] })).toBe('tx-input-coinbase')
    expect(sanity({ inputs: [] })).toBe('tx-input-count')
    const record = (size: number) => ({ type: 3, recordType: '', content: new Uint8Array(size) }) as const
    const bare = { attributes: [], outputs: [], inputs: [] }
    const { unsignedSize } = new Transaction({ ...fieldsOf(transfer), ...bare, payload: record(0) })
    // 64 bytes could be two hashes of a merkle tree.
    for (const size of [63, 64, 65]) {
      const code = sanity({ ...bare, payload: record(size - unsignedSize) })
      expect(code).toBe(size === 64 ? 'tx-ambiguous-size' : 'tx-input-count')
    }
    const around = new Transaction({ ...fieldsOf(transfer), payload: record(100_000) }).bytes.length - 100_000
    const most = test.spec.limits.blockSize
    expect(sanity({ payload: record(most - around) })).toBe(undefined)
    expect(sanity({ payload: record(most - around + 1) })).toBe('tx-size')
  })

  it('costs one check a key and n times k for a multisig, and what its type asks', () => {
    const keys = [1, 2, 3, 4].map(testPublicKey)
    const multisig = { code: multisigCode(2, keys), parameter: parameterOf([signature, signature, signature]) }
    const programs = [standardProgram(testPublicKey(1), signature), multisig]
    const cost = 1 + 4 * 3
    const hashedBytes = cost * transfer.unsigned.length
    expect(transactionWork(new Transaction({ ...fieldsOf(transfer), programs }), 0)).toEqual({
      cost,
      keys: 5,
      hashedBytes,
    })
    expect(transactionWork(transfer, 0)).toEqual({ cost: 1, keys: 1, hashedBytes: transfer.unsigned.length })
    expect(typeRulesOf(transfer).cost).toBe(0)
  })
})

describe('a block by itself', () => {
  const block = craftBlock(test.chain, { transactions: [transfer] })
  const matches = (transactions: readonly Transaction[]) =>
    codeOf(() => run(bodyMatchSteps(new Block(block.header, block.auxPow, transactions), context)))

  it('has the body that its header and its coinbase name', () => {
    const [coinbase] = block.transactions as [Transaction]
    expect(matches(block.transactions)).toBe(undefined)
    expect(matches([])).toBe('block-transaction-count')
    expect(matches([coinbase])).toBe('block-merkle-root')
    expect(matches([transfer, coinbase])).toBe('block-merkle-root')
    // An odd last transaction counts twice in the root, so twice the same must not pass for once.
    const odd = craftBlock(test.chain, { transactions: [transfer, craftOther()] })
    const twice = [...odd.transactions, odd.transactions[2] as Transaction]
    expect(codeOf(() => run(bodyMatchSteps(new Block(odd.header, odd.auxPow, twice), context)))).toBe(
      'block-duplicate-transaction',
    )
    const unsigned = new Transaction({ ...fieldsOf(transfer), programs: [] })
    expect(matches([coinbase, unsigned])).toBe('coinbase-witness-root')
    const programmed = new Transaction({ ...fieldsOf(coinbase), programs: transfer.programs })
    expect(matches([programmed, transfer])).toBe('coinbase-program')
  })

  function craftOther(): Transaction {
    return craft(test.spec, [genesisCoin(test.chain, 1)], [{ to: 31, value }], [11])
  }

  it('has programs with no more keys, and no more bytes to hash, than it may', () => {
    const keys = Array.from({ length: 16 }, (_, i) => testPublicKey(i))
    const multisig = (signatures: number, changes: Partial<Transaction> = {}) => {
      const parameter = parameterOf(Array.from({ length: signatures }, () => signature))
      const programs = [{ code: multisigCode(signatures, keys), parameter }]
      return new Transaction({ ...fieldsOf(transfer), programs, ...changes })
    }
    const withMany = (tx: Transaction, count: number) => {
      const [coinbase] = block.transactions as [Transaction]
      const transactions = [coinbase, ...Array.from({ length: count }, () => tx)]
      return codeOf(() => run(blockSanitySteps(new Block(block.header, block.auxPow, transactions), context)))
    }
    expect(withMany(multisig(1), 1000)).toBe(undefined)
    expect(withMany(multisig(1), 1001)).toBe('block-signature-work')
    // Each of 256 verifications hashes all of it.
    const payload = { type: 3, recordType: '', content: new Uint8Array(1_000_000) } as const
    expect(withMany(multisig(16, { payload }), 4)).toBe(undefined)
    expect(withMany(multisig(16, { payload }), 5)).toBe('block-signature-work')
  })

  it('has one coinbase, the first, which is of the form that a coinbase has', () => {
    const [coinbase] = block.transactions as [Transaction]
    const codeWith = (changes: Partial<Transaction>, others: readonly Transaction[] = [transfer]) => {
      const transactions = [new Transaction({ ...fieldsOf(coinbase), ...changes }), ...others]
      return codeOf(() => run(blockSanitySteps(new Block(block.header, block.auxPow, transactions), context)))
    }
    const [output] = coinbase.outputs
    if (output === undefined) throw new Error('no output')
    const { maxMoney } = test.spec
    const memo = (size: number) => ({ usage: attributeUsage.memo, data: new Uint8Array(size) })
    const cases: readonly (readonly [string | undefined, Partial<Transaction>])[] = [
      [undefined, {}],
      ['coinbase-input', { inputs: [] }],
      ['coinbase-input', { inputs: [coinbaseInput, coinbaseInput] }],
      ['coinbase-input', { inputs: [{ ...coinbaseInput, index: 0 }] }],
      ['coinbase-input', { inputs: [{ ...coinbaseInput, txid: new Uint8Array(32).fill(1) }] }],
      ['coinbase-input', { inputs: [{ ...coinbaseInput, sequence: 0 }] }],
      ['tx-output-count', { outputs: [] }],
      ['tx-output-asset', { outputs: [{ ...output, assetId: new Uint8Array(32) }] }],
      ['tx-output-value', { outputs: [{ ...output, value: maxMoney + 1n }] }],
      ['tx-attribute', { attributes: [memo(1025)] }],
      ['coinbase-program', { programs: transfer.programs }],
      ['coinbase-payload-version', { payloadVersion: 3 }],
      ['coinbase-height', { lockTime: 0 }],
      ['coinbase-height', { lockTime: 2 }],
    ]
    for (const [code, changes] of cases) expect(codeWith(changes), JSON.stringify(code)).toBe(code)
    expect(codeWith({}, [transfer, coinbase])).toBe('block-coinbase-position')
  })

  it('has no more transactions and bytes than it may', () => {
    const { limits } = test.spec
    const codeFor = (changed: Partial<typeof limits>) => {
      const spec = { ...test.spec, limits: { ...limits, ...changed } }
      return codeOf(() => run(blockSanitySteps(block, { ...context, spec })))
    }
    expect(codeFor({ blockTransactions: 2 })).toBe(undefined)
    expect(codeFor({ blockTransactions: 1 })).toBe('block-transaction-count')
    expect(codeFor({ blockSize: block.limitedSize })).toBe(undefined)
    expect(codeFor({ blockSize: block.limitedSize - 1 })).toBe('block-size')
    expect(codeFor({ transactionCost: 1, blockCost: 1 })).toBe(undefined)
    expect(codeFor({ transactionCost: 0 })).toBe('tx-signature-cost')
    expect(codeFor({ blockCost: 0 })).toBe('block-signature-cost')
  })

  it('is named by the first transaction that breaks a rule', () => {
    const bad = new Transaction({ ...fieldsOf(transfer), payloadVersion: 1 })
    const broken = craftBlock(test.chain, { transactions: [bad] })
    expect(codeOf(() => run(blockSanitySteps(broken, context)))).toBe('tx-payload-version')
    expect(codeOf(() => run(blockSanitySteps(block, context)))).toBe(undefined)
  })
})
