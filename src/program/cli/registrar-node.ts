import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeClient } from '../../clients/client/node-client.js'
import type { RegistrarClients } from '../../clients/registrar/registrar-clients.js'
import type { RegistrarNode } from '../../clients/registrar/registrar.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import { buildDidTransaction } from '../../clients/wallet/build-transaction.js'
import { didOfOperation, parseDid } from '../../clients/wallet/did-identity.js'
import { specificationIn } from '../../clients/wallet/terms.js'
import { UserError } from '../../base/errors/rule-error.js'
import { singleKeyCode } from '../../base/primitives/address.js'
import type { DidOperation } from '../../base/primitives/did-operation.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { Log } from '../../base/runtime/env.js'
import { NoAnswer, NodeRefusal } from '../../clients/client/http.js'
import type { PaymentLane } from '../../clients/registrar/payment-lane.js'
import { Refused, type SignedPayment, UnknownOutcome } from '../../clients/registrar/registration.js'
import { rulesAt } from './chain-rules.js'
import type { CliContext } from './cli-context.js'
import type { SpecFlags } from './command-options.js'
import { currentIdentity } from './current-identity.js'
import { chainNow } from './expiry.js'
import { paymentFrom, signAll } from './send-transaction.js'

/** @tuning ms: time that a registration waits for its block before its client is told to ask again */
const blockPatience = 1500
/** Time between two looks. */
const pause = 100

export interface PaidBy {
  readonly account: SigningAccount
  /** Whose budgets pay. */
  readonly clients: Pick<RegistrarClients, 'spend'>
  /** Flags that name the chain. */
  readonly chain: SpecFlags
  readonly log: Pick<Log, 'warn'>
  readonly lane: PaymentLane
}

/** The chain of a registrar behind a node, paid by an account of a wallet: one payment after another, since each spends the change of the last. */
export function registrarNode(
  context: CliContext,
  client: NodeClient,
  { account, clients, chain, log, lane }: PaidBy,
): RegistrarNode {
  const build = async (operation: DidOperation) => {
    const rules = await rulesAt(client, chain)
    const payment = await paymentFrom(context, client, singleKeyCode(account.publicKey), rules, {})
    const did = didOfOperation(operation)
    const programHash = did === undefined ? undefined : parseDid(did)?.programHash
    return buildDidTransaction(payment, operation, programHash, false)
  }
  const pay = async (operation: DidOperation, name: string): Promise<SignedPayment> => {
    const built = await build(operation)
    const transaction = signAll(built, account.privateKey)
    const giveBack = clients.spend(name, built.fee)
    const payment = { txid: transaction.txid, again: () => again(client, transaction, giveBack) }
    try {
      await client.sendRawTransaction(transaction.toHex(), { replace: false })
    } catch (error) {
      if (error instanceof NodeRefusal || (error instanceof NoAnswer && !error.mayHaveArrived)) {
        giveBack()
        throw error
      }
      throw error instanceof UserError ? new UnknownOutcome(payment) : error
    }
    return payment
  }
  return {
    now: () => chainNow(context.clock, client),
    specification: async () => specificationIn(await rulesAt(client, chain), 'did'),
    current: async (did) => (await currentIdentity(client, did)).identity,
    publish: (operation, name) =>
      lane.run(name, () => pay(operation, name).catch((error: unknown) => Promise.reject(unpaid(error, log)))),
    stateOf: async (txid) => {
      for (const end = performance.now() + blockPatience; ; await sleep(pause)) {
        const found = await client.transaction(txid)
        if (found?.blockhash !== undefined && found.blockhash !== '') return 'mined'
        if (performance.now() >= end) return found === undefined ? 'unknown' : 'waiting'
      }
    },
  }
}

/** Sends a transaction once more. Where the node refuses it, and does not have it, it gives the fee back. */
async function again(client: NodeClient, transaction: Transaction, giveBack: () => void): Promise<boolean> {
  try {
    await client.sendRawTransaction(transaction.toHex(), { replace: false })
    return true
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error
    if ((await client.transaction(transaction.txid)) !== undefined) return true
    giveBack()
    return false
  }
}

/** The error of a payment that failed, as a client may see it: other words than those of the node name files, and what the account has. The log has them. */
function unpaid(error: unknown, log: Pick<Log, 'warn'>): unknown {
  if (error instanceof Refused || error instanceof NodeRefusal || !(error instanceof UserError)) return error
  log.warn({ error: error.message }, 'a registration could not be paid for')
  return new Refused('unpaid', 'the registrar could not pay for this yet', 503)
}
