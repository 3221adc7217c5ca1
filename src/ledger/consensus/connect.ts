import { documentText } from '../../identity/did/canonical.js'
import type { ParsedOperation } from '../../identity/did/operations/operation-row.js'
import type { AppliedOperation, DidState } from '../../identity/did/state.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Block } from '../../base/primitives/block.js'
import { displayHash, fromUtf8 } from '../../base/primitives/bytes.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import { defined } from '../../base/primitives/defined.js'
import { eachSteps, finish, noSteps, type Steps } from '../../base/primitives/steps.js'
import { outpointKey, outputKey } from '../../base/primitives/input.js'
import type { Output } from '../../base/primitives/output.js'
import { paramsAt } from '../../base/primitives/spec.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { Input } from '../../base/primitives/transaction-fields.js'
import { BlockBudget } from './block-budget.js'
import { checkCoins, type CheckedCoins, coinSteps, requireLeastFee } from './coin-rules.js'
import { type Coin, coinOf, type ProvedSideBlock, StateOverlay, type StateView } from './ledger.js'
import type { ConnectContext, SanityContext } from './rule-context.js'
import { type SignatureWork, transactionWork } from './signature-work.js'
import { subsidyAt } from './subsidy.js'
import { typeRulesOf } from './types/all-types.js'

/**
 * Rules that need the state of the chain. Nothing here verifies: signature checks are returned for the caller to verify in bulk.
 */

/** Coins looked at in one step. */
const coinsAtOnce = 16

/** Short transactions of a block connected in one step, at most. */
export const transactionsAtOnce = 4

/** Result of checking a transaction on the state that it changes. */
export interface ConnectedTransaction extends Omit<CheckedCoins, 'payloadKeys'> {
  /** Work of its signatures, those of credentials included. */
  readonly work: SignatureWork
  /** The operation that it carries. */
  readonly did?: ConnectedOperation
  /** The block of a side chain that it proves. */
  readonly proved?: ProvedSideBlock | undefined
}

/** The part of it that the rows of its block need. */
export type BlockTransaction = Pick<ConnectedTransaction, 'fee' | 'spent' | 'did' | 'proved'>

/** Result of an operation. */
export interface ConnectedOperation extends Pick<
  AppliedOperation,
  'credential' | 'newLeaf' | 'nameLength' | 'reads' | 'issuerKeys'
> {
  /** The DID that it changes, or that signs a declare or revoke. */
  readonly id: string
  /** State of that DID; a declare or revoke leaves it as it was. */
  readonly state: DidState
  /** Canonical text of the new document in UTF-8. */
  readonly document?: { readonly bytes: Uint8Array }
}

/** A transaction that can be connected to the state that it was checked on, by `apply` or in steps. */
export class ConnectableTransaction implements ConnectedTransaction {
  readonly fee: bigint
  readonly work: SignatureWork
  readonly spent: readonly Coin[]
  readonly checks: readonly SignatureCheck[]
  readonly did?: ConnectedOperation
  readonly proved: ProvedSideBlock | undefined
  readonly #tx: Transaction
  readonly #state: StateOverlay
  readonly #height: number

  constructor(
    { fee, work, spent, checks, did, proved }: ConnectedTransaction,
    on: { readonly tx: Transaction; readonly state: StateOverlay; readonly height: number },
  ) {
    this.fee = fee
    this.work = work
    this.spent = spent
    this.checks = checks
    if (did !== undefined) this.did = did
    this.proved = proved
    this.#tx = on.tx
    this.#state = on.state
    this.#height = on.height
  }

  apply(): void {
    const steps = this.applySteps()
    if (steps !== noSteps) finish(steps)
  }

  applySteps(): Steps {
    if (this.proved !== undefined) this.#state.setProved(this.proved)
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
    const { coins } = this.#state
    for (let i = 0; i < inputs.length; i++) coins.spend(outpointKey(inputs[i] as Input), this.spent[i] as Coin)
    for (let i = 0; i < outputs.length; i++) createCoin(this.#state, this.#tx, i, this.#height)
    return noSteps
  }

  *#manyCoinSteps(): Steps {
    const spend = (input: Input, i: number) => this.#state.coins.spend(outpointKey(input), this.spent[i] as Coin)
    yield* eachSteps(this.#tx.inputs, spend, coinsAtOnce)
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
  const applied = yield* applyTypeSteps(tx, state, context, operation)
  return connectable(tx, { coins, applied }, state, context)
}

/** {@link transactionSteps} of a short transaction that carries no operation, at once. */
function shortTransaction(tx: Transaction, state: StateOverlay, context: ConnectContext): ConnectableTransaction {
  return connectable(tx, { coins: checkCoins(tx, state, context) }, state, context)
}

function connectable(
  tx: Transaction,
  { coins, applied }: { readonly coins: CheckedCoins; readonly applied?: AppliedOperation | undefined },
  state: StateOverlay,
  context: ConnectContext,
): ConnectableTransaction {
  const { spec, height } = context
  const { limits } = spec
  const proved = typeRulesOf(tx).prove?.(tx.payload, state, context)
  const work = transactionWork(tx, applied?.cost ?? typeRulesOf(tx).cost, coins.payloadKeys)
  if (work.cost > limits.transactionCost) {
    throw new RuleError('tx-signature-cost', `cost ${work.cost}, at most ${limits.transactionCost}`)
  }
  const { fee, spent } = coins
  if (applied?.newLeaf || applied?.nameLength !== undefined) {
    const { newLeaf, nameLength } = applied
    requireLeastFee(fee, paramsAt(spec, height), { unsignedSize: tx.unsignedSize, newLeaf, nameLength })
  }
  const on = { tx, state, height }
  if (applied === undefined) return new ConnectableTransaction({ fee, work, spent, checks: coins.checks, proved }, on)
  const checks = [...coins.checks, ...applied.checks]
  return new ConnectableTransaction({ fee, work, spent, checks, did: connectedOperation(applied), proved }, on)
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
export function connectedOperation(applied: AppliedOperation): ConnectedOperation {
  const { next: state, credential, newLeaf = false, nameLength, reads, issuerKeys, document } = applied
  if (credential !== undefined) return { id: credential.signer, state, credential, newLeaf, reads, issuerKeys }
  const { id } = state.document
  if (document === undefined) return { id, state, reads, issuerKeys }
  const named = defined({ nameLength })
  return { id, state, ...named, reads, issuerKeys, document: { bytes: fromUtf8(documentText(document)) } }
}

/** Result of connecting a block. */
export interface ConnectedBlock {
  readonly state: StateOverlay
  /** One entry for each transaction after the coinbase. */
  readonly transactions: readonly BlockTransaction[]
  readonly fees: bigint
}

/**
 * Connects a block that passed sanity, so that the caller can divide a long one into slices. Run through `steps`,
 * then call `finish`.
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

  /** Connects all transactions; `found` gets each. */
  *steps(found?: (connected: ConnectedTransaction) => void): Steps {
    const { transactions } = this.#block
    yield* this.#coinbaseSteps()
    while (this.#next < transactions.length) {
      const tx = transactions[this.#next] as Transaction
      const isSimple = tx.isShort && typeRulesOf(tx).parse === undefined
      const connected = isSimple ? this.#connectSimple(tx) : yield* this.#transactionSteps(tx)
      found?.(connected)
      if (this.#next % transactionsAtOnce === 0) yield
    }
  }

  /** The coinbase comes first: its outputs must exist for the maturity rule to refuse them. */
  *#coinbaseSteps(): Steps {
    const { transactions, header } = this.#block
    yield* outputSteps(transactions[0] as Transaction, this.#state, header.height)
    this.#next = 1
  }

  *#transactionSteps(tx: Transaction): Steps<ConnectedTransaction> {
    let connectable: ConnectableTransaction
    try {
      connectable = yield* transactionSteps(tx, this.#state, this.#context)
      this.#budget.add(connectable)
    } catch (error) {
      throw error instanceof RuleError ? this.#named(error, tx) : error
    }
    yield* connectable.applySteps()
    return this.#connected(connectable)
  }

  /** The same of a short transaction that carries no operation, as most of a block are: in one go, because a generator for each would cost garbage collection. */
  #connectSimple(tx: Transaction): ConnectedTransaction {
    let connectable: ConnectableTransaction
    try {
      connectable = shortTransaction(tx, this.#state, this.#context)
      this.#budget.add(connectable)
    } catch (error) {
      throw error instanceof RuleError ? this.#named(error, tx) : error
    }
    connectable.apply()
    return this.#connected(connectable)
  }

  #connected(connectable: ConnectableTransaction): ConnectedTransaction {
    // Not its checks, nor what they were made from: most of a block's memory would wait for the last signature.
    const { fee, spent, did, proved } = connectable
    this.#block.transactions[this.#next]?.forget()
    this.#transactions.push(did === undefined ? { fee, spent, proved } : { fee, spent, did, proved })
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
    const spentHere = tx.inputs.find((input) => this.#state.coins.get(outpointKey(input)) === null)
    const where = `transaction ${this.#next} (${tx.txid})`
    if (error.code === 'tx-input-unknown' && spentHere !== undefined) {
      const again = `${where} spends ${displayHash(spentHere.txid)}:${spentHere.index} again`
      return new RuleError('block-double-spend', again, { transaction: tx.txid })
    }
    return new RuleError(error.code, `${where}: ${error.message}`, { transaction: tx.txid })
  }
}

/** Adds the outputs of a transaction as coins. */
function outputSteps(tx: Transaction, state: StateOverlay, height: number): Steps {
  return eachSteps(tx.outputs, (_, i) => createCoin(state, tx, i, height), coinsAtOnce)
}

/** Adds an output as a coin. */
function createCoin({ coins }: StateOverlay, tx: Transaction, index: number, height: number): void {
  const coin = coinOf(tx.outputs[index] as Output, { height, coinbase: tx.isCoinbase })
  if (coin !== undefined) coins.create(outputKey(tx.hashKey, index), coin)
}
