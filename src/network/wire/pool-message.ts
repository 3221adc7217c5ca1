import { emptyCodec, type Exchange } from './exchange.js'
import { type TransactionName, transactionNames } from './transactions-message.js'

/** Transactions of an answer; what a larger pool has beyond them is not told. */
export const poolNames = 50_000
const poolAnswer = 4 * 1024 * 1024
const poolTimeout = 10_000

/** What waits in the other side's pool: asked once of a new peer. */
export const poolExchange: Exchange<undefined, readonly TransactionName[]> = {
  protocol: { name: 'pool', version: 1, ofChain: true, request: 0, answer: poolAnswer, timeout: poolTimeout },
  question: emptyCodec,
  answer: transactionNames(poolNames),
}
