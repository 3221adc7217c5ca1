import { formatAmount, parseAmount } from '../../base/primitives/amount.js'
import { displayHash } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { outpointKey } from '../../base/primitives/input.js'
import { txType } from '../../base/primitives/payload.js'
import { hashBytes } from './chain-answer.js'
import { FewCoinsError, type SpendableCoin } from './coins.js'

/** The parts of a transaction object of the pool that say which coins it spends and makes. */
export interface PooledTransaction {
  readonly txid: string
  readonly type: number
  readonly vin: readonly { readonly txid: string; readonly vout: number }[]
  readonly vout: readonly {
    readonly value: string
    readonly n: number
    readonly address: string
    readonly assetid: string
    readonly outputlock: number
  }[]
}

/** A coin, and how many transactions that wait for a block come before one that spends it; absent for a coin on the chain. */
export interface PendingCoin extends SpendableCoin {
  readonly ancestors?: number
}

/** Coins of an address: those `listed` on the chain and what pooled transactions pay it, without what these spend. */
export function coinsBesidePool(
  listed: readonly SpendableCoin[],
  pool: readonly PooledTransaction[],
  address: string,
  assetId: Hash,
): PendingCoin[] {
  const spent = new Set(
    pool.flatMap(({ vin }) => vin.map(({ txid, vout }) => outpointKey({ txid: hashBytes(txid), index: vout }))),
  )
  const pending = pool.flatMap((transaction) => pendingCoins(transaction, address, assetId))
  const confirmed = new Set(listed.map(outpointKey))
  const fresh = pending.filter((coin) => !confirmed.has(outpointKey(coin)) && !spent.has(outpointKey(coin)))
  const inputs = new Map(fresh.length === 0 ? [] : pool.map(({ txid, vin }) => [txid, vin]))
  const parentsOf = (txid: string) =>
    (inputs.get(txid) ?? []).map((input) => input.txid).filter((parent) => inputs.has(parent))
  return [
    ...listed.filter((coin) => !spent.has(outpointKey(coin))),
    ...fresh.map((coin) => ({ ...coin, ancestors: countAncestors(displayHash(coin.txid), parentsOf) })),
  ]
}

/** @tuning count: waiting transactions before another one that are counted, far beyond what pools take */
const mostCounted = 1000

/** Counts the waiting transactions that come before one that spends an output of `first`: that one, its parents, and so on. */
export function countAncestors<T>(first: T, parentsOf: (one: T) => Iterable<T>): number {
  const found = new Set([first])
  for (const one of found) {
    if (found.size > mostCounted) break
    for (const parent of parentsOf(one)) found.add(parent)
  }
  return found.size
}

/**
 * Builds from the coins of a payment before which at most `most` transactions wait: a pool takes no other one. The refusal for too few coins
 * tells what can be spent later. Without `most`, from all of them.
 */
export function buildWithin<P extends { readonly coins: readonly PendingCoin[] }, Built>(
  payment: P,
  most: number | undefined,
  build: (payment: P) => Built,
): Built {
  const isNear = ({ ancestors = 0 }: PendingCoin) => most === undefined || ancestors <= most
  const later = payment.coins.reduce((sum, coin) => (isNear(coin) ? sum : sum + coin.value), 0n)
  try {
    return build({ ...payment, coins: payment.coins.filter(isNear) })
  } catch (error) {
    if (later === 0n || !(error instanceof FewCoinsError)) throw error
    throw new FewCoinsError(
      `${error.message}; ${formatAmount(later)} more can be spent after the next block: at most ${most} transactions that wait for one may come before another`,
    )
  }
}

/** Coins that a pooled transaction pays an address, with 0 confirmations. */
export function pendingCoins({ txid, type, vout }: PooledTransaction, address: string, assetId: Hash): SpendableCoin[] {
  if (type === txType.coinbase) return []
  return vout.flatMap((output) => {
    const value = parseAmount(output.value) ?? 0n
    if (output.address !== address || output.assetid !== displayHash(assetId) || value === 0n) return []
    return [{ txid: hashBytes(txid), index: output.n, value, outputLock: output.outputlock, confirmations: 0 }]
  })
}
