import type { ChainReader } from '../../ledger/chain/reader.js'
import type { PoolEntry } from '../../ledger/mempool/pool-entry.js'
import type { Mempool } from '../../ledger/mempool/mempool.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { countAncestors, type PendingCoin } from '../../clients/wallet/pending-coins.js'
import { tables } from '../../ledger/storage/rows/tables.js'

/** Whether the pool refused a transaction because its coins were spent since they were listed: pools take transactions of others at any time. */
export function isSpentMeanwhile(error: unknown): boolean {
  return error instanceof RuleError && (error.code === 'tx-double-spend' || error.code === 'tx-input-unknown')
}

/** The spendable coins of an address: on the chain and in the pool, less those spent in the pool. */
export async function payerCoins(reader: ChainReader, mempool: Mempool, payer: ProgramHash): Promise<PendingCoin[]> {
  const { database } = reader.chain
  const mined = (await reader.coins(payer)).flatMap(({ outpoint, height }) => {
    const coin = tables.coin.get(database, outpoint)
    if (coin === undefined) return []
    const { value, outputLock, coinbase } = coin
    return [{ ...outpoint, value, outputLock, coinbase, confirmations: reader.height - height + 1 }]
  })
  const parentsOf = (entry: PoolEntry) => mempool.parents(entry)
  const pooled = [...mempool.entries()].flatMap((entry) => {
    const { hash, outputs } = entry.transaction
    return outputs.flatMap(({ programHash, value, outputLock }, index) => {
      const isSpendable =
        value > 0n && equalBytes(programHash, payer) && mempool.spender({ txid: hash, index }) === undefined
      if (!isSpendable) return []
      return [{ txid: hash, index, value, outputLock, confirmations: 0, ancestors: countAncestors(entry, parentsOf) }]
    })
  })
  return [...mined.filter((coin) => mempool.spender(coin) === undefined), ...pooled]
}
