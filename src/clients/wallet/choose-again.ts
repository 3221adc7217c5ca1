import { UserError } from '../../base/errors/rule-error.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { buildMerge, mergesOf, type Payment, type UnsignedTransaction } from './build-transaction.js'

/** @tuning count: times that a wallet builds a transaction whose coins another one spends first */
const mostBuilt = 16

/**
 * Builds and sends by `attempt`, which may replace nothing that waits. Where another transaction spent its coins meanwhile, which `isSpent`
 * sees in the error, it is made once more, of other coins: two payments of one account at the same time choose the same ones.
 */
export async function choosingAgain<T>(attempt: () => Promise<T>, isSpent: (error: unknown) => boolean): Promise<T> {
  for (let times = 1; ; times++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isSpent(error) || times === mostBuilt) throw error
    }
  }
}

/** A transaction that was sent, and the answer to it. */
interface SentMerge<Sent> {
  readonly built: UnsignedTransaction
  readonly sent: Sent
}

/**
 * Joins the coins of a payment by transfers to its payer, and sends one after another. Where coins are spent meanwhile, those that are left
 * are joined, but not what was just joined. Where one fails, the error names those that were sent.
 */
export async function sendMerges<P extends Payment, Sent>(
  paymentNow: () => Promise<P>,
  send: (built: UnsignedTransaction, payment: P) => Promise<Sent>,
  isSpent: (error: unknown) => boolean,
): Promise<SentMerge<Sent>[]> {
  const done: SentMerge<Sent>[] = []
  const txids = () => done.map(({ built }) => built.transaction.txid)
  const round = async () => {
    const payment = await paymentNow()
    const joined = txids()
    const coins = payment.coins.filter(({ txid }) => !joined.includes(displayHash(txid)))
    const all = done.length === 0 ? buildMerge(payment) : mergesOf({ ...payment, coins })
    for (const built of all) done.push({ built, sent: await send(built, payment) })
  }
  try {
    await choosingAgain(round, isSpent)
  } catch (error) {
    if (done.length === 0) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new UserError(`${why}; sent before that, and not lost: ${txids().join(', ')}`)
  }
  return done
}
