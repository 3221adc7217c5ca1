import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockBudget } from '../../../../src/ledger/consensus/block-budget.js'
import { isFinal } from '../../../../src/ledger/consensus/coin-rules.js'
import { BlockConnector, checkTransaction } from '../../../../src/ledger/consensus/connect.js'
import { type Coin, StateOverlay, type StateView } from '../../../../src/ledger/consensus/ledger.js'
import { noWork } from '../../../../src/ledger/consensus/signature-work.js'
import { sign } from '../../../../src/base/crypto/keys.js'
import { holds } from '../../../../src/base/crypto/verify.js'
import { prefix, programHash } from '../../../../src/base/primitives/address.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import { leastFee } from '../../../../src/base/primitives/fees.js'
import { multisigCode, parameterOf, sortPrograms, standardProgram } from '../../../../src/base/primitives/program.js'
import { paramsAt, parseSpec } from '../../../../src/base/primitives/spec.js'
import { outpointKey } from '../../../../src/base/primitives/input.js'
import { attributeUsage, Transaction } from '../../../../src/base/primitives/transaction.js'
import type { TransactionFields } from '../../../../src/base/primitives/transaction-fields.js'
import {
  craft,
  craftBlock,
  type CraftedInput,
  fieldsOf,
  outputOf,
  personHash,
} from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { testKey, testPublicKey, testSpec } from '../../../support/builders/spec.js'
import { rounds } from '../../../support/process/thorough.js'

const test = await TestChain.open()
const context = { ...test.chain.sanity, height: 100 }
const fee = 1000n

/** Coins to spend, each under its own number. */
function ledger(...coins: Partial<Coin>[]): StateView {
  const plain = { height: 1, coinbase: false, value: 10_000n, outputLock: 0, owner: mapKey(personHash(10)) }
  const rows = new Map(coins.map((coin, index) => [outpointKey(input(index)), { ...plain, ...coin }]))
  return {
    coin: (outpoint) => rows.get(outpointKey(outpoint)),
    did: () => undefined,
    issuer: () => undefined,
    credential: () => undefined,
    otherCredential: () => undefined,
    provedHeight: () => undefined,
  }
}

const input = (index: number, sequence = 0xffffffff): CraftedInput & { sequence: number } => {
  return { txid: new Uint8Array(32).fill(9), index, sequence }
}

const check = (tx: Transaction, view: StateView, height = 100) =>
  checkTransaction(tx, new StateOverlay(view), { ...context, height })

const spend = (
  inputs: readonly CraftedInput[],
  value: bigint,
  signers = [10],
  changes: Partial<TransactionFields> = {},
) => craft(test.spec, inputs, [{ to: 30, value }], signers, changes)

describe('finality', () => {
  it('is a lockTime of zero or passed, or final sequences', () => {
    const at = (lockTime: number, ...sequences: number[]) =>
      isFinal(
        spend(
          sequences.map((sequence, i) => input(i, sequence)),
          1n,
          [10],
          { lockTime },
        ),
        100,
      )
    expect(at(0, 0)).toBe(true)
    expect(at(99, 0)).toBe(true)
    expect(at(100, 0)).toBe(false)
    expect(at(100, 0xffffffff, 0xffffffff)).toBe(true)
    expect(at(100, 0xffffffff, 0xfffffffe)).toBe(false)
    expect(at(0xffffffff, 0xffff)).toBe(false)
  })
})

describe('spending', () => {
  it('a locked output needs the sequence, and a lockTime from the lock on that is passed', () => {
    const view = ledger({ outputLock: 50 })
    const code = (lockTime: number, sequence: number) =>
      codeOf(() => check(spend([input(0, sequence)], 1000n, [10], { lockTime }), view))
    expect(code(50, 0xfffffffe)).toBe(undefined)
    expect(code(99, 0xfffffffe)).toBe(undefined)
    expect(code(49, 0xfffffffe)).toBe('tx-output-locked')
    expect(code(100, 0xfffffffe)).toBe('tx-not-final')
    expect(code(100, 0xffffffff)).toBe('tx-output-locked')
    expect(code(50, 0xffffffff)).toBe('tx-output-locked')
    expect(code(50, 0)).toBe('tx-output-locked')
  })

  it('a coinbase output takes its time, except that of genesis', () => {
    const code = (height: number, coinbase = true) =>
      codeOf(() => check(spend([input(0)], 1000n), ledger({ height, coinbase })))
    expect(code(98)).toBe(undefined)
    expect(code(99)).toBe('tx-immature')
    expect(code(99, false)).toBe(undefined)
    expect(codeOf(() => check(spend([input(0)], 1000n), ledger({ height: 0, coinbase: true }), 1))).toBe(undefined)
  })

  it('pays the least fee for the size of the unsigned part, to the unit', () => {
    const params = paramsAt(test.spec, 100)
    const size = spend([input(0)], 1000n).unsigned.length
    const least = leastFee(params.fees, { unsignedSize: size })
    expect(least).toBe(100n + BigInt(size))
    expect(check(spend([input(0)], 10_000n - least), ledger({})).fee).toBe(least)
    expect(codeOf(() => check(spend([input(0)], 10_001n - least), ledger({})))).toBe('tx-fee')
    expect(codeOf(() => check(spend([input(0)], 10_001n), ledger({})))).toBe('tx-balance')
  })

  it('needs one program for each address that is spent or named, and no other', () => {
    const view = ledger({}, {}, { owner: mapKey(personHash(11)) })
    const attributes = [{ usage: attributeUsage.script, data: personHash(12) }]
    const code = (inputs: number[], signers: number[], changes = {}) =>
      codeOf(() =>
        check(
          spend(
            inputs.map((i) => input(i)),
            1000n,
            signers,
            changes,
          ),
          view,
        ),
      )
    expect(code([0, 1], [10])).toBe(undefined)
    expect(code([0, 2], [10, 11])).toBe(undefined)
    expect(code([0, 2], [10])).toBe('tx-program-mismatch')
    expect(code([0], [10, 11])).toBe('tx-program-mismatch')
    expect(code([0, 1], [10, 10])).toBe('tx-program-mismatch')
    expect(code([0, 2], [10, 10])).toBe('tx-program-mismatch')
    expect(code([0], [10, 12], { attributes })).toBe(undefined)
    expect(code([0], [10], { attributes })).toBe('tx-program-mismatch')
  })

  it('matches trailer and prefix: the same key has other addresses', () => {
    const standard = standardProgram(testPublicKey(10), new Uint8Array(64))
    const didCode = Uint8Array.of(...standard.code.subarray(0, 34), 0xad)
    const view = ledger({ owner: mapKey(programHash(prefix.did, didCode)) })
    const bare = spend([input(0)], 1000n, [])
    const signed = (code: Uint8Array) => {
      const parameter = parameterOf([sign(bare.unsigned, testKey(10))])
      return new Transaction({ ...fieldsOf(bare), programs: [{ code, parameter }] })
    }
    const connected = check(signed(didCode), view)
    expect(connected.checks.every(holds)).toBe(true)
    expect(codeOf(() => check(signed(standard.code), view))).toBe('tx-program-mismatch')
    // A hash over the right code, but under the wrong prefix.
    const wrong = ledger({ owner: mapKey(programHash(prefix.standard, didCode)) })
    expect(codeOf(() => check(signed(didCode), wrong))).toBe('tx-program-mismatch')
  })

  it('wants every signature of a multisig to hold, each under a key of its own', () => {
    const code = multisigCode(2, [11, 12, 13].map(testPublicKey))
    const view = ledger({ owner: mapKey(programHash(prefix.multisig, code)) })
    const bare = spend([input(0)], 1000n, [])
    const valid = (...persons: number[]) => {
      const parameter = parameterOf(persons.map((person) => sign(bare.unsigned, testKey(person))))
      const programs = sortPrograms([{ code, parameter }])
      const { checks, work } = check(new Transaction({ ...fieldsOf(bare), programs }), view)
      expect(work.cost).toBe(3 * persons.length)
      return checks.every(holds)
    }
    expect(valid(11, 12)).toBe(true)
    expect(valid(13, 11)).toBe(true)
    expect(valid(12, 13, 11)).toBe(true)
    expect(valid(11, 11)).toBe(false)
    expect(valid(11, 14)).toBe(false)
    expect(valid(11, 12, 14)).toBe(false)
  })

  it('leaves the state as it is until it is applied', () => {
    const state = new StateOverlay(ledger({}))
    const tx = spend([input(0)], 1000n)
    const connectable = checkTransaction(tx, state, context)
    expect(state.coin(input(0))).toBeDefined()
    expect(state.coin(outputOf(tx))).toBe(undefined)
    connectable.apply()
    expect(state.coin(input(0))).toBe(undefined)
    expect(state.coin(outputOf(tx))).toMatchObject({ value: 1000n, height: 100, coinbase: false })
  })

  it('moves many coins in steps of few, and the same at once', () => {
    for (const count of [1, 8, 9, 60]) {
      const view = ledger(...Array.from({ length: count }, () => ({})))
      const inputs = Array.from({ length: count }, (_, index) => input(index))
      const outputs = Array.from({ length: count }, () => ({ to: 30, value: 9000n }))
      const tx = craft(test.spec, inputs, outputs, [10])
      const [whole, divided] = [new StateOverlay(view), new StateOverlay(view)]
      checkTransaction(tx, whole, context).apply()
      let [moved, most] = [0, 0]
      for (const steps = checkTransaction(tx, divided, context).applySteps(); steps.next().done !== true;) {
        most = Math.max(most, divided.coins.size - moved)
        moved = divided.coins.size
      }
      expect(most).toBeLessThanOrEqual(32)
      expect(moved > 0).toBe(count > 16)
      for (const state of [whole, divided]) {
        expect([...state.coins.spent.keys()]).toEqual(inputs.map(outpointKey))
        expect([...state.coins.created.values()]).toHaveLength(count)
      }
      expect([...divided.coins.created]).toEqual([...whole.coins.created])
    }
  })
})

describe('a block', () => {
  const rich = 100_000_000_000n

  it('connects step by step and adds up', () => {
    const first = craft(
      test.spec,
      [{ txid: (test.chain.genesis.transactions[0] as Transaction).hash, index: 0 }],
      [
        { to: 30, value: rich - fee },
        { to: 31, value: 0n },
      ],
      [10],
    )
    const second = craft(test.spec, [outputOf(first)], [{ to: 31, value: rich - 3n * fee }], [30])
    const block = craftBlock(test.chain, { transactions: [first, second], fees: 3n * fee })
    const connector = new BlockConnector(block, test.chain.state, test.chain.sanity)
    const steps = [connector.step(), connector.step(), connector.step(), connector.step()]
    expect(steps.map((connected) => connected?.fee)).toEqual([fee, 2n * fee, undefined, undefined])
    const { fees, transactions, state } = connector.finish()
    expect(fees).toBe(3n * fee)
    expect(steps.map((connected) => connected?.checks.length)).toEqual([1, 1, undefined, undefined])
    expect(transactions.map(({ spent }) => spent[0]?.value)).toEqual([rich, rich - fee])
    expect([...state.coins.created.values()].map(({ value }) => value)).toEqual([
      500_000_000n + 3n * fee,
      rich - 3n * fee,
    ])
    expect([...state.coins.spent.values()].map(({ value }) => value)).toEqual([rich])
  })

  it('refuses a transaction that spends one after it', () => {
    const genesis = { txid: (test.chain.genesis.transactions[0] as Transaction).hash, index: 0 }
    const first = craft(test.spec, [genesis], [{ to: 30, value: rich - fee }], [10])
    const second = craft(test.spec, [outputOf(first)], [{ to: 31, value: rich - 3n * fee }], [30])
    const block = craftBlock(test.chain, { transactions: [second, first] })
    const connector = new BlockConnector(block, test.chain.state, test.chain.sanity)
    expect(codeOf(() => connector.step())).toBe('tx-input-unknown')
  })

  it('may not spend its own coinbase', () => {
    const base = craftBlock(test.chain)
    const coinbase = base.transactions[0] as Transaction
    const thief = craft(test.spec, [outputOf(coinbase)], [{ to: 30, value: 400_000_000n }], [20])
    const block = new Block(base.header, base.auxPow, [coinbase, thief])
    const connector = new BlockConnector(block, test.chain.state, test.chain.sanity)
    expect(codeOf(() => connector.step())).toBe('tx-immature')
  })
})

describe('a side-chain proof of work', () => {
  it('counts each validator as a key that may have signed it', () => {
    const hash = new Uint8Array(32).fill(1)
    const payload = {
      type: 5,
      sideBlockHash: hash,
      sideGenesisHash: hash,
      blockHeight: 9,
      signedData: new Uint8Array(64),
    } as const
    const validators = [0, 1, 2, 3].map((index) => Buffer.from(testPublicKey(index)).toString('hex'))
    const spec = parseSpec(testSpec({ validators, producer: 'sponsor' }))
    const proof = spend([input(0)], 1000n, [10], { payload })
    const { work } = checkTransaction(proof, new StateOverlay(ledger({})), { ...context, spec, height: 100 })
    expect(work).toEqual({ cost: 2, keys: 1 + 4, hashedBytes: proof.unsigned.length })
  })
})

describe('the budget of a block', () => {
  const spending = (cost: number, documents: readonly { txid: string; payloadSize: number }[] = []) => ({
    work: { ...noWork, cost },
    did: { reads: documents.map((document) => ({ issuer: true, ...document })) },
  })

  it('bounds signature checks, and counts nothing of what it refuses', () => {
    const budget = new BlockBudget({ blockCost: 10 })
    budget.add(spending(6))
    expect(codeOf(() => budget.add(spending(5)))).toBe('block-signature-cost')
    budget.add(spending(4))
    expect(codeOf(() => budget.add(spending(1)))).toBe('block-signature-cost')
  })

  it('bounds the keys and hashed bytes of programs, and a share of it half of them', () => {
    const most = { keys: 16_000, hashedBytes: 1024 * 1024 * 1024 }
    for (const name of ['keys', 'hashedBytes'] as const) {
      for (const share of [1, 0.5]) {
        const budget = new BlockBudget({ blockCost: 40_000 }, share)
        budget.add({ work: { ...noWork, [name]: share * most[name] - 1 } })
        expect(codeOf(() => budget.add({ work: { ...noWork, [name]: 2 } }))).toBe('block-signature-work')
        budget.add({ work: { ...noWork, [name]: 1 } })
        expect(codeOf(() => budget.add({ work: { ...noWork, [name]: 1 } }))).toBe('block-signature-work')
      }
    }
  })

  it('bounds the bytes of issuer documents, each counted once', () => {
    const budget = new BlockBudget({ blockCost: 100 })
    const megabyte = 1024 * 1024
    const large = { txid: 'a', payloadSize: 15 * megabyte }
    budget.add(spending(1, [large]))
    budget.add(spending(1, [large]))
    expect(codeOf(() => budget.add(spending(1, [{ txid: 'b', payloadSize: megabyte + 1 }])))).toBe(
      'block-issuer-documents',
    )
    budget.add(spending(1, [{ txid: 'b', payloadSize: megabyte }]))
    expect(codeOf(() => budget.add(spending(1, [{ txid: 'c', payloadSize: 1 }])))).toBe('block-issuer-documents')
  })

  it('counts own previous documents with them, and each only as often as it is new', () => {
    const budget = new BlockBudget({ blockCost: 10_000 })
    const megabyte = 1024 * 1024
    const own = (txid: string, payloadSize: number) => ({
      work: noWork,
      did: { reads: [{ txid, payloadSize, issuer: false }] },
    })
    for (let i = 0; i < 16; i++) budget.add(own(`${i}`, megabyte))
    budget.add(own('3', megabyte))
    expect(codeOf(() => budget.add(own('16', 1)))).toBe('block-issuer-documents')
    expect(codeOf(() => budget.require([{ txid: '16', payloadSize: 1, issuer: false }]))).toBe('block-issuer-documents')
    // The same document in another use needs no more bytes.
    budget.add(spending(1, [{ txid: '3', payloadSize: megabyte }]))
  })

  it('is what any order of the same documents comes to', () => {
    const reads = fc.array(fc.record({ txid: fc.constantFrom('a', 'b', 'c', 'd'), issuer: fc.boolean() }), {
      maxLength: 8,
    })
    const sizes: Record<string, number> = { a: 1, b: 8 * 1024 * 1024, c: 8 * 1024 * 1024 - 2, d: 1 }
    fc.assert(
      fc.property(fc.array(reads, { maxLength: 6 }), (transactions) => {
        const budget = new BlockBudget({ blockCost: 1000 })
        const seen = new Set<string>()
        for (const each of transactions) {
          const named = [...new Map(each.map((read) => [read.txid, read])).values()]
          const documents = named.map((read) => ({ ...read, payloadSize: sizes[read.txid] as number }))
          const all = new Set([...seen, ...named.map(({ txid }) => txid)])
          const bytes = [...all].reduce((sum, txid) => sum + (sizes[txid] as number), 0)
          const fits = bytes <= 16 * 1024 * 1024
          const code = codeOf(() => budget.add({ work: noWork, did: { reads: documents } }))
          expect(code).toBe(fits ? undefined : 'block-issuer-documents')
          if (fits) all.forEach((txid) => seen.add(txid))
        }
      }),
      { numRuns: rounds(500, 500) },
    )
  })
})
