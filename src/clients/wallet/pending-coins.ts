import { parseAmount } from '../../base/primitives/amount.js'
import { displayHash } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { outpointKey } from '../../base/primitives/input.js'
import { txType } from '../../base/primitives/payload.js'
import { hashBytes } from './chain-answer.js'
import type { SpendableCoin } from './coins.js'

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

/** Coins of an address: those `listed` on the chain and what pooled transactions pay it, without what these spend. */
export function coinsBesidePool(
  listed: readonly SpendableCoin[],
  pool: readonly PooledTransaction[],
  address: string,
  assetId: Hash,
): SpendableCoin[] {
  const spent = new Set(
    pool.flatMap(({ vin }) => vin.map(({ txid, vout }) => outpointKey({ txid: hashBytes(txid), index: vout }))),
  )
  const pending = pool.flatMap((transaction) => pendingCoins(transaction, address, assetId))
  const confirmed = new Set(listed.map(outpointKey))
  const fresh = pending.filter((coin) => !confirmed.has(outpointKey(coin)))
  return [...listed, ...fresh].filter((coin) => !spent.has(outpointKey(coin)))
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
