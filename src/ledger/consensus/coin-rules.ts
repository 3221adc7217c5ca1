import { RuleError } from '../../base/errors/rule-error.js'
import { displayHash, mapKey } from '../../base/primitives/bytes.js'
import { leastFee, leastFeeText, type Room } from '../../base/primitives/fees.js'
import { finalSequence, lockSequence } from '../../base/primitives/input.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import { type Params, paramsAt } from '../../base/primitives/spec.js'
import { type Phase, phaseSteps, runPhases, type Steps } from '../../base/primitives/steps.js'
import { TextSet } from '../../base/primitives/text-set.js'
import { attributeUsage, type Transaction } from '../../base/primitives/transaction.js'
import type { Attribute } from '../../base/primitives/transaction-fields.js'
import type { Coin, StateView } from './ledger.js'
import { ProgramCheck } from './program-check.js'
import type { ConnectContext } from './rule-context.js'
import { typeRulesOf } from './types/all-types.js'
import { ownerAt, scriptAt, signaturesAt } from '../../base/primitives/transaction-programs.js'

/** Rules of the coins that a transaction spends: that they are there, what it pays, and that its programs unlock them. */

/** Coins or programs looked at in one step. */
const atOnce = 16

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

/** Checks the coins of an ordinary transaction that passed sanity; throws the code of the first rule it breaks. */
export function checkCoins(tx: Transaction, state: StateView, context: ConnectContext): CheckedCoins {
  const rules = new CoinRules(tx, state, context)
  runPhases(rules, inOrder)
  return rules
}

/**
 * {@link checkCoins} in steps. Its checks are those of programs, so that they can be verified before a document is read.
 */
export function* coinSteps(tx: Transaction, state: StateView, context: ConnectContext): Steps<CheckedCoins> {
  const rules = new CoinRules(tx, state, context)
  yield* phaseSteps(rules, inOrder, atOnce)
  return rules
}

/** The rules of one transaction, with what they have found so far. */
class CoinRules implements CheckedCoins {
  fee = 0n
  readonly spent: Coin[]
  checks: SignatureCheck[]
  payloadKeys = 0
  readonly tx: Transaction
  readonly #state: StateView
  readonly #context: ConnectContext
  readonly #params: Params
  /** Program hashes that its programs must unlock, by `mapKey`. */
  readonly #required = new TextSet()

  constructor(tx: Transaction, state: StateView, context: ConnectContext) {
    this.tx = tx
    this.#state = state
    this.#context = context
    this.#params = paramsAt(context.spec, context.height)
    this.spent = new Array<Coin>(tx.inputs.length)
    this.checks = new Array<SignatureCheck>(tx.programs.length)
  }

  requireFinal(): void {
    const { height } = this.#context
    if (isFinal(this.tx, height)) return
    const { lockTime } = this.tx
    const why = `blocks from height ${lockTime + 1} on take it, not that at height ${height}`
    throw new RuleError('tx-not-final', `lockTime ${lockTime}: ${why}; it can be sent at height ${lockTime}`)
  }

  find(index: number): void {
    const coin = this.#state.coin(inputAt(this.tx, index))
    if (coin === undefined) {
      throw new RuleError('tx-input-unknown', `${inputName(this.tx, index)} refers to no unspent output`)
    }
    this.spent[index] = coin
  }

  requireUnlocked(index: number): void {
    const { outputLock } = this.#coin(index)
    if (outputLock === 0) return
    const { lockTime } = this.tx
    const { sequence } = inputAt(this.tx, index)
    // Of a transaction that is final, such an input leaves only a lockTime that is passed.
    if (sequence === lockSequence && lockTime >= outputLock) return
    throw new RuleError(
      'tx-output-locked',
      `${inputName(this.tx, index)} is locked until height ${outputLock}: it needs sequence 0xfffffffe and a lockTime from there on that is passed`,
    )
  }

  requireFee(): void {
    const { tx } = this
    const { maxMoney } = this.#context.spec
    const paidIn = this.spent.reduce(addValue, 0n)
    if (paidIn > maxMoney) throw new RuleError('tx-input-value', `the inputs add up to ${paidIn}`)
    const paidOut = tx.outputs.reduce(addValue, 0n)
    if (paidOut > paidIn) throw new RuleError('tx-balance', `the inputs hold ${paidIn}, the outputs pay ${paidOut}`)
    this.fee = paidIn - paidOut
    requireLeastFee(this.fee, this.#params, tx)
  }

  requireProgramOf(index: number): void {
    this.#required.add(this.#coin(index).owner)
  }

  requirePrograms(): void {
    const { attributes, programs } = this.tx
    for (let i = 0; i < attributes.length; i++) {
      const attribute = attributes[i] as Attribute
      if (attribute.usage === attributeUsage.script) this.#required.add(mapKey(attribute.data))
    }
    const { size } = this.#required
    if (size === programs.length) return
    throw new RuleError('tx-program-mismatch', `${programs.length} programs where ${size} are needed`)
  }

  /** Each program unlocks one of the required program hashes, and no two the same. */
  unlock(index: number): void {
    const { tx } = this
    const script = scriptAt(tx, index)
    const signatures = signaturesAt(tx, index)
    const owner = ownerAt(tx, index)
    if (script === undefined || signatures === undefined || owner === undefined) {
      throw new RuleError('tx-program-form', `program ${index}`)
    }
    if (!this.#required.delete(owner)) {
      throw new RuleError('tx-program-mismatch', `program ${index} unlocks nothing that this transaction spends`)
    }
    this.checks[index] = new ProgramCheck(tx, index, script, signatures)
  }

  addTypeChecks(): void {
    const ofType = typeRulesOf(this.tx).checks?.(this.tx, this.#params)
    if (ofType === undefined) return
    this.checks = [...this.checks, ...ofType]
    this.payloadKeys = ofType.reduce((sum, { keys }) => sum + keys.length, 0)
  }

  /** The outputs of genesis are spendable at once. */
  requireMature(index: number): void {
    const { height, spec } = this.#context
    const coin = this.#coin(index)
    if (!coin.coinbase || coin.height === 0 || height - coin.height >= spec.maturity) return
    const from = coin.height + spec.maturity
    throw new RuleError(
      'tx-immature',
      `${inputName(this.tx, index)} is a coinbase output, spendable from height ${from}`,
    )
  }

  #coin(index: number): Coin {
    return this.spent[index] as Coin
  }
}

const addValue = (sum: bigint, { value }: { readonly value: bigint }) => sum + value

const once = (each: (rules: CoinRules) => void): Phase<CoinRules> => ({ count: () => 1, each })
const inputs = (each: Phase<CoinRules>['each']): Phase<CoinRules> => ({ count: ({ tx }) => tx.inputs.length, each })
const programs = (each: Phase<CoinRules>['each']): Phase<CoinRules> => ({ count: ({ tx }) => tx.programs.length, each })

const inOrder: readonly Phase<CoinRules>[] = [
  once((rules) => rules.requireFinal()),
  inputs((rules, i) => rules.find(i)),
  inputs((rules, i) => rules.requireUnlocked(i)),
  once((rules) => rules.requireFee()),
  inputs((rules, i) => rules.requireProgramOf(i)),
  once((rules) => rules.requirePrograms()),
  programs((rules, i) => rules.unlock(i)),
  once((rules) => rules.addTypeChecks()),
  inputs((rules, i) => rules.requireMature(i)),
]

/** Whether the lockTime lets a transaction into a block at `height`, from 1 on. */
export function isFinal(tx: Transaction, height: number): boolean {
  return tx.lockTime < height || tx.inputs.every(({ sequence }) => sequence === finalSequence)
}

/** Throws `tx-fee` for a fee below what the rules ask for this room. */
export function requireLeastFee(fee: bigint, { fees }: Params, room: Room): void {
  if (fee >= leastFee(fees, room)) return
  throw new RuleError('tx-fee', `the fee is ${fee}, the least is ${leastFeeText(fees, room)}`)
}

function inputAt(tx: Transaction, index: number): Transaction['inputs'][number] {
  return tx.inputs[index] as Transaction['inputs'][number]
}

function inputName(tx: Transaction, index: number): string {
  const input = inputAt(tx, index)
  return `input ${index} (${displayHash(input.txid)}:${input.index})`
}
