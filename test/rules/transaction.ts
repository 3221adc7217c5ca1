import { checkTransactionSanity } from '../../src/ledger/consensus/sanity.js'
import { sign } from '../../src/base/crypto/keys.js'

import type { Code } from '../../src/base/errors/error-codes.js'
import type { PoolLimits } from '../../src/ledger/mempool/policy.js'
import { Writer } from '../../src/base/primitives/codec.js'
import { standardProgram } from '../../src/base/primitives/program.js'
import { coinbaseInput, lockSequence } from '../../src/base/primitives/input.js'
import { attributeUsage, type Transaction } from '../../src/base/primitives/transaction.js'
import type { TransactionFields, Input } from '../../src/base/primitives/transaction-fields.js'
import { craft, type CraftedOutput, genesisCoin, outputOf } from '../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../support/builders/chain.js'
import { type SpecOverrides, testKey, testPublicKey } from '../support/builders/spec.js'
import type { RuleRow } from './row.js'
import type { OtherState } from './states.js'

export type Build = (chain: TestChain) => Promise<Transaction> | Transaction

/** A row whose transactions go into the pool of a new chain, as anybody's would. */
export function row(
  code: Code,
  accepted: Build,
  refused: Build,
  overrides: SpecOverrides = {},
  limits: Partial<PoolLimits> = {},
): RuleRow {
  const all = { ...withoutValidators, ...overrides }
  const submit = async (build: Build, state: OtherState | undefined) => {
    const chain = await TestChain.open(all, { limits })
    const other = await state?.chain(all, limits)
    try {
      const transaction = await build(chain)
      await (other ?? chain).send(transaction)
    } finally {
      await chain.close()
      await other?.close()
    }
  }
  return { code, accepts: (state) => submit(accepted, state), refuses: (state) => submit(refused, state) }
}

const rich = 100_000_000_000n
const fee = 10_000n
const pay: readonly CraftedOutput[] = [{ to: 30, value: rich - fee }]

/** Person 10 pays with the coin of genesis; `changes` makes it another transaction before it is signed. */
const transfer =
  (changes: Partial<TransactionFields> | ((fields: Transaction) => Partial<TransactionFields>) = {}): Build =>
  ({ spec, chain }) => {
    const plain = craft(spec, [genesisCoin(chain)], pay, [10])
    const replaced = typeof changes === 'function' ? changes(plain) : changes
    return craft(spec, [genesisCoin(chain)], pay, [10], replaced)
  }

/** The same with outputs changed one by one. */
const paying = (...outputs: CraftedOutput[]): Build => {
  return ({ spec, chain }) => craft(spec, [genesisCoin(chain)], outputs, [10])
}

/** A record of exactly so many bytes. */
export const record = (size: number): Build => {
  return ({ spec, chain }) => {
    const build = (length: number) => {
      const payload = { type: 3, recordType: '', content: new Uint8Array(length) } as const
      const outputs = [{ to: 30, value: rich - BigInt(size) }]
      return craft(spec, [genesisCoin(chain)], outputs, [10], { payload })
    }
    // A count before the content takes the more bytes the longer that is.
    const around = (length: number) => build(length).bytes.length - length
    return build(size - around(size - 100))
  }
}

const input = (changes: Partial<Input>) =>
  transfer(({ inputs }) => ({ inputs: [{ ...(inputs[0] as Input), ...changes }] }))
const attributes = (count: number, size: number) =>
  Array.from({ length: count }, () => ({ usage: attributeUsage.memo, data: new Uint8Array(size) }))

const version9 =
  (type: number, payload: Uint8Array): Build =>
  (chain) =>
    transfer(({ outputs }) => ({
      version: 9,
      outputs: outputs.map((output) => ({ ...output, extra: { type, payload } })),
    }))(chain)

/** A side-chain proof of work signed by a person, where person 0 is the validator. */
export const sideChainPow =
  (
    changes: { blockHeight?: number; signer?: number; sideBlock?: number; sideChain?: number; output?: 0 | 1 } = {},
  ): Build =>
  ({ spec, chain }) => {
    const { blockHeight = 9, signer = 0, sideBlock = 1, sideChain = 2, output = 0 } = changes
    const sideBlockHash = new Uint8Array(32).fill(sideBlock)
    const sideGenesisHash = new Uint8Array(32).fill(sideChain)
    const message = new Writer().bytes(sideBlockHash).bytes(sideGenesisHash).u32(blockHeight).finish()
    const signedData = sign(message, testKey(signer))
    const payload = { type: 5, sideBlockHash, sideGenesisHash, blockHeight, signedData } as const
    return craft(spec, [genesisCoin(chain, output)], pay, [10 + output], { payload })
  }

/** Person 10 pays its coin to itself with a lock of height 1; then height 1 passes and person 10 spends it. */
const unlocking =
  (sequence: number, lockTime: number): Build =>
  async (chain) => {
    const { spec } = chain
    const locked = craft(spec, [genesisCoin(chain.chain)], [{ to: 10, value: rich - fee, outputLock: 1 }], [10])
    await chain.send(locked)
    await chain.mine()
    return craft(spec, [{ ...outputOf(locked), sequence }], [{ to: 30, value: rich - 2n * fee }], [10], { lockTime })
  }

/** The coinbase of height 1, spent so many blocks later. */
const spendingCoinbase =
  (later: number): Build =>
  async (chain) => {
    const [block] = await chain.mine()
    await chain.mine(later - 1)
    const coinbase = block?.transactions[0] as Transaction
    return craft(chain.spec, [outputOf(coinbase)], [{ to: 30, value: 500_000_000n - fee }], [20])
  }

/** With a height passed, so that a lockTime can be above zero and reached. */
const final =
  (lockTime: number): Build =>
  async (chain) => {
    await chain.mine()
    return transfer(({ inputs }) => ({ lockTime, inputs: inputs.map((one) => ({ ...one, sequence: 0 })) }))(chain)
  }

const spendAll =
  (withSubsidy: boolean): Build =>
  async (test) => {
    const { spec, chain } = test
    const [block] = await test.mine()
    const coinbase = outputOf(block?.transactions[0] as Transaction)
    const coins = [genesisCoin(chain, 0), genesisCoin(chain, 1), ...(withSubsidy ? [coinbase] : [])]
    const outputs = [{ to: 30, value: 3n * rich - fee }]
    return craft(spec, coins, outputs, withSubsidy ? [10, 11, 20] : [10, 11])
  }

/** Where no block has more than 10 000 bytes. */
export const smallBlocks: SpecOverrides = {
  ...withoutValidators,
  limits: { blockSize: 10_000, blockTransactions: 10, transactionCost: 100, blockCost: 100 },
}

async function sane(size: number): Promise<void> {
  const chain = await TestChain.open(smallBlocks)
  try {
    checkTransactionSanity(await record(size)(chain), chain.chain.sanity)
  } finally {
    await chain.close()
  }
}

const sanityRows: readonly RuleRow[] = [
  row('tx-type', transfer(), transfer({ payload: { type: 8, assets: [] } })),
  // Not through the pool, which keeps room for a coinbase.
  { code: 'tx-size', accepts: () => sane(10_000), refuses: () => sane(10_001) },
  row(
    'tx-ambiguous-size',
    transfer({ payload: { type: 3, recordType: '', content: new Uint8Array(15) }, attributes: [] }),
    transfer({ payload: { type: 3, recordType: '', content: new Uint8Array(15) }, attributes: [], outputs: [] }),
  ),
  row('tx-input-count', transfer(), transfer({ inputs: [] })),
  row(
    'tx-input-repeated',
    transfer(),
    transfer(({ inputs }) => ({ inputs: [...inputs, ...inputs] })),
  ),
  row('tx-input-coinbase', input({}), input(coinbaseInput)),
  row('tx-output-count', transfer(), transfer({ outputs: [] })),
  row(
    'tx-output-asset',
    transfer(),
    transfer(({ outputs }) => ({ outputs: outputs.map((one) => ({ ...one, assetId: new Uint8Array(32) })) })),
  ),
  row(
    'tx-output-address',
    paying({ to: Uint8Array.of(0x67, ...new Uint8Array(20)), value: 1n }),
    paying({ to: Uint8Array.of(0x4b, ...new Uint8Array(20)), value: 1n }),
  ),
  row('tx-output-type', version9(0, new Uint8Array(0)), version9(7, new Uint8Array(22))),
  row(
    'tx-output-value',
    paying({ to: 30, value: 0n }, { to: 30, value: 1n }),
    paying({ to: 30, value: -1n }, { to: 30, value: 1n }),
  ),
  row('tx-attribute', transfer({ attributes: attributes(16, 1024) }), transfer({ attributes: attributes(16, 1025) }), {
    fees: { minimum: '100', perByte: '1', freeBytes: 16_000 },
  }),
  row('tx-program-count', transfer(), transfer({ programs: [] })),
  row(
    'tx-program-form',
    transfer(),
    transfer(({ programs }) => ({
      programs: programs.map(({ code, parameter }) => ({ code, parameter: parameter.subarray(1) })),
    })),
  ),
  row('tx-payload-version', transfer({ payloadVersion: 0 }), transfer({ payloadVersion: 1 })),
  row('tx-side-chain-height', sideChainPow({ blockHeight: 2 ** 29 - 1 }), sideChainPow({ blockHeight: 2 ** 29 }), {
    ...oneValidator(),
    producer: 'sponsor',
  }),
  row(
    'tx-signature-cost',
    transfer(),
    ({ spec, chain }) => craft(spec, [genesisCoin(chain, 0), genesisCoin(chain, 1)], pay, [10, 11]),
    { limits: { blockSize: 10_000, blockTransactions: 10, transactionCost: 1, blockCost: 100 } },
  ),
]

const contextRows: readonly RuleRow[] = [
  row('tx-known', transfer(), async (chain) => chain.send(await transfer()(chain))),
  row('tx-input-unknown', input({ index: 0 }), input({ index: 2 })),
  row('tx-double-spend', transfer(), async (chain) => {
    await chain.send(await transfer()(chain))
    await chain.mine()
    return transfer({ attributes: [] })(chain)
  }),
  row('tx-input-value', spendAll(false), spendAll(true), { maxMoney: (3n * rich).toString(), maturity: 0 }),
  row('tx-output-locked', unlocking(lockSequence, 1), unlocking(lockSequence + 1, 1)),
  row('tx-immature', spendingCoinbase(2), spendingCoinbase(1)),
  row('tx-balance', paying({ to: 30, value: rich - fee }), paying({ to: 30, value: rich + 1n })),
  row('tx-fee', paying({ to: 30, value: rich - fee }), paying({ to: 30, value: rich - 100n })),
  row('tx-not-final', final(1), final(2)),
  row(
    'tx-program-mismatch',
    ({ spec, chain }) => craft(spec, [genesisCoin(chain)], pay, [10]),
    ({ spec, chain }) => craft(spec, [genesisCoin(chain)], pay, [11]),
  ),
  row(
    'tx-signature',
    transfer(({ unsigned }) => ({ programs: [standardProgram(testPublicKey(10), sign(unsigned, testKey(10)))] })),
    transfer(({ unsigned }) => ({ programs: [standardProgram(testPublicKey(10), sign(unsigned, testKey(11)))] })),
  ),
  row('tx-side-chain-signer', sideChainPow({ signer: 0 }), sideChainPow({ signer: 1 }), {
    ...oneValidator(),
    producer: 'sponsor',
  }),
]

/** A row for every code of a single transaction but the one about its form. */
export const transactionRules: RuleRow[] = [...sanityRows, ...contextRows]
