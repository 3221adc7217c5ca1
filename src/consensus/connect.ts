import { documentText } from '../did/canonical.js'
import type { ParsedOperation } from '../did/operations/operation-row.js'
import type { AppliedOperation, CredentialChange, DidState, ReadDocument } from '../did/state.js'
import { RuleError } from '../errors/rule-error.js'
import type { Block } from '../primitives/block.js'
import { displayHash, mapKey } from '../primitives/bytes.js'
import { programHashOf } from '../primitives/program.js'
import type { SignatureCheck } from '../primitives/signature.js'
import { type Params, paramsAt } from '../primitives/spec.js'
import { eachSteps, finish, noSteps, type Steps } from '../primitives/steps.js'
import { attributeUsage, finalSequence, lockSequence, type Transaction } from '../primitives/transaction.js'
import { BlockBudget } from './block-budget.js'
import { type Coin, StateOverlay, type StateView } from './ledger.js'
import type { ConnectContext, SanityContext } from './rule-context.js'
import { type SignatureWork, transactionWork } from './signature-work.js'
import { subsidyAt } from './subsidy.js'
import { typeRulesOf } from './types/all-types.js'

/**
 * Rules that need the state of the chain. Nothing here verifies: signature checks are returned for the caller to verify in bulk.
 */

/** Coins looked at in one step. */
const coinsAtOnce = 16
const isPause = (index: number) => index % coinsAtOnce === coinsAtOnce - 1

/** Short transactions of a block connected in one step. */
const transactionsAtOnce = 4

/** Result of checking the coins that a transaction spends. */
export interface CheckedCoins {
  readonly fee: bigint
  /** The coins it spends, in input order. */
  readonly spent: readonly Coin[]
  /** Checks of its programs, and those of its type that need no state. */
  readonly checks: readonly SignatureCheck[]
  /** Number of keys that signatures of its payload are tried with. */
  readonly payloadKeys: number
}

/** Result of checking a transaction on the state that it changes. */
export interface ConnectedTransaction extends Omit<CheckedCoins, 'payloadKeys'> {
  /** Work of its signatures, those of credentials included. */
  readonly work: SignatureWork
  /** The operation that it carries. */
  readonly did?: ConnectedOperation
}

/** The part of it that the rows of its block need. */
export type BlockTransaction = Pick<ConnectedTransaction, 'fee' | 'spent' | 'did'>

/** Result of an operation. */
export interface ConnectedOperation {
  /** The DID that it changes, or that declares or revokes. */
  readonly id: string
  /** State of that DID; a declare or revoke leaves it as it was. */
  readonly state: DidState
  /** What a declare or revoke says. */
  readonly credential?: CredentialChange
  readonly reads: readonly ReadDocument[]
  /** Canonical text of the new document, and the other DIDs that issued credentials in it. */
  readonly document?: { readonly text: string; readonly issuers: readonly string[] }
}

/** A transaction that can be connected to the state that it was checked on, by `apply` or in steps. */
export class ConnectableTransaction implements ConnectedTransaction {
  readonly fee: bigint
  readonly work: SignatureWork
  readonly spent: readonly Coin[]
  readonly checks: readonly SignatureCheck[]
  readonly did?: ConnectedOperation
  readonly #tx: Transaction
  readonly #state: StateOverlay
  readonly #height: number

  constructor(
    { fee, work, spent, checks, did }: ConnectedTransaction,
    on: { readonly tx: Transaction; readonly state: StateOverlay; readonly height: number },
  ) {
    this.fee = fee
    this.work = work
    this.spent = spent
    this.checks = checks
    if (did !== undefined) this.did = did
    this.#tx = on.tx
    this.#state = on.state
    this.#height = on.height
  }

  apply(): void {
    finish(this.applySteps())
  }

  applySteps(): Steps {
    return this.did === undefined ? this.#coinSteps() : this.#allSteps(this.did)
  }

  *#allSteps({ id, state, credential }: ConnectedOperation): Steps {
    yield* this.#coinSteps()
    if (credential === undefined) this.#state.setDid(id, state)
    else this.#state.setCredential(credential)
  }

  #coinSteps(): Steps {
    const { inputs, outputs } = this.#tx
    if (inputs.length + outputs.length > coinsAtOnce) return this.#manyCoinSteps()
    inputs.forEach((input, i) => this.#state.coins.spend(input, this.spent[i] as Coin))
    outputs.forEach((_, i) => createCoin(this.#state, this.#tx, i, this.#height))
    return noSteps
  }

  *#manyCoinSteps(): Steps {
    yield* eachSteps(this.#tx.inputs, (input, i) => this.#state.coins.spend(input, this.spent[i] as Coin), coinsAtOnce)
    yield* outputSteps(this.#tx, this.#state, this.#height)
  }
}

/**
 * Checks an ordinary transaction that passed sanity on top of `state`, which stays unchanged. Throws the code of the first rule
 * it breaks. `operation`: an earlier result of {@link readOperationSteps}.
 */
export function checkTransaction(
  tx: Transaction,
  state: StateOverlay,
  context: ConnectContext,
  operation?: ParsedOperation,
): ConnectableTransaction {
  return finish(transactionSteps(tx, state, context, operation))
}

/** {@link checkTransaction} in steps; `state` must not change before the last one. */
export function* transactionSteps(
  tx: Transaction,
  state: StateOverlay,
  context: ConnectContext,
  operation?: ParsedOperation,
): Steps<ConnectableTransaction> {
  const coins = yield* coinSteps(tx, state, context)
  const { spent, fee } = coins
  const rules = typeRulesOf(tx)
  const applied = rules.parse === undefined ? undefined : yield* applyTypeSteps(tx, state, context, operation)
  const work = transactionWork(tx, applied?.cost ?? rules.cost, coins.payloadKeys)
  const { limits } = context.spec
  if (work.cost > limits.transactionCost) {
    throw new RuleError('tx-signature-cost', `cost ${work.cost}, at most ${limits.transactionCost}`)
  }
  const checks = applied === undefined ? coins.checks : [...coins.checks, ...applied.checks]
  const did = applied && connectedOperation(applied)
  const connected = did === undefined ? { fee, work, spent, checks } : { fee, work, spent, checks, did }
  return new ConnectableTransaction(connected, { tx, state, height: context.height })
}

/**
 * The part of {@link checkTransaction} without DIDs: coins, fee, programs. Its checks are those of programs, so that they can be
 * verified before a document is read.
 */
export function* coinSteps(tx: Transaction, state: StateView, context: ConnectContext): Steps<CheckedCoins> {
  const { height, spec } = context
  const params = paramsAt(spec, height)
  if (!isFinal(tx, height)) throw new RuleError('tx-not-final', `lockTime ${tx.lockTime} at height ${height}`)
  // Loops, not eachSteps: this runs for every transaction of a block, and each closure would be an object more.
  const spent = new Array<Coin>(tx.inputs.length)
  for (let i = 0; i < spent.length; i++) {
    spent[i] = coinOf(tx, i, state)
    if (isPause(i)) yield
  }
  for (let i = 0; i < spent.length; i++) {
    checkLock(tx, i, spent[i] as Coin, height)
    if (isPause(i)) yield
  }
  const fee = feeOf(tx, spent, params, spec.maxMoney)
  const required = new Set<string>()
  for (let i = 0; i < spent.length; i++) {
    required.add(mapKey((spent[i] as Coin).programHash))
    if (isPause(i)) yield
  }
  for (const { usage, data } of tx.attributes) if (usage === attributeUsage.script) required.add(mapKey(data))
  if (required.size !== tx.programs.length) {
    throw new RuleError('tx-program-mismatch', `${tx.programs.length} programs where ${required.size} are needed`)
  }
  const checks = new Array<SignatureCheck>(tx.programs.length)
  for (let i = 0; i < checks.length; i++) {
    checks[i] = programCheck(tx, i, required)
    if (isPause(i)) yield
  }
  const ofType = typeRulesOf(tx).checks?.(tx, params)
  for (let i = 0; i < spent.length; i++) {
    checkMaturity(tx, i, spent[i] as Coin, context)
    if (isPause(i)) yield
  }
  if (ofType === undefined) return { fee, spent, checks, payloadKeys: 0 }
  const payloadKeys = ofType.reduce((sum, { keys }) => sum + keys.length, 0)
  return { fee, spent, checks: [...checks, ...ofType], payloadKeys }
}

/** Parses the operation of a transaction, without state; undefined where it carries none. */
export function* readOperationSteps(tx: Transaction, context: ConnectContext): Steps<ParsedOperation | undefined> {
  const parsing = typeRulesOf(tx).parse?.(tx.payload, context)
  return parsing && (yield* parsing)
}

function* applyTypeSteps(
  tx: Transaction,
  state: StateView,
  context: ConnectContext,
  parsed: ParsedOperation | undefined,
): Steps<AppliedOperation | undefined> {
  const operation = parsed ?? (yield* readOperationSteps(tx, context))
  const applying = operation && typeRulesOf(tx).apply?.(tx, operation, state, context)
  return applying && (yield* applying)
}

/** The part of an applied operation that is kept for the rows of its block. */
export function connectedOperation({ next, credential, reads, document }: AppliedOperation): ConnectedOperation {
  if (credential !== undefined) return { id: credential.signer, state: next, credential, reads }
  const { id } = next.document
  if (document === undefined) return { id, state: next, reads }
  const issuers = new Set(document.credentials.map(({ issuer }) => issuer))
  issuers.delete(id)
  return { id, state: next, reads, document: { text: documentText(document), issuers: [...issuers] } }
}

/** Result of connecting a block. */
export interface ConnectedBlock {
  readonly state: StateOverlay
  /** One entry for each transaction after the coinbase. */
  readonly transactions: readonly BlockTransaction[]
  readonly fees: bigint
}

/**
 * Connects a block that passed sanity, so that the caller can divide a long one into slices. Call `step` until it returns
 * undefined, then `finish`; or run through `steps`, which are shorter.
 */
export class BlockConnector {
  readonly #block: Block
  readonly #context: ConnectContext
  readonly #state: StateOverlay
  readonly #transactions: BlockTransaction[] = []
  readonly #budget: BlockBudget
  #next = 0

  constructor(block: Block, view: StateView, context: SanityContext) {
    this.#block = block
    this.#budget = new BlockBudget(context.spec.limits)
    this.#context = { ...context, height: block.header.height, budget: this.#budget }
    this.#state = new StateOverlay(view)
  }

  /** Connects the next transaction; undefined when there is none left. */
  step(): ConnectedTransaction | undefined {
    return finish(this.#nextSteps())
  }

  /** Connects all transactions; `found` gets each. */
  *steps(found?: (connected: ConnectedTransaction) => void): Steps {
    for (let next = yield* this.#nextSteps(); next !== undefined; next = yield* this.#nextSteps()) {
      found?.(next)
      if (this.#next % transactionsAtOnce === 0) yield
    }
  }

  *#nextSteps(): Steps<ConnectedTransaction | undefined> {
    const { transactions, header } = this.#block
    if (this.#next === 0) {
      // The coinbase comes first: its outputs must exist for the maturity rule to refuse them.
      yield* outputSteps(transactions[0] as Transaction, this.#state, header.height)
      this.#next = 1
    }
    const tx = transactions[this.#next]
    if (tx === undefined) return undefined
    let connectable: ConnectableTransaction
    try {
      connectable = yield* transactionSteps(tx, this.#state, this.#context)
      this.#budget.add(connectable)
    } catch (error) {
      throw error instanceof RuleError ? this.#named(error, tx) : error
    }
    yield* connectable.applySteps()
    // Not its checks: most of a block's memory would wait for the last signature.
    const { fee, spent, did } = connectable
    this.#transactions.push(did === undefined ? { fee, spent } : { fee, spent, did })
    this.#next++
    return connectable
  }

  /** Checks the value of the coinbase and returns all changes. */
  finish(): ConnectedBlock {
    const coinbase = this.#block.transactions[0] as Transaction
    const fees = this.#transactions.reduce((sum, { fee }) => sum + fee, 0n)
    const paid = coinbase.outputs.reduce((sum, { value }) => sum + value, 0n)
    const allowed = subsidyAt(this.#context.spec, this.#context.height) + fees
    if (paid > allowed) throw new RuleError('coinbase-value', `the coinbase pays ${paid}, at most ${allowed}`)
    return { state: this.#state, transactions: this.#transactions, fees }
  }

  /** The error of a transaction with its place in the block. */
  #named(error: RuleError, tx: Transaction): RuleError {
    const spentHere = tx.inputs.find((input) => this.#state.coins.get(input) === null)
    const where = `transaction ${this.#next} (${tx.txid})`
    if (error.code === 'tx-input-unknown' && spentHere !== undefined) {
      const again = `${where} spends ${displayHash(spentHere.txid)}:${spentHere.index} again`
      return new RuleError('block-double-spend', again, { transaction: tx.txid })
    }
    return new RuleError(error.code, `${where}: ${error.message}`, { transaction: tx.txid })
  }
}

/** Whether the lockTime lets a transaction into a block at `height`. */
export function isFinal(tx: Transaction, height: number): boolean {
  return tx.lockTime === 0 || tx.lockTime < height || tx.inputs.every(({ sequence }) => sequence === finalSequence)
}

/** The least fee, in 10^-8 units, of a transaction whose unsigned part has this many bytes. */
export function minimumFee(params: Params, unsignedSize: number): bigint {
  return params.fees.minimum + params.fees.perByte * BigInt(unsignedSize)
}

function inputAt(tx: Transaction, index: number): Transaction['inputs'][number] {
  return tx.inputs[index] as Transaction['inputs'][number]
}

function inputName(tx: Transaction, index: number): string {
  const input = inputAt(tx, index)
  return `input ${index} (${displayHash(input.txid)}:${input.index})`
}

function coinOf(tx: Transaction, index: number, state: StateView): Coin {
  const coin = state.coin(inputAt(tx, index))
  if (coin === undefined) {
    throw new RuleError('tx-input-unknown', `${inputName(tx, index)} refers to no unspent output`)
  }
  return coin
}

function checkLock(tx: Transaction, index: number, { outputLock }: Coin, height: number): void {
  if (outputLock === 0) return
  const { sequence } = inputAt(tx, index)
  if (sequence === lockSequence && tx.lockTime >= outputLock && tx.lockTime < height) return
  throw new RuleError(
    'tx-output-locked',
    `${inputName(tx, index)} is locked until height ${outputLock}: it needs sequence 0xfffffffe and a lockTime from there on that is passed`,
  )
}

/** The outputs of genesis are spendable at once. */
function checkMaturity(tx: Transaction, index: number, coin: Coin, { height, spec }: ConnectContext): void {
  if (!coin.coinbase || coin.height === 0 || height - coin.height >= spec.maturity) return
  const from = coin.height + spec.maturity
  throw new RuleError('tx-immature', `${inputName(tx, index)} is a coinbase output, spendable from height ${from}`)
}

function feeOf(tx: Transaction, spent: readonly Coin[], params: Params, maxMoney: bigint): bigint {
  const paidIn = spent.reduce((sum, { value }) => sum + value, 0n)
  if (paidIn > maxMoney) throw new RuleError('tx-input-value', `the inputs add up to ${paidIn}`)
  const paidOut = tx.outputs.reduce((sum, { value }) => sum + value, 0n)
  if (paidOut > paidIn) throw new RuleError('tx-balance', `the inputs hold ${paidIn}, the outputs pay ${paidOut}`)
  const fee = paidIn - paidOut
  const least = minimumFee(params, tx.unsigned.length)
  if (fee < least) throw new RuleError('tx-fee', `the fee is ${fee}, at least ${least} is asked`)
  return fee
}

/** The check of a program's signatures; it takes the program hash that it unlocks from those that are required. */
function programCheck(tx: Transaction, index: number, required: Set<string>): SignatureCheck {
  const script = tx.scriptAt(index)
  const signatures = tx.signaturesAt(index)
  if (script === undefined || signatures === undefined) throw new RuleError('tx-program-form', `program ${index}`)
  const { code } = tx.programs[index] as Transaction['programs'][number]
  if (!required.delete(mapKey(programHashOf(code, script)))) {
    throw new RuleError('tx-program-mismatch', `program ${index} unlocks nothing that this transaction spends`)
  }
  return new ProgramCheck(tx, index, script.keys, signatures)
}

/** The check of a program. Its subject is not made before a signature fails. */
class ProgramCheck implements SignatureCheck {
  readonly message: Uint8Array
  readonly keys: readonly Uint8Array[]
  readonly signatures: readonly Uint8Array[]
  readonly code = 'tx-signature'
  readonly #tx: Transaction
  readonly #index: number

  constructor(tx: Transaction, index: number, keys: readonly Uint8Array[], signatures: readonly Uint8Array[]) {
    this.message = tx.unsigned
    this.keys = keys
    this.signatures = signatures
    this.#tx = tx
    this.#index = index
  }

  get subject(): string {
    return `program ${this.#index} of ${this.#tx.txid}`
  }
}

/** Adds the outputs of a transaction as coins. */
function outputSteps(tx: Transaction, state: StateOverlay, height: number): Steps {
  return eachSteps(tx.outputs, (_, i) => createCoin(state, tx, i, height), coinsAtOnce)
}

/** Adds an output as a coin; one of value 0 is none. */
function createCoin({ coins }: StateOverlay, tx: Transaction, index: number, height: number): void {
  const { value, outputLock, programHash } = tx.outputs[index] as Transaction['outputs'][number]
  if (value <= 0n) return
  coins.create({ txid: tx.hash, index }, { height, coinbase: tx.isCoinbase, value, outputLock, programHash })
}
