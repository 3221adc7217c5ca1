import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { singleKeyCode } from '../../base/primitives/address.js'
import { equalBytes, parseDisplayHash } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Random } from '../../base/runtime/env.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import {
  buildReplacement,
  type ReplacementOptions,
  type ReplacementPayment,
  type WaitingTransaction,
} from '../../clients/wallet/build-replacement.js'
import { payerOf, type Payment, type UnsignedTransaction } from '../../clients/wallet/build-transaction.js'
import { choosingAgain, sendMerges } from '../../clients/wallet/choose-again.js'
import { buildWithin } from '../../clients/wallet/pending-coins.js'
import { signTransaction } from '../../clients/wallet/sign-transaction.js'
import { chainTerms } from '../../clients/wallet/terms.js'
import { isSpentMeanwhile, payerCoins } from '../devnet/payer-coins.js'
import type { Node } from '../node.js'
import { units } from './caller-values.js'
import type { Amount, Replaced } from './node-types.js'

/** Pays with the coins that a node in this process knows. */
export class NodePayments {
  readonly #node: () => Node
  readonly #random: Random
  readonly #accounts: readonly SigningAccount[]

  /** `node` throws once it is closed; `accounts`: those of a devnet, which are found by the transactions that they pay for. */
  constructor(node: () => Node, random: Random, accounts: readonly SigningAccount[]) {
    this.#node = node
    this.#random = random
    this.#accounts = accounts
  }

  /** Sends what `build` makes of the coins of an account; returns its id. */
  async send(
    payer: SigningAccount,
    fee: Amount | undefined,
    build: (payment: Payment) => UnsignedTransaction,
  ): Promise<string> {
    return this.#betweenBlocks(() =>
      choosingAgain(async () => {
        const { ancestors } = this.#node().mempool.limits
        return this.#accept(buildWithin(await this.#paymentWith(payer, fee), ancestors, build), payer)
      }, isSpentMeanwhile),
    )
  }

  /** Merges the coins of an account; returns the ids of the transactions. */
  async merge(from: SigningAccount, fee: Amount | undefined): Promise<string[]> {
    return this.#betweenBlocks(async () => {
      const merges = await sendMerges(
        () => this.#paymentWith(from, fee),
        (built) => this.#accept(built, from),
        isSpentMeanwhile,
      )
      return merges.map(({ sent }) => sent)
    })
  }

  /** Replaces a transaction that waits; returns the id of the new one. */
  async replace({ from, txid }: Replaced, options: ReplacementOptions): Promise<string> {
    return this.#betweenBlocks(async () => {
      const waiting = waitingTransaction(this.#node(), txid)
      const payer = from ?? this.#ownerOf(waiting)
      return this.#accept(buildReplacement(await this.#paymentOf(payer), waiting, options), payer, { replace: true })
    })
  }

  /** The account of a devnet that pays for a transaction. */
  #ownerOf({ transaction: { txid, programs } }: WaitingTransaction): SigningAccount {
    const owner = this.#accounts.find(({ publicKey }) =>
      programs.some(({ code }) => equalBytes(code, singleKeyCode(publicKey))),
    )
    if (owner !== undefined) return owner
    throw new UserError(`${txid} is paid by none of the accounts of this chain: name the account with from`)
  }

  async #paymentWith(payer: SigningAccount, fee: Amount | undefined): Promise<Payment> {
    return { ...(await this.#paymentOf(payer)), ...(fee === undefined ? {} : { fee: units('fee', fee) }) }
  }

  async #paymentOf(payer: SigningAccount): Promise<ReplacementPayment> {
    const { reader, mempool, spec } = this.#node()
    const code = singleKeyCode(payer.publicKey)
    const coins = await payerCoins(reader, mempool, payerOf(code))
    const { transactionSize: size, inputs } = mempool.limits
    return {
      code,
      coins,
      ...chainTerms(spec, reader.height, mempool.floor),
      random: this.#random,
      bounds: { size, inputs },
    }
  }

  async #accept(
    { transaction }: UnsignedTransaction,
    { privateKey }: SigningAccount,
    { replace }: { readonly replace: boolean } = { replace: false },
  ): Promise<string> {
    const signed = signTransaction(transaction, [privateKey]).transaction
    return (await this.#node().mempool.accept(signed.bytes, { local: true, replace })).txid
  }

  /**
   * Runs between blocks, one call after another: no block and no other call can spend the chosen coins before the transaction is
   * in the pool. One that comes over HTTP or from a peer can. Errors are returned out of the exclusive section, so that the chain does not treat them as its own failures.
   */
  async #betweenBlocks<T>(work: () => Promise<T>): Promise<T> {
    const outcome = await this.#node().chain.exclusive(async () => {
      try {
        return { result: await work() }
      } catch (error) {
        return { error }
      }
    })
    if ('error' in outcome) throw outcome.error
    return outcome.result
  }
}

/** A transaction in the pool of a node, with its coins; a {@link UserError} for one that is mined. */
function waitingTransaction({ chain, mempool, reader }: Node, txid: string): WaitingTransaction {
  const hash = parseDisplayHash(txid) as Hash | undefined
  if (hash === undefined) throw new RuleError('request-parameter', `txid: ${txid} is not the id of a transaction`)
  const transaction = mempool.get(hash)?.transaction
  if (transaction !== undefined) {
    const spent = transaction.inputs.flatMap((input) => {
      const coin = mempool.get(input.txid)?.transaction.outputs[input.index] ?? chain.state.coin(input)
      return coin === undefined ? [] : [{ ...input, value: coin.value, outputLock: coin.outputLock }]
    })
    return { transaction, spent }
  }
  const mined = reader.transaction(hash)
  if (mined !== undefined) throw new UserError(`${txid} waits no more: it is mined, at height ${mined.height}`)
  const reason = mempool.droppedReason(hash)
  const gone = reason === undefined ? '' : `; it left the pool unmined: ${reason}`
  throw new RuleError('unknown-transaction', `no transaction ${txid} waits for a block${gone}`)
}
