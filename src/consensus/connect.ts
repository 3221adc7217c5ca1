import { defaultDidLimits, parseOperation } from '../did/operation.js'
import { applyOperation, type DidState, type ForeignDocument } from '../did/state.js'
import { RuleError } from '../errors.js'
import type { ProgramHash } from '../primitives/address.js'
import type { Block } from '../primitives/block.js'
import { displayHash, mapKey } from '../primitives/bytes.js'
import { Writer } from '../primitives/codec.js'
import { type SideChainPow, txType } from '../primitives/payload.js'
import { parseParameter, programHashOf } from '../primitives/program.js'
import type { SignatureCheck } from '../primitives/signature.js'
import { didMethod, fixedLimits, type Params, paramsAt } from '../primitives/spec.js'
import { attributeUsage, finalSequence, lockSequence, type Transaction } from '../primitives/transaction.js'
import { type Coin, StateOverlay, type StateView } from './ledger.js'
import { naming, programCost, type SanityContext, typeCost } from './sanity.js'
import { subsidyAt } from './subsidy.js'

/** Rules that need the state of the chain. Nothing here verifies: the checks come back for the caller to run in bulk. */

/** The block, or the block to come, that a transaction is connected in. */
export interface ConnectContext extends SanityContext {
  readonly height: number
}

/** What connecting one transaction did. */
export interface ConnectedTransaction {
  readonly fee: bigint
  /** Signature cost, credentials included. */
  readonly cost: number
  readonly checks: readonly SignatureCheck[]
  /** The coins it spent, in input order. */
  readonly spent: readonly Coin[]
  /** The DID whose state it changed. */
  readonly did?: { readonly id: string; readonly state: DidState; readonly foreign: readonly ForeignDocument[] }
}

/** A transaction that can be connected; `apply` does it. */
export interface ConnectableTransaction extends ConnectedTransaction {
  apply(): void
}

/**
 * Checks an ordinary transaction that passed sanity on top of `state` and leaves `state` as it is. Throws the code of
 * the first rule it breaks.
 */
export function checkTransaction(
  tx: Transaction,
  state: StateOverlay,
  context: ConnectContext,
): ConnectableTransaction {
  const { height, spec } = context
  const params = paramsAt(spec, height)
  if (!isFinal(tx, height)) throw new RuleError('tx-not-final', `lockTime ${tx.lockTime} at height ${height}`)
  const spent = tx.inputs.map((_, i) => coinOf(tx, i, state))
  spent.forEach((coin, i) => checkLock(tx, i, coin, height))
  const fee = feeOf(tx, spent, params, spec.maxMoney)
  const checks = [...programChecks(tx, spent), ...sideChainChecks(tx, params)]
  spent.forEach((coin, i) => checkMaturity(tx, i, coin, context))
  const applied = tx.payload.type === txType.did ? applyDid(tx, state, params) : undefined
  const cost = programCost(tx) + (applied?.cost ?? typeCost(tx))
  if (cost > spec.limits.transactionCost) {
    throw new RuleError('tx-signature-cost', `cost ${cost}, at most ${spec.limits.transactionCost}`)
  }

  const next = applied?.next
  return {
    fee,
    cost,
    spent,
    checks: [...checks, ...(applied?.checks ?? [])],
    ...(applied === undefined
      ? {}
      : { did: { id: applied.next.document.id, state: applied.next, foreign: applied.foreign } }),
    apply: () => {
      tx.inputs.forEach((input, i) => state.spend(input, spent[i] as Coin))
      createOutputs(tx, state, height)
      if (next !== undefined) state.setDid(next.document.id, next)
    },
  }
}

/** What one block may cost beyond its bytes: signature checks, and issuer documents that must be read for credentials. */
export class BlockBudget {
  readonly #limit: number
  readonly #documents = new Map<string, number>()
  #cost = 0
  #documentBytes = 0

  /** `limit` is the spec's signature cost of a block. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Counts one more transaction; throws, and counts nothing, when it does not fit any more. */
  add({ cost, did }: ConnectedTransaction): void {
    if (this.#cost + cost > this.#limit) throw new RuleError('block-signature-cost', `more than ${this.#limit}`)
    const added = (did?.foreign ?? []).filter(({ txid }) => !this.#documents.has(txid))
    const bytes = added.reduce((sum, { payloadSize }) => sum + payloadSize, this.#documentBytes)
    const { issuerDocuments, issuerBytes } = fixedLimits
    if (this.#documents.size + added.length > issuerDocuments || bytes > issuerBytes) {
      throw new RuleError('block-issuer-documents', `more than ${issuerDocuments} documents or ${issuerBytes} bytes`)
    }
    this.#cost += cost
    this.#documentBytes = bytes
    for (const { txid, payloadSize } of added) this.#documents.set(txid, payloadSize)
  }
}

/** What connecting a block did. */
export interface ConnectedBlock {
  readonly state: StateOverlay
  /** One entry a transaction after the coinbase. */
  readonly transactions: readonly ConnectedTransaction[]
  readonly fees: bigint
  readonly checks: readonly SignatureCheck[]
}

/**
 * Connects a block that passed sanity, one transaction a {@link step}, so that the caller can divide a long one into
 * slices. Call `step` until it returns undefined, then `finish`.
 */
export class BlockConnector {
  readonly #block: Block
  readonly #context: ConnectContext
  readonly #state: StateOverlay
  readonly #transactions: ConnectedTransaction[] = []
  readonly #budget: BlockBudget
  #next = 1

  constructor(block: Block, view: StateView, context: SanityContext) {
    this.#block = block
    this.#context = { ...context, height: block.header.height }
    this.#budget = new BlockBudget(context.spec.limits.blockCost)
    this.#state = new StateOverlay(view)
    // The coinbase comes first: its outputs exist for the maturity rule to refuse.
    createOutputs(block.transactions[0] as Transaction, this.#state, block.header.height)
  }

  /** Connects the next transaction; undefined when there is none left. */
  step(): ConnectedTransaction | undefined {
    const tx = this.#block.transactions[this.#next]
    if (tx === undefined) return undefined
    const connectable = this.#check(tx)
    naming(tx, () => this.#budget.add(connectable))
    connectable.apply()
    this.#transactions.push(connectable)
    this.#next++
    return connectable
  }

  /** Checks what the coinbase pays and returns everything that connecting changed. */
  finish(): ConnectedBlock {
    const coinbase = this.#block.transactions[0] as Transaction
    const fees = this.#transactions.reduce((sum, { fee }) => sum + fee, 0n)
    const paid = coinbase.outputs.reduce((sum, { value }) => sum + value, 0n)
    const allowed = subsidyAt(this.#context.spec, this.#context.height) + fees
    if (paid > allowed) throw new RuleError('coinbase-value', `the coinbase pays ${paid}, at most ${allowed}`)
    const checks = this.#transactions.flatMap((connected) => connected.checks)
    return { state: this.#state, transactions: this.#transactions, fees, checks }
  }

  #check(tx: Transaction): ConnectableTransaction {
    try {
      return checkTransaction(tx, this.#state, this.#context)
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      const spentHere = tx.inputs.find((input) => this.#state.isSpent(input))
      const where = `transaction ${this.#next} (${tx.txid})`
      if (error.code === 'tx-input-unknown' && spentHere !== undefined) {
        throw new RuleError(
          'block-double-spend',
          `${where} spends ${displayHash(spentHere.txid)}:${spentHere.index} again`,
          { transaction: tx.txid },
        )
      }
      throw new RuleError(error.code, `${where}: ${error.message}`, { transaction: tx.txid })
    }
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

/** The programs must be exactly those of the spent coins and Script attributes; all their signatures are to verify. */
function programChecks(tx: Transaction, spent: readonly Coin[]): SignatureCheck[] {
  const required = new Map<string, ProgramHash>()
  for (const { programHash } of spent) required.set(mapKey(programHash), programHash)
  for (const { usage, data } of tx.attributes) {
    if (usage === attributeUsage.script) required.set(mapKey(data), data)
  }
  if (required.size !== tx.programs.length) {
    throw new RuleError('tx-program-mismatch', `${tx.programs.length} programs where ${required.size} are needed`)
  }
  return tx.programs.map(({ code, parameter }, i) => {
    const script = tx.scripts[i]
    const signatures = script === undefined ? undefined : parseParameter(parameter, script)
    if (script === undefined || signatures === undefined) throw new RuleError('tx-program-form', `program ${i}`)
    if (!required.delete(mapKey(programHashOf(code, script)))) {
      throw new RuleError('tx-program-mismatch', `program ${i} unlocks nothing that this transaction spends`)
    }
    return {
      message: tx.unsigned,
      keys: script.keys,
      signatures,
      code: 'tx-signature',
      subject: `program ${i} of ${tx.txid}`,
    }
  })
}

function sideChainChecks(tx: Transaction, params: Params): SignatureCheck[] {
  if (tx.payload.type !== txType.sideChainPow) return []
  if (params.validators.length === 0) throw new RuleError('tx-side-chain-signer', 'this chain has no validators')
  return [
    {
      message: sideChainMessage(tx.payload),
      keys: params.validators,
      signatures: [tx.payload.signedData],
      code: 'tx-side-chain-signer',
      subject: `side-chain proof of work ${tx.txid}`,
    },
  ]
}

/** The bytes that the validator of a side-chain proof of work signs: the three fields before the signature. */
function sideChainMessage({ sideBlockHash, sideGenesisHash, blockHeight }: SideChainPow): Uint8Array {
  return new Writer(68).bytes(sideBlockHash).bytes(sideGenesisHash).u32(blockHeight).finish()
}

function applyDid(tx: Transaction, state: StateView, params: Params): ReturnType<typeof applyOperation> {
  if (tx.payload.type !== txType.did) throw new TypeError('not a DID transaction')
  const rules = { method: didMethod, specifications: params.specifications, limits: defaultDidLimits }
  const operation = parseOperation(tx.payload.operation, rules)
  const context = { ...rules, txid: tx.txid, issuer: (did: string) => state.issuer(did) }
  return applyOperation(state.did(operation.did), operation, context)
}

/** Adds the outputs of a transaction as coins; one of value 0 is no coin. */
function createOutputs(tx: Transaction, state: StateOverlay, height: number): void {
  const { hash, isCoinbase } = tx
  for (const [index, { value, outputLock, programHash }] of tx.outputs.entries()) {
    if (value > 0n)
      state.create({ txid: hash, index }, { height, coinbase: isCoinbase, value, outputLock, programHash })
  }
}
