import { describe, expect, it } from 'vitest'
import { isFinal } from '../../../../src/ledger/consensus/coin-rules.js'
import {
  BlockConnector,
  checkTransaction,
  type ConnectedTransaction,
} from '../../../../src/ledger/consensus/connect.js'
import { type Coin, StateOverlay, type StateView } from '../../../../src/ledger/consensus/ledger.js'
import { sign } from '../../../../src/base/crypto/keys.js'
import { holds } from '../../../../src/base/crypto/verify.js'
import { prefix, programHash } from '../../../../src/base/primitives/address.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import { leastFee } from '../../../../src/base/primitives/fees.js'
import { multisigCode, parameterOf, sortPrograms, standardProgram } from '../../../../src/base/primitives/program.js'
import { paramsAt } from '../../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { finish } from '../../../../src/base/primitives/steps.js'
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

const test = await TestChain.open()
const context = { ...test.chain.sanity, height: 100 }
const fee = 1000n

/** Coins to spend, each under its own number. */
function ledger(...coins: Partial<Coin>[]): StateView {
  const plain = { height: 1, coinbase: false, value: 10_000n, outputLock: 0, owner: mapKey(personHash(10)) }
  const rows = new Map(coins.map((coin, index) => [outpointKey(input(index)), { ...plain, ...coin }]))
  return {
    time: 0,
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
    expect(() => check(spend([input(0, 0xfffffffe)], 1000n, [10], { lockTime: 100 }), view)).toThrow(
      'lockTime 100: blocks from height 101 on take it, not that at height 100; it can be sent at height 100',
    )
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

  it('needs programs of a form that unlocks, also where sanity was not asked', () => {
    const good = spend([input(0)], 1000n)
    const [program] = good.programs
    if (program === undefined) throw new Error('no program')
    const code = (changes: Partial<typeof program>) => {
      const tx = new Transaction({ ...fieldsOf(good), programs: [{ ...program, ...changes }] })
      return codeOf(() => check(tx, ledger({})))
    }
    expect(code({})).toBe(undefined)
    expect(code({ parameter: new Uint8Array(0) })).toBe('tx-program-form')
    expect(code({ code: new Uint8Array(1) })).toBe('tx-program-form')
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

/** Connects all of a block. */
function run(connector: BlockConnector, found?: (connected: ConnectedTransaction) => void): void {
  finish(connector.steps(found))
}

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
    const steps: ConnectedTransaction[] = []
    run(connector, (connected) => steps.push(connected))
    expect(steps.map((connected) => connected.fee)).toEqual([fee, 2n * fee])
    const { fees, transactions, state } = connector.finish()
    expect(fees).toBe(3n * fee)
    expect(steps.map((connected) => connected.checks.length)).toEqual([1, 1])
    expect(transactions.map(({ spent }) => spent[0]?.value)).toEqual([rich, rich - fee])
    expect([...state.coins.created.values()].map(({ value }) => value)).toEqual([
      500_000_000n + 3n * fee,
      rich - 3n * fee,
    ])
    expect([...state.coins.spent.values()].map(({ value }) => value)).toEqual([rich])
  })

  it('gives its coinbase no more than the subsidy and its fees', () => {
    const genesis = { txid: (test.chain.genesis.transactions[0] as Transaction).hash, index: 0 }
    const paying = craft(test.spec, [genesis], [{ to: 30, value: rich - fee }], [10])
    for (const [fees, code] of [
      [fee - 1n, undefined],
      [fee, undefined],
      [fee + 1n, 'coinbase-value'],
    ] as const) {
      const block = craftBlock(test.chain, { transactions: [paying], fees })
      const connector = new BlockConnector(block, test.chain.state, test.chain.sanity)
      const seen: string[] = []
      run(connector, ({ checks }) => seen.push(checks[0]?.subject ?? ''))
      expect(seen).toEqual([paying.txid].map((txid) => expect.stringContaining(txid) as string))
      expect(codeOf(() => connector.finish())).toBe(code)
    }
  })

  it('names the transaction that breaks a rule, and counts the work of each', () => {
    const genesis = (index: number) => ({ txid: (test.chain.genesis.transactions[0] as Transaction).hash, index })
    const first = craft(test.spec, [genesis(0)], [{ to: 30, value: rich - fee }], [10])
    // One that is long is connected in steps.
    const memo = (size: number) => [{ usage: attributeUsage.memo, data: new Uint8Array(size) }]
    const attributes = [...memo(1000), ...memo(1000), ...memo(1000)]
    for (const changes of [{}, { attributes }]) {
      const paid = { to: 31, value: 2n * rich - 10n * fee }
      const second = craft(test.spec, [genesis(1)], [paid], [11], changes)
      const unpaid = craft(test.spec, [genesis(1)], [{ ...paid, value: 2n * rich }], [11], changes)
      expect(second.isShort).toBe(changes.attributes === undefined)
      const connect = (transactions: readonly Transaction[], blockCost: number) => {
        const spec = { ...test.spec, limits: { ...test.spec.limits, blockCost } }
        const block = craftBlock(test.chain, { transactions })
        const connector = new BlockConnector(block, test.chain.state, { ...test.chain.sanity, spec })
        return () => run(connector)
      }
      expect(codeOf(connect([first, second], 2))).toBe(undefined)
      const named = (code: string, { txid }: Transaction) =>
        expect.objectContaining({
          ...{ code, transaction: txid },
          message: expect.stringContaining(`transaction 2 (${txid})`) as string,
        }) as Error
      expect(connect([first, second], 1)).toThrow(named('block-signature-cost', second))
      expect(connect([first, unpaid], 2)).toThrow(named('tx-fee', unpaid))
    }
  })

  it('is not to blame where its coins cannot be read', () => {
    const failure = new Error('the disk is gone')
    const view = {
      ...ledger(),
      coin: () => {
        throw failure
      },
    }
    const attributes = Array.from({ length: 3 }, () => ({ usage: attributeUsage.memo, data: new Uint8Array(1000) }))
    for (const changes of [{}, { attributes }]) {
      const block = craftBlock(test.chain, { transactions: [spend([input(0)], 1000n, [10], changes)] })
      const connector = new BlockConnector(block, view, test.chain.sanity)
      expect(() => run(connector)).toThrow(failure)
    }
  })

  it('says which coin it spends twice, and calls no other fault so', () => {
    const genesis = { txid: (test.chain.genesis.transactions[0] as Transaction).hash, index: 0 }
    const first = craft(test.spec, [genesis], [{ to: 30, value: rich - fee }], [10])
    const faultOf = (second: Transaction) => {
      const block = craftBlock(test.chain, { transactions: [first, second] })
      const connector = new BlockConnector(block, test.chain.state, test.chain.sanity)
      return codeOf(() => run(connector))
    }
    expect(faultOf(craft(test.spec, [genesis], [{ to: 31, value: rich - fee }], [10]))).toBe('block-double-spend')
    expect(faultOf(craft(test.spec, [input(7)], [{ to: 31, value: 1n }], [10]))).toBe('tx-input-unknown')
    const locked = { lockTime: 50 }
    const early = craft(test.spec, [{ ...genesis, sequence: 0 }], [{ to: 31, value: 1n }], [10], locked)
    expect(faultOf(early)).toBe('tx-not-final')
  })

  it('refuses a transaction that spends one after it', () => {
    const genesis = { txid: (test.chain.genesis.transactions[0] as Transaction).hash, index: 0 }
    const first = craft(test.spec, [genesis], [{ to: 30, value: rich - fee }], [10])
    const second = craft(test.spec, [outputOf(first)], [{ to: 31, value: rich - 3n * fee }], [30])
    const block = craftBlock(test.chain, { transactions: [second, first] })
    const connector = new BlockConnector(block, test.chain.state, test.chain.sanity)
    expect(codeOf(() => run(connector))).toBe('tx-input-unknown')
  })

  it('may not spend its own coinbase', () => {
    const base = craftBlock(test.chain)
    const coinbase = base.transactions[0] as Transaction
    const thief = craft(test.spec, [outputOf(coinbase)], [{ to: 30, value: 400_000_000n }], [20])
    const block = new Block(base.header, base.auxPow, [coinbase, thief])
    const connector = new BlockConnector(block, test.chain.state, test.chain.sanity)
    expect(codeOf(() => run(connector))).toBe('tx-immature')
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
    const { work, checks } = checkTransaction(proof, new StateOverlay(ledger({})), { ...context, spec, height: 100 })
    expect(work).toEqual({ cost: 2, keys: 1 + 4, hashedBytes: proof.unsigned.length })
    expect(checks.map(({ code }) => code)).toEqual(['tx-signature', 'tx-side-chain-signer'])
  })
})
