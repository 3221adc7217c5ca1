/**
 * Checks the rules of the chain and returns the signature checks that must hold; this file needs bytes and spec alone.
 *
 *   header      -> checkHeaderContext, checkProofOfWork    context.ts, identity/proofs/auxpow-proof.ts: ancestors, time, work
 *   body        -> bodyMatchSteps                          here: does it belong to its header?
 *   confirm     -> checkConfirm                            check-confirm.ts: proposer of the view, quorum of validators
 *   block       -> blockSanitySteps                        here: coinbase, then transactionSanitySteps for each other
 *   transaction -> BlockConnector, checkTransaction        connect.ts: coins, fee, locks, DIDs, on a StateView
 *               => signature checks, changed state; or a RuleError with the first broken rule
 *
 * Imports did, errors, primitives, proofs; used by gateway, chain, state, mempool, storage, production, voting, network, devnet, node, api, library, cli, standing.
 * - Pure, and verifies no signature: the caller does, in bulk.
 * - bodyMatchSteps comes before all other rules of a body: until it passed, an invalid body says nothing of the hash.
 */
import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { prefix } from '../../base/primitives/address.js'
import { type Block, witnessLeaf } from '../../base/primitives/block.js'
import { displayHash, equalBytes } from '../../base/primitives/bytes.js'
import { MerkleTree } from '../../base/primitives/merkle.js'
import { type Output, ownerOf } from '../../base/primitives/output.js'
import { fixedLimits } from '../../base/primitives/spec.js'
import { eachSteps, finish, noSteps, type Steps } from '../../base/primitives/steps.js'
import { coinbaseInput, isCoinbaseOutpoint, outpointKey } from '../../base/primitives/input.js'
import { attributeUsage, type Transaction } from '../../base/primitives/transaction.js'
import type { Attribute, Input } from '../../base/primitives/transaction-fields.js'
import { checkCoinbaseSize } from './coinbase-size.js'
import { checkCommitment, namesNextValidators } from './commitment.js'
import type { SanityContext } from './rule-context.js'
import { addWork, noWork, requireWork, type SignatureWork, transactionWork } from './signature-work.js'
import { typeRulesOf } from './types/all-types.js'
import { scriptAt, signaturesAt } from '../../base/primitives/transaction-programs.js'

/** Short transactions of a block checked in one step. */
const shortAtOnce = 8
/** Inputs or outputs checked in one step. */
const itemsAtOnce = 16

/** Prefixes that an output may pay to. */
export const acceptedPrefixes: readonly (number | undefined)[] = [prefix.standard, prefix.multisig, prefix.did]

/** Checks of an ordinary transaction by itself, in this order. */
const ordinary: readonly ((tx: Transaction, context: SanityContext) => Steps | void)[] = [
  checkType,
  checkSize,
  inputSteps,
  outputSteps,
  checkAttributes,
  programSteps,
  checkPayload,
]

/**
 * Checks an ordinary transaction by itself. Throws the code of the first rule it breaks; returns the work of its signatures, as far
 * as it follows from the bytes.
 */
export function checkTransactionSanity(tx: Transaction, context: SanityContext): SignatureWork {
  for (const rule of ordinary) {
    const steps = rule(tx, context)
    if (steps !== undefined && steps !== noSteps) finish(steps)
  }
  return workOf(tx, context)
}

/** {@link checkTransactionSanity} in steps. */
export function* transactionSanitySteps(tx: Transaction, context: SanityContext): Steps<SignatureWork> {
  for (const rule of ordinary) yield* rule(tx, context) ?? noSteps
  return workOf(tx, context)
}

function workOf(tx: Transaction, { spec }: SanityContext): SignatureWork {
  const work = transactionWork(tx, typeRulesOf(tx).cost)
  if (work.cost > spec.limits.transactionCost) {
    throw new RuleError('tx-signature-cost', `cost ${work.cost}, at most ${spec.limits.transactionCost}`)
  }
  return work
}

function checkType(tx: Transaction): void {
  if (!typeRulesOf(tx).accepted) throw new RuleError('tx-type', `type ${tx.type} is not accepted`)
}

function checkPayload(tx: Transaction): void {
  if (tx.payloadVersion !== 0) throw new RuleError('tx-payload-version', `payload version ${tx.payloadVersion}, not 0`)
  typeRulesOf(tx).sanity?.(tx.payload)
}

/** Checks a coinbase by itself. Throws the code of the first rule it breaks. */
function* coinbaseSanitySteps(tx: Transaction, height: number, context: SanityContext): Steps {
  checkSize(tx, context)
  checkCoinbaseSize(context.spec, height, tx)
  const input = tx.inputs[0]
  if (tx.inputs.length !== 1 || !input || !isCoinbaseOutpoint(input) || input.sequence !== coinbaseInput.sequence) {
    throw brokenRule('coinbase-input')
  }
  yield* outputSteps(tx, context)
  checkAttributes(tx)
  if (tx.programs.length > 0) throw brokenRule('coinbase-program')
  if (tx.payloadVersion !== 4) throw new RuleError('coinbase-payload-version', `version ${tx.payloadVersion}, not 4`)
  if (tx.lockTime !== height) throw new RuleError('coinbase-height', `lockTime ${tx.lockTime} at height ${height}`)
}

/**
 * Whether a body belongs to its header. A failure means that the body was altered on its way, and implies nothing about the hash;
 * every other rule of {@link blockSanitySteps} applies to the block of that hash.
 */
export function* bodyMatchSteps(block: Block, { spec }: SanityContext): Steps {
  const { transactions, header } = block
  if (transactions.length === 0) throw new RuleError('block-transaction-count', 'the block has no transaction')
  const ids = new Set<string>()
  const txidTree = new MerkleTree()
  const witnessTree = new MerkleTree()
  for (let i = 0; i < transactions.length; i++) {
    const tx = transactions[i] as Transaction
    yield* tx.hashSteps()
    ids.add(tx.hashKey)
    txidTree.add(tx.hashKey)
    witnessTree.add(witnessLeaf(tx, i))
    if (i % shortAtOnce === 0) yield
  }
  if (ids.size !== transactions.length) throw brokenRule('block-duplicate-transaction')
  const { root } = txidTree
  if (!equalBytes(root, header.merkleRoot)) {
    throw new RuleError('block-merkle-root', `the transactions lead to ${displayHash(root)}`)
  }
  const coinbase = transactions[0] as Transaction
  if (!coinbase.isCoinbase) throw new RuleError('block-coinbase-position', 'the first transaction is no coinbase')
  if (coinbase.programs.length > 0) throw brokenRule('coinbase-program')
  // The next validators named here bind no byte of the body: wrong ones make the block invalid, not the sender wrong.
  checkCommitment(spec, header.height, coinbase, witnessTree.root)
}

/** Checks a block whose body matches its header, by itself. */
export function* blockSanitySteps(block: Block, context: SanityContext): Steps {
  const { limits } = context.spec
  const { transactions, header } = block
  if (transactions.length > limits.blockTransactions) {
    throw new RuleError('block-transaction-count', `${transactions.length}, at most ${limits.blockTransactions}`)
  }
  const size = block.limitedSize
  if (size > limits.blockSize) throw new RuleError('block-size', `${size} bytes, at most ${limits.blockSize}`)
  const coinbase = transactions[0] as Transaction
  yield* coinbaseSanitySteps(coinbase, header.height, context)
  if (!namesNextValidators(context.spec, header.height, coinbase)) {
    throw brokenRule('coinbase-validators')
  }
  let work = noWork
  for (let i = 1; i < transactions.length; i++) {
    const tx = transactions[i] as Transaction
    if (tx.isCoinbase) throw new RuleError('block-coinbase-position', `transaction ${i} is a second coinbase`)
    try {
      const own = tx.isShort ? checkTransactionSanity(tx, context) : yield* transactionSanitySteps(tx, context)
      work = addWork(work, own)
    } catch (error) {
      throw error instanceof RuleError ? new RuleError(error.code, error.message, { transaction: tx.txid }) : error
    }
    if (i % shortAtOnce === 0) yield
  }
  requireWork(work, limits)
}

function checkSize(tx: Transaction, { spec }: SanityContext): void {
  if (tx.bytes.length > spec.limits.blockSize) {
    throw new RuleError('tx-size', `${tx.bytes.length} bytes, at most ${spec.limits.blockSize}`)
  }
  if (tx.unsignedSize === 64) throw brokenRule('tx-ambiguous-size')
}

function inputSteps({ inputs }: Transaction): Steps {
  if (inputs.length === 0) throw brokenRule('tx-input-count')
  const seen = inputs.length === 1 ? undefined : new Set<string>()
  const check = (input: Input, i: number) => {
    if (isCoinbaseOutpoint(input)) throw new RuleError('tx-input-coinbase', `input ${i} names the coinbase outpoint`)
    if (seen === undefined) return
    const key = outpointKey(input)
    if (seen.has(key)) {
      throw new RuleError('tx-input-repeated', `input ${i} spends ${displayHash(input.txid)}:${input.index} again`)
    }
    seen.add(key)
  }
  return eachSteps(inputs, check, itemsAtOnce)
}

function outputSteps(tx: Transaction, { spec, assetId }: SanityContext): Steps {
  if (tx.outputs.length === 0 || tx.outputs.length > fixedLimits.outputs) {
    throw new RuleError('tx-output-count', `${tx.outputs.length} outputs`)
  }
  let sum = 0n
  const check = (output: Output, i: number) => {
    if (!equalBytes(output.assetId, assetId)) {
      throw new RuleError('tx-output-asset', `output ${i} is of asset ${displayHash(output.assetId)}`)
    }
    if (!acceptedPrefixes.includes(ownerOf(output).charCodeAt(0))) {
      throw new RuleError('tx-output-address', `output ${i} pays prefix ${output.programHash[0]}`)
    }
    if (output.extra !== undefined && output.extra.type !== 0) {
      throw new RuleError('tx-output-type', `output ${i} is of type ${output.extra.type}`)
    }
    sum += output.value
    if (output.value < 0n || sum > spec.maxMoney) {
      throw new RuleError('tx-output-value', `output ${i} has value ${output.value}, the outputs add up to ${sum}`)
    }
  }
  return eachSteps(tx.outputs, check, itemsAtOnce)
}

function checkAttributes(tx: Transaction): void {
  const { attributes } = tx
  if (attributes.length > fixedLimits.attributes) {
    throw new RuleError('tx-attribute', `${attributes.length} attributes, at most ${fixedLimits.attributes}`)
  }
  for (let i = 0; i < attributes.length; i++) {
    const { usage, data } = attributes[i] as Attribute
    if (data.length > fixedLimits.attributeSize) {
      throw new RuleError(
        'tx-attribute',
        `attribute ${i} has ${data.length} bytes, at most ${fixedLimits.attributeSize}`,
      )
    }
    if (usage === attributeUsage.script && (data.length !== 21 || !acceptedPrefixes.includes(data[0]))) {
      throw new RuleError('tx-attribute', `attribute ${i} is no program hash of an accepted kind`)
    }
  }
}

function programSteps(tx: Transaction): Steps {
  if (tx.programs.length === 0) throw brokenRule('tx-program-count')
  return eachSteps(tx.programs, (_, i) => {
    const script = scriptAt(tx, i)
    if (script === undefined) throw new RuleError('tx-program-form', `the code of program ${i} is of no accepted form`)
    if (signaturesAt(tx, i) === undefined) {
      throw new RuleError(
        'tx-program-form',
        `program ${i} needs ${script.required} signatures of 64 bytes, each after the byte 40`,
      )
    }
  })
}
