import { chainProtocol, emptyCodec, type Exchange } from './exchange.js'
import { type TransactionName, transactionNames } from './transactions-message.js'

/** @limit count: transactions in a list of a pool; a larger pool is truncated */
export const poolNames = 50_000
/** @limit bytes: answer with the list of a pool */
const poolAnswer = 4 * 1024 * 1024
/** @limit ms: wait for the list of a pool */
const poolTimeout = 10_000

/** Names of the transactions in the pool of a peer. */
export const poolExchange: Exchange<undefined, readonly TransactionName[]> = {
  protocol: chainProtocol('pool', 0, poolAnswer, poolTimeout),
  question: emptyCodec,
  answer: transactionNames(poolNames),
}
