import { mkdtemp, rm } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Verifier } from '../../src/base/crypto/verifier.js'
import type { Hash } from '../../src/base/primitives/hash.js'
import type { Payload } from '../../src/base/primitives/payload.js'
import type { Spec } from '../../src/base/primitives/spec.js'
import type { Outpoint } from '../../src/base/primitives/transaction-fields.js'
import { type QuickSigner, quickSigner } from '../../test/support/builders/signatures.js'
import {
  addressFromPublicKey,
  attributeUsage,
  Block,
  Chain,
  checkTransaction,
  coinbaseInput,
  commitmentAttribute,
  Database,
  didRootAfter,
  finalSequence,
  Header,
  nextDidRoot,
  parseSpec,
  prefix,
  programHash,
  SignatureCache,
  singleKeyCode,
  soloAuxPow,
  solve,
  standardProgram,
  StateOverlay,
  subsidyAt,
  Transaction,
  transactionRoot,
  witnessRoot,
} from './dist.js'

/** Chains, blocks and transactions for measurements. */

const fee = 100n
/** Prices by which blocks and pools take a transaction of any size for {@link fee}. */
export const flatFees = { minimum: '99', perByte: '1', freeBytes: 2 ** 32 - 1, leaf: '1' }
export const quiet = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error }

export interface Payer extends QuickSigner {
  /** The output to spend next. */
  outpoint: Outpoint
  value: bigint
}

/** A chain that pays 1000 coins to each of `count` own keys, then to others: without validators, or a changed localnet. */
export function fundedSpec(
  count: number,
  base: 'pow' | 'localnet' = 'pow',
  changes: object = {},
  others: readonly { readonly address: string; readonly amount: string }[] = [],
): { text: string; spec: Spec; payers: Payer[] } {
  const signers = Array.from({ length: count }, quickSigner)
  const file = JSON.parse(readFileSync(new URL(`../../genesis/${base}.json`, import.meta.url), 'utf8')) as object
  const amount = 1000n * 100_000_000n
  const allocations = signers.map(({ publicKey }) => ({
    address: addressFromPublicKey(publicKey),
    amount: String(amount),
  }))
  const text = JSON.stringify({
    ...file,
    name: 'bench',
    fees: flatFees,
    allocations: [...allocations, ...others],
    ...changes,
  })
  return {
    text,
    spec: parseSpec(text),
    payers: signers.map((signer, index) => ({
      ...signer,
      outpoint: { txid: new Uint8Array(32), index },
      value: amount,
    })),
  }
}

/** A transfer of all coins of a payer back to itself, with an optional payload. */
export function selfTransfer(payer: Payer, assetId: Hash, payload: Payload = { type: 2 }, paid = fee): Transaction {
  return transferOf(payer, assetId, payload, 1, paid)
}

/** A transfer of all coins of a payer back to itself in many outputs, all but the first of one unit. */
export function fanOut(payer: Payer, assetId: Hash, count: number): Transaction {
  return transferOf(payer, assetId, { type: 2 }, count)
}

function transferOf(payer: Payer, assetId: Hash, payload: Payload, count: number, paid = fee): Transaction {
  const hash = programHash(prefix.standard, singleKeyCode(payer.publicKey))
  const value = payer.value - paid - BigInt(count - 1)
  const fields = {
    version: 0,
    payloadVersion: 0,
    payload,
    attributes: [{ usage: attributeUsage.nonce, data: new Uint8Array(8) }],
    inputs: [{ ...payer.outpoint, sequence: finalSequence }],
    outputs: Array.from({ length: count }, (_, index) => {
      return { assetId, value: index === 0 ? value : 1n, outputLock: 0, programHash: hash }
    }),
    lockTime: 0,
  }
  const unsigned = new Transaction({ ...fields, programs: [] })
  const signed = new Transaction({
    ...fields,
    programs: [standardProgram(payer.publicKey, payer.sign(unsigned.unsigned))],
  })
  payer.outpoint = { txid: signed.hash, index: 0 }
  payer.value = value
  return signed
}

/** What a block commits to: the state of its parent, and on the tip what its operations make of it. */
async function rootOf(
  chain: Chain,
  parent: Header,
  transactions: readonly Transaction[],
  time: number,
): Promise<Hash | undefined> {
  const { height } = chain.tip.header
  if (!transactions.some(({ payload }) => payload.type === 10)) {
    return didRootAfter(chain, Math.min(height, parent.height))
  }
  if (parent.height !== height) throw new Error('a block with operations is made on the tip')
  const state = new StateOverlay(chain.state)
  const operations = transactions.flatMap((tx, i) => {
    const connectable = checkTransaction(tx, state, { ...chain.sanity, height: height + 1 })
    connectable.apply()
    return connectable.did === undefined ? [] : [{ operation: connectable.did, tx, index: i + 1 }]
  })
  return nextDidRoot(chain, time, operations)
}

/** A solved block on top of a header, `delay` seconds after it. */
export async function mineBlock(
  chain: Chain,
  parent: Header,
  transactions: readonly Transaction[],
  delay = 1,
): Promise<Block> {
  const { spec, assetId } = chain.sanity
  const height = parent.height + 1
  const value = subsidyAt(spec, height) + fee * BigInt(transactions.length)
  const fields = {
    version: 0,
    payloadVersion: 4,
    payload: { type: 0, data: new Uint8Array(0) } as const,
    inputs: [coinbaseInput],
    outputs: [{ assetId, value, outputLock: 0, programHash: spec.allocations[0]?.programHash as Uint8Array }],
    lockTime: height,
    programs: [],
  }
  const didRoot = await rootOf(chain, parent, transactions, parent.time + delay)
  const root = witnessRoot([new Transaction({ ...fields, attributes: [] }), ...transactions])
  const coinbase = new Transaction({
    ...fields,
    attributes: [commitmentAttribute(spec, height, { witnessRoot: root, didRoot })],
  })
  const all = [coinbase, ...transactions]
  const header = new Header({
    version: 0,
    previous: parent.hash,
    merkleRoot: transactionRoot(all),
    time: parent.time + delay,
    bits: spec.powLimitBits,
    nonce: 0,
    height,
  })
  const block = await solve(new Block(header, soloAuxPow(header.hash, header.time), all))
  if (block === undefined) throw new Error('no nonce was found')
  return block
}

/** Sets the payers' next outputs to those of genesis. */
export function spendGenesis({ genesis }: Pick<Chain, 'genesis'>, payers: readonly Payer[]): void {
  const coinbase = genesis.transactions[0] as Transaction
  payers.forEach((payer, index) => (payer.outpoint = { txid: coinbase.hash, index }))
}

/** Runs with an empty chain on a real database in a temporary directory. */
export async function withChain<T>(
  spec: Spec,
  parts: { readonly verifier: Verifier; readonly signatures?: SignatureCache },
  run: (chain: Chain) => Promise<T>,
): Promise<T> {
  return withDirectory(async (directory) => {
    const database = await Database.open(join(directory, 'chain'))
    try {
      const signatures = new SignatureCache()
      return await run(await Chain.open({ spec, database, signatures, clock: Date, log: quiet, ...parts }))
    } finally {
      await database.close()
    }
  })
}

/** Runs with a temporary directory. */
export async function withDirectory<T>(run: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'didledger-bench-'))
  try {
    return await run(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
