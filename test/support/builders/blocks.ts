import { randomBytes } from 'node:crypto'
import type { Chain } from '../../../src/chain/chain.js'
import type { KnownHeader } from '../../../src/chain/header-index.js'
import { commitmentAttribute } from '../../../src/consensus/commitment.js'
import { earliestTime, requiredBits } from '../../../src/consensus/context.js'
import { subsidyAt } from '../../../src/consensus/subsidy.js'
import { sign } from '../../../src/crypto/keys.js'
import { parseAddress, type ProgramHash } from '../../../src/primitives/address.js'
import { type AuxPow, parentHash, soloAuxPow } from '../../../src/primitives/auxpow.js'
import { Block, transactionRoot, witnessRoot } from '../../../src/primitives/block.js'
import { fromUtf8, littleEndianInteger } from '../../../src/primitives/bytes.js'
import { targetOf } from '../../../src/primitives/compact.js'
import { type Confirm, proposalHash, proposalUnsigned, voteUnsigned } from '../../../src/primitives/confirm.js'
import { registerAssetTransaction } from '../../../src/primitives/genesis.js'
import { Header, type HeaderFields } from '../../../src/primitives/header.js'
import { type Program, sortPrograms, standardProgram } from '../../../src/primitives/program.js'
import { paramsAt, type Spec } from '../../../src/primitives/spec.js'
import { attributeUsage, coinbaseInput, finalSequence, Transaction } from '../../../src/primitives/transaction.js'
import type { Input, TransactionFields } from '../../../src/primitives/transaction-fields.js'
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
    inputs: inputs.map((input) => ({ sequence: finalSequence, ...input })),
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

export function fieldsOf(fields: TransactionFields): TransactionFields {
  const { version, payloadVersion, payload, attributes, inputs, outputs, lockTime, programs } = fields
  return { version, payloadVersion, payload, attributes, inputs, outputs, lockTime, programs }
}

export interface BlockPlan {
  /** The tip unless given. */
  readonly parent?: KnownHeader
  readonly transactions?: readonly Transaction[]
  /** What the coinbase takes beyond the subsidy. */
  readonly fees?: bigint
  /** Fields of the coinbase to replace; it commits to the right witness root unless `attributes` is among them. */
  readonly coinbase?: Partial<TransactionFields>
  /** Makes the coinbase like no other; random unless given. */
  readonly nonce?: Uint8Array
  /** Fields of the header to replace. */
  readonly header?: Partial<HeaderFields>
  /** All transactions, in place of a coinbase and `transactions`. */
  readonly all?: (coinbase: Transaction) => readonly Transaction[]
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
  const attributes = [{ usage: attributeUsage.nonce, data: nonce }, commitmentAttribute(spec, height, root)]
  return new Transaction({ ...fields, attributes, ...coinbase })
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

export interface ConfirmPlan {
  readonly view?: number
  /** The person that proposes; the one on duty unless given. */
  readonly sponsor?: number
  /** Persons that vote, in order; all validators of a test spec unless given. */
  readonly voters?: readonly number[]
  /** What a voter says; true unless given. */
  readonly accept?: boolean
  /** Another block to confirm. */
  readonly blockHash?: Uint8Array
}

/** A confirm by test persons, who are the validators of a test spec in that order. */
export function craftConfirm(spec: Spec, block: Block, plan: ConfirmPlan = {}): Confirm {
  const count = Math.max(1, paramsAt(spec, block.header.height).validators.length)
  const { view = 0, accept = true, blockHash = block.header.hash } = plan
  const { sponsor = (block.header.height + view) % count } = plan
  const { voters = Array.from({ length: count }, (_, person) => person) } = plan
  const proposed = { sponsor: testPublicKey(sponsor), blockHash, viewOffset: view }
  const proposal = { ...proposed, signature: sign(proposalUnsigned(proposed), testKey(sponsor)) }
  const votes = voters.map((person) => {
    const vote = { proposalHash: proposalHash(proposed), signer: testPublicKey(person), accept }
    return { ...vote, signature: sign(voteUnsigned(vote), testKey(person)) }
  })
  return { proposal, votes }
}
