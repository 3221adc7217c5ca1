import { ChainReader } from '../../ledger/chain/reader.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { prefix, programHash, singleKeyCode } from '../../base/primitives/address.js'
import { paramsAt } from '../../base/primitives/spec.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { DidOperation } from '../../base/primitives/did-operation.js'
import {
  buildDidTransaction,
  buildTransfer,
  type Payment,
  type Recipient,
  type UnsignedTransaction,
} from '../../clients/wallet/build-transaction.js'
import { choosingAgain } from '../../clients/wallet/choose-again.js'
import { didOfOperation, parseDid } from '../../clients/wallet/did-identity.js'
import { faucetKey } from '../../clients/wallet/devnet-accounts.js'
import { signTransaction } from '../../clients/wallet/sign-transaction.js'
import type { DevnetParts } from './devnet-parts.js'
import { isSpentMeanwhile, payerCoins } from './payer-coins.js'

type FaucetOptions = Pick<DevnetParts, 'chain' | 'mempool' | 'random'>

/** Pays out of the coins that the genesis block of a devnet gives to a well-known key. */
export class Faucet {
  readonly #options: FaucetOptions
  readonly #key = faucetKey()
  readonly #code = singleKeyCode(this.#key.publicKey)
  readonly #programHash = programHash(prefix.standard, this.#code)
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: FaucetOptions) {
    this.#options = options
  }

  /** Pays in one transaction and returns its txid. More than it has is a `request-parameter`. */
  send(recipients: readonly Recipient[]): Promise<string> {
    return this.#pay((payment) => built(payment, recipients)).then(({ txid }) => txid)
  }

  /** Pays for an operation on a DID and returns the transaction. */
  register(operation: DidOperation): Promise<Transaction> {
    const did = didOfOperation(operation)
    const programHash = did === undefined ? undefined : parseDid(did)?.programHash
    return this.#pay((payment) => buildDidTransaction(payment, operation, programHash, false))
  }

  #pay(build: (payment: Payment) => UnsignedTransaction): Promise<Transaction> {
    const { chain, mempool, random } = this.#options
    const { assetId, spec } = chain.sanity
    // Between blocks: no block can spend a chosen coin before the transaction is in the pool.
    const sent = this.#queue.then(() =>
      chain.exclusive(() =>
        choosingAgain(async () => {
          const { fees } = paramsAt(spec, chain.tip.header.height + 1)
          const fee = { ...fees, floor: mempool.floor }
          const coins = await payerCoins(new ChainReader(chain), mempool, this.#programHash)
          const payment = { code: this.#code, coins, fee, assetId, random }
          const { transaction } = build({ ...payment, maxMoney: spec.maxMoney })
          const signed = signTransaction(transaction, [this.#key.privateKey])
          return mempool.accept(signed.transaction.bytes, { local: true, replace: false })
        }, isSpentMeanwhile),
      ),
    )
    this.#queue = sent.catch(() => {})
    return sent
  }

  /** Resolves when all payments so far are in the pool, or refused. */
  async close(): Promise<void> {
    await this.#queue
  }
}

/** A transfer; what the wallet cannot pay is a matter of the amount. */
function built(payment: Payment, recipients: readonly Recipient[]): UnsignedTransaction {
  try {
    return buildTransfer(payment, recipients)
  } catch (error) {
    if (error instanceof UserError) throw new RuleError('request-parameter', `amount: ${error.message}`)
    throw error
  }
}
