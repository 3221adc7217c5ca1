import type { ChainReader } from '../../../ledger/chain/reader.js'
import type { Coin } from '../../../ledger/consensus/ledger.js'
import { addressOf, type ProgramHash } from '../../../base/primitives/address.js'
import { formatAmount } from '../../../base/primitives/amount.js'
import { displayHash, mapKey } from '../../../base/primitives/bytes.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { typeIn } from '../../../base/primitives/transaction-parts.js'
import { isGivenUp, prunedType } from '../../../ledger/storage/rows/prune-rows.js'
import { type Location, tables } from '../../../ledger/storage/rows/tables.js'
import { type SpendableCoin, unusable } from '../../../clients/wallet/coins.js'
import type { ApiContext } from '../api-context.js'
import { type Sink, writeArray } from '../streams/streamed-answer.js'

/** Unspent outputs of the active chain, with the data that decides when they can be spent. */

export interface UnspentCoin extends Required<SpendableCoin> {
  readonly owner: ProgramHash
  /** Type of its transaction. */
  readonly txType: number
}

/** Content of the row of a coin of an address. */
interface Row {
  readonly owner: ProgramHash
  readonly txid: Hash
  readonly index: number
  readonly height: number
  readonly value: bigint
}

/**
 * Outputs of addresses, address by address, oldest first; of more than `most`, those of the highest value. Outputs of value 0 are
 * left out.
 */
export function unspentCoins(
  reader: ChainReader,
  owners: readonly ProgramHash[],
  most: number,
  sink: Sink,
): Promise<UnspentCoin[]> {
  return reader.chain.database.settle(() => readCoins(reader, owners, most, sink))
}

async function readCoins(
  reader: ChainReader,
  owners: readonly ProgramHash[],
  most: number,
  sink: Sink,
): Promise<UnspentCoin[]> {
  const rows = await largestRows(reader, owners, most, sink)
  // Rows of a block may be visible a moment before the tip moves to it.
  const tip = rows.reduce((height, row) => Math.max(height, row.height), reader.height)
  await loadRows(reader, rows)
  const typeOf = typeReader(reader)
  const coins: UnspentCoin[] = []
  for (const { owner, txid, index, height, value } of rows) {
    if (sink.due) await sink.drain()
    const row = reader.chain.database.get(tables.coin.key({ txid, index }))
    // Spent since, or gone with its block.
    if (row === undefined) continue
    const coin = tables.coin.decode(row)
    const txType = typeOf(txid, coin)
    if (txType === undefined) continue
    const { coinbase, outputLock } = coin
    const confirmations = tip - height + 1
    coins.push({ owner, txid, index, value, coinbase, outputLock, confirmations, txType })
  }
  return coins
}

async function largestRows(
  reader: ChainReader,
  owners: readonly ProgramHash[],
  most: number,
  sink: Sink,
): Promise<Row[]> {
  let rows: (Row & { readonly order: number })[] = []
  let order = 0
  const cut = () => {
    if (rows.length > most) rows = rows.sort(mostFirst).slice(0, most)
  }
  for (const owner of owners) {
    for await (const { height, outpoint, value } of reader.eachCoin(owner)) {
      if (sink.due) await sink.drain()
      if (value > 0n) rows.push({ owner, ...outpoint, height, value, order: order++ })
      if (rows.length >= 2 * most) cut()
    }
  }
  cut()
  return rows.sort((a, b) => a.order - b.order)
}

function mostFirst(a: { readonly value: bigint }, b: { readonly value: bigint }): number {
  if (a.value === b.value) return 0
  return a.value < b.value ? 1 : -1
}

/** Has the rows at hand that decide when coins can be spent. */
async function loadRows({ chain: { database } }: ChainReader, rows: readonly Row[]): Promise<void> {
  await database.load(() => rows.map(({ txid, index }) => tables.coin.key({ txid, index })))
  await database.load(() => rows.map(({ txid }) => tables.location.key(txid)))
  const places = () => rows.flatMap(({ txid }) => tables.location.get(database, txid) ?? [])
  await database.load(() => places().map(({ height, index }) => tables.transaction.key(height, index)))
  // The type of a transaction that is not there follows from whether it was given up alone.
  const isThere = ({ height, index }: Location) => tables.transaction.get(database, height, index) !== undefined
  await database.load(() =>
    places().flatMap((place) => (isThere(place) ? [] : [tables.givenUp.key(place.height, place.index)])),
  )
}

/** Reads the type of the transaction of a coin from its first bytes, once per transaction. */
function typeReader({ chain: { database } }: ChainReader): (txid: Hash, coin: Coin) => number | undefined {
  const types = new Map<string, number>()
  return (txid, coin) => {
    const known = types.get(mapKey(txid))
    if (known !== undefined) return known
    const location = database.get(tables.location.key(txid))
    const place = location === undefined ? undefined : tables.location.decode(location)
    if (place === undefined) return undefined
    const bytes = database.get(tables.transaction.key(place.height, place.index))
    if (bytes === undefined && !isGivenUp(database, place)) return undefined
    const type = bytes === undefined ? prunedType(database, place, coin) : typeIn(bytes)
    types.set(mapKey(txid), type)
    return type
  }
}

/** Coins for a payment, and sums in units of 10^-8. */
export interface SpendableCoins {
  /** The fewest that suffice, largest first. */
  readonly coins: readonly UnspentCoin[]
  /** Sum of `coins`; below the amount needed if there are no more. */
  readonly sum: bigint
  /** Sum of the coins that the pool spends. */
  readonly pending: bigint
  /** Sum of the immature and locked coins. */
  readonly locked: bigint
}

/** Coins of an address that add up to `needed`: mature, not locked, not spent in the pool. */
export async function spendableCoins(
  { reader, mempool }: ApiContext,
  owner: ProgramHash,
  needed: bigint,
  most: number,
  sink: Sink,
): Promise<SpendableCoins> {
  const { height, chain } = reader
  const { maturity } = chain.spec
  const coins: UnspentCoin[] = []
  let [sum, pending, locked] = [0n, 0n, 0n]
  for (const coin of (await unspentCoins(reader, [owner], most, sink)).sort(mostFirst)) {
    if (mempool.spender(coin) !== undefined) pending += coin.value
    else if (unusable(coin, { height, maturity }) !== undefined) locked += coin.value
    else if (sum < needed) {
      coins.push(coin)
      sum += coin.value
    }
  }
  return { coins, sum, pending, locked }
}

/** Writes the list of coins that JSON-RPC returns. */
export function writeCoins(sink: Sink, reader: ChainReader, coins: readonly UnspentCoin[]): Promise<void> {
  const assetid = displayHash(reader.chain.sanity.assetId)
  return writeArray(sink, coins, ({ owner, txid, index, value, outputLock, confirmations, txType }) => ({
    txtype: txType,
    txid: displayHash(txid),
    assetid,
    vout: index,
    address: addressOf(owner),
    amount: formatAmount(value),
    outputlock: outputLock,
    confirmations,
  }))
}
