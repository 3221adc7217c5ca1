import { randomBytes } from 'node:crypto'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import type { KnownHeader } from '../../../src/ledger/chain/header-index.js'
import { didRootAfter } from '../../../src/ledger/chain/next-commitments.js'
import { commitmentAttribute } from '../../../src/ledger/consensus/commitment.js'
import { earliestTime, requiredBits } from '../../../src/ledger/consensus/context.js'
import { checkTransaction } from '../../../src/ledger/consensus/connect.js'
import { StateOverlay } from '../../../src/ledger/consensus/ledger.js'
import { subsidyAt } from '../../../src/ledger/consensus/subsidy.js'
import { publicKeyOf, sign } from '../../../src/base/crypto/keys.js'
import { soloConfirmBy } from '../../../src/voting/sign-message.js'
import { parseAddress, type ProgramHash } from '../../../src/base/primitives/address.js'
import { type AuxPow, auxPowBytes, parentHash, soloAuxPow } from '../../../src/base/primitives/auxpow.js'
import { Block, transactionRoot, witnessRoot } from '../../../src/base/primitives/block.js'
import { concat, fromUtf8, littleEndianInteger } from '../../../src/base/primitives/bytes.js'
import { Writer } from '../../../src/base/primitives/codec.js'
import { defined } from '../../../src/base/primitives/defined.js'
import { targetOf } from '../../../src/base/primitives/compact.js'
import { type Confirm, proposalHash, proposalUnsigned, voteUnsigned } from '../../../src/base/primitives/confirm.js'
import { registerAssetTransaction } from '../../../src/base/primitives/genesis.js'
import { type Hash, sha256d, zeroHash } from '../../../src/base/primitives/hash.js'
import { Header, type HeaderFields } from '../../../src/base/primitives/header.js'
import { type Program, sortPrograms, standardProgram } from '../../../src/base/primitives/program.js'
import { txType } from '../../../src/base/primitives/payload.js'
import { finish } from '../../../src/base/primitives/steps.js'
import { didRoot as committedRoot } from '../../../src/identity/proofs/map-tree.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { changeMapSteps } from '../../../src/ledger/storage/rows/map/change-map.js'
import { LeafChanges } from '../../../src/ledger/storage/rows/map/leaf-changes.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { memoryPages } from './map-pages.js'
import { paramsAt, type Spec } from '../../../src/base/primitives/spec.js'
import { coinbaseInput, finalSequence } from '../../../src/base/primitives/input.js'
import { attributeUsage, Transaction } from '../../../src/base/primitives/transaction.js'
import type { Input, TransactionFields } from '../../../src/base/primitives/transaction-fields.js'
import { testAddress, testKey, testPublicKey } from './spec.js'

/** Blocks and transactions made by hand, so that a test can break any one rule. */

/** The standard program hash of test person `index`. */
export function personHash(index: number): ProgramHash {
  return parseAddress(testAddress(index)) as ProgramHash
}

export interface CraftedOutput {
  /** A test person, or any program hash. */
  readonly to: number | ProgramHash
  readonly value: bigint
  readonly outputLock?: number
}

export type CraftedInput = Pick<Input, 'txid' | 'index'> & Partial<Input>

/** The coin that genesis gives to person 10 (output 0) or person 11 (output 1). */
export function genesisCoin(chain: Pick<Chain, 'genesis'>, output: 0 | 1 = 0): CraftedInput {
  return { txid: (chain.genesis.transactions[0] as Transaction).hash, index: output }
}

/** Output `index` of a transaction, as an input of another. */
export function outputOf(transaction: Transaction, index = 0): CraftedInput {
  return { txid: transaction.hash, index }
}

/** A version 0 transfer signed by test persons; `changes` replaces any field before it is signed. */
export function craft(
  spec: Spec,
  inputs: readonly CraftedInput[],
  outputs: readonly CraftedOutput[],
  signers: readonly number[],
  changes: Partial<TransactionFields> = {},
): Transaction {
  const { hash: assetId } = registerAssetTransaction(spec)
  const fields: TransactionFields = {
    version: 0,
    payloadVersion: 0,
    payload: { type: 2 },
    attributes: [{ usage: attributeUsage.nonce, data: fromUtf8('nonce') }],
    inputs: inputs.map(({ txid, index, sequence = finalSequence }) => ({ txid, index, sequence })),
    outputs: outputs.map(({ to, value, outputLock = 0 }) => {
      return { assetId, value, outputLock, programHash: typeof to === 'number' ? personHash(to) : to }
    }),
    lockTime: 0,
    programs: [],
    ...changes,
  }
  return changes.programs === undefined ? signedBy(fields, signers) : new Transaction(fields)
}

/** The transaction with one standard program for each of the persons, in wire order. */
export function signedBy(fields: TransactionFields, signers: readonly number[]): Transaction {
  const { unsigned } = new Transaction({ ...fields, programs: [] })
  const programs = signers.map((person): Program => {
    return standardProgram(testPublicKey(person), sign(unsigned, testKey(person)))
  })
  return new Transaction({ ...fieldsOf(fields), programs: sortPrograms(programs) })
}

/** The fields of a transaction as data of their own. */
export function fieldsOf({
  version,
  payloadVersion,
  payload,
  lockTime,
  ...lists
}: TransactionFields): TransactionFields {
  const attributes = lists.attributes.map(({ usage, data }) => ({ usage, data }))
  const inputs = lists.inputs.map(({ txid, index, sequence }) => ({ txid, index, sequence }))
  const outputs = lists.outputs.map(({ assetId, value, outputLock, programHash, extra }) => {
    return { assetId, value, outputLock, programHash, ...defined({ extra }) }
  })
  const programs = lists.programs.map(({ parameter, code }) => ({ parameter, code }))
  return { version, payloadVersion, payload, attributes, inputs, outputs, lockTime, programs }
}

export interface BlockPlan {
  /** The tip unless given. */
  readonly parent?: KnownHeader
  readonly transactions?: readonly Transaction[]
  /** Amount that the coinbase takes beyond the subsidy. */
  readonly fees?: bigint
  /** Fields of the coinbase to replace; it commits to the right witness root unless `attributes` is among them. */
  readonly coinbase?: Partial<TransactionFields>
  /** Root of all DIDs after the block, if the chain commits to it; by default that of the parent, which is active. */
  readonly didRoot?: Hash
  /** Root of all coins, where the block commits to them. */
  readonly coinRoot?: Hash | undefined
  /** Makes the coinbase like no other; random unless given. */
  readonly nonce?: Uint8Array
  /** Fields of the header to replace. */
  readonly header?: Partial<HeaderFields>
  /** All transactions, in place of a coinbase and `transactions`. */
  readonly all?: (coinbase: Transaction) => readonly Transaction[]
}

/** The payload with which the unsigned part of the coinbase of the next block has `size` bytes, at least 400. */
export function coinbasePayload(chain: Chain, size: number): Pick<TransactionFields, 'payload'> {
  const payload = (length: number) => ({ type: 0, data: new Uint8Array(length) }) as const
  const { unsignedSize } = coinbaseOf(chain, { coinbase: { payload: payload(256) } })
  return { payload: payload(256 + size - unsignedSize) }
}

/** The coinbase of a block on top of `parent`. */
export function coinbaseOf(chain: Chain, plan: BlockPlan = {}): Transaction {
  const { spec, assetId } = chain.sanity
  const { parent = chain.tip, transactions = [], fees = 0n, nonce = randomBytes(8), coinbase = {} } = plan
  const height = parent.header.height + 1
  const fields: TransactionFields = {
    version: 0,
    payloadVersion: 4,
    payload: { type: 0, data: fromUtf8('test') },
    attributes: [],
    inputs: [coinbaseInput],
    outputs: [{ assetId, value: subsidyAt(spec, height) + fees, outputLock: 0, programHash: personHash(20) }],
    lockTime: height,
    programs: [],
  }
  const root = witnessRoot([new Transaction(fields), ...transactions])
  const { didRoot = craftedDidRoot(chain, plan), coinRoot } = plan
  const commitment = commitmentAttribute(spec, height, { witnessRoot: root, didRoot, coinRoot })
  const attributes = [{ usage: attributeUsage.nonce, data: nonce }, commitment]
  return new Transaction({ ...fields, attributes, ...coinbase })
}

/**
 * Commitment of a block: the state of its parent, none of whose ancestors off the active chain has an operation, and on top of the tip also
 * its own operations, if they break no rule.
 */
function craftedDidRoot(chain: Chain, { parent = chain.tip, transactions = [], header }: BlockPlan): Hash | undefined {
  let below: KnownHeader | undefined = parent
  while (below !== undefined && below.status !== 'active') below = chain.headers.get(below.header.previous)
  const unchanged = below === undefined ? zeroHash : didRootAfter(chain, below.header.height)
  const carriers = transactions.filter(({ payload }) => payload.type === txType.did)
  if (unchanged === undefined || carriers.length === 0 || parent !== chain.tip) return unchanged
  const { time = earliestTime(chain.spec, chain.headers.ancestry(parent)) } = header ?? {}
  const height = parent.header.height + 1
  const state = new StateOverlay(chain.state)
  const rows = new Overlay(chain.database)
  const leaves = new LeafChanges()
  try {
    for (const [i, tx] of transactions.entries()) {
      const connectable = checkTransaction(tx, state, { ...chain.sanity, height })
      connectable.apply()
      if (connectable.did !== undefined) leaves.put(rows, connectable.did, { tx, height, time, index: i + 1 })
    }
  } catch (error) {
    if (error instanceof RuleError) return unchanged
    throw error
  }
  const pages = memoryPages(chain.database)
  return committedRoot(chain.genesis.header.hash, finish(changeMapSteps(pages, finish(leaves.listSteps()))))
}

/** A solved block on top of `parent`, right in everything that the plan does not change. */
export function craftBlock(chain: Chain, plan: BlockPlan = {}): Block {
  const { parent = chain.tip, transactions = [] } = plan
  const coinbase = coinbaseOf(chain, plan)
  const all = plan.all?.(coinbase) ?? [coinbase, ...transactions]
  const ancestry = chain.headers.ancestry(parent)
  const header = new Header({
    version: 0,
    previous: parent.header.hash,
    merkleRoot: transactionRoot(all),
    time: earliestTime(chain.spec, ancestry),
    bits: requiredBits(chain.spec, ancestry),
    nonce: 0,
    height: parent.header.height + 1,
    ...plan.header,
  })
  return new Block(header, solved(header), all)
}

/** An AuxPow with enough work for the header; `wanted` false: with too little. */
export function solved(header: Header, wanted = true): AuxPow {
  const target = targetOf(header.bits)
  for (let nonce = 0; ; nonce++) {
    const auxPow = soloAuxPow(header.hash, header.time, nonce)
    if (littleEndianInteger(parentHash(auxPow)) <= target === wanted) return auxPow
  }
}

/** An AuxPow of `size` bytes, more than 600, for a header at the easiest target: its coinbase script goes on after the commitment. */
export function longAuxPow(header: Header, size: number): AuxPow {
  const solo = soloAuxPow(header.hash, header.time)
  const build = (more: number, nonce = 0): AuxPow => {
    const script = concat(solo.coinbase.scripts[0] as Uint8Array, new Uint8Array(more))
    const writer = new Writer().u32(1).varuint(1).bytes(zeroHash).u32(0)
    const bytes = writer.varbytes(script).u32(0).varuint(0).u32(0).finish()
    const parent = { ...solo.parent, merkleRoot: sha256d(bytes), nonce }
    return { ...solo, coinbase: { scripts: [script], bytes }, parent }
  }
  const more = 300 + size - auxPowBytes(build(300)).length
  for (let nonce = 0; ; nonce++) {
    const auxPow = build(more, nonce)
    if (littleEndianInteger(parentHash(auxPow)) <= targetOf(header.bits)) return auxPow
  }
}

export interface ConfirmPlan {
  readonly view?: number
  /** The person that proposes; the one on duty unless given. */
  readonly sponsor?: number
  /** Persons that vote, in order; all validators of a test spec unless given. */
  readonly voters?: readonly number[]
  /** Verdict of a voter; true by default. */
  readonly accept?: boolean
  /** Another block to confirm. */
  readonly blockHash?: Uint8Array
  /** Keys in place of those of test persons. */
  readonly keys?: readonly { readonly publicKey: Uint8Array; readonly privateKey: Uint8Array }[]
}

/** A confirm by test persons, who are the validators of a test spec in that order. */
export function craftConfirm(spec: Spec, block: Block, plan: ConfirmPlan = {}): Confirm {
  const count = Math.max(1, paramsAt(spec, block.header.height).validators.length)
  const { view = 0, accept = true, blockHash = block.header.hash } = plan
  const { sponsor = (block.header.height + view) % count } = plan
  const { voters = Array.from({ length: count }, (_, person) => person) } = plan
  const keyOf = (person: number) =>
    plan.keys?.[person] ?? { publicKey: testPublicKey(person), privateKey: testKey(person) }
  const proposer = keyOf(sponsor)
  const proposed = { sponsor: proposer.publicKey, blockHash, viewOffset: view }
  const proposal = { ...proposed, signature: sign(proposalUnsigned(proposed), proposer.privateKey) }
  const votes = voters.map(keyOf).map(({ publicKey, privateKey }) => {
    const vote = { proposalHash: proposalHash(proposed), signer: publicKey, accept }
    return { ...vote, signature: sign(voteUnsigned(vote), privateKey) }
  })
  return { proposal, votes }
}

/** The confirm of a chain with one validator: proposal and vote of the same key. */
export function soloConfirm(blockHash: Uint8Array, viewOffset: number, privateKey: Uint8Array): Confirm {
  const signer = { publicKey: publicKeyOf(privateKey), sign: (message: Uint8Array) => sign(message, privateKey) }
  return soloConfirmBy(signer, blockHash, viewOffset)
}
