import type { AddressCoin, ChainReader } from '../../chain/reader.js'
import type { ProgramHash } from '../../primitives/address.js'
import { formatAmount } from '../../primitives/amount.js'
import { displayHash, equalBytes } from '../../primitives/bytes.js'
import type { Hash } from '../../primitives/hash.js'
import { assetJson } from '../../primitives/payload.js'
import { jsonArray } from './lists.js'

/** Coins of addresses on the active chain, immature and locked ones included. Answers are JSON text. */

/** The native asset, whatever was asked for. */
export function nativeAsset(reader: ChainReader): string {
  return JSON.stringify(assetJson(reader.chain.spec.asset))
}

/** The sum of them with eight decimals; this alone is not JSON yet. */
export function balance(reader: ChainReader, address: ProgramHash): string {
  return formatAmount(reader.balance(address).sum)
}

/** Of another asset than the native one nobody has anything. */
export function assetBalance(reader: ChainReader, address: ProgramHash, assetId: Hash): string {
  return JSON.stringify(isNative(reader, assetId) ? balance(reader, address) : formatAmount(0n))
}

/** Unspent outputs in groups by asset: one group, or none where there is nothing. */
export async function unspentGroups(reader: ChainReader, address: ProgramHash): Promise<string> {
  const coins = await reader.coins(address)
  if (coins.length === 0) return '[]'
  const { sanity, spec } = reader.chain
  const AssetId = JSON.stringify(displayHash(sanity.assetId))
  return `[{"AssetId":${AssetId},"AssetName":${JSON.stringify(spec.asset.name)},"Utxo":${await unspentList(coins)}}]`
}

export async function assetUnspent(reader: ChainReader, address: ProgramHash, assetId: Hash): Promise<string> {
  return isNative(reader, assetId) ? unspentList(await reader.coins(address)) : '[]'
}

function unspentList(coins: readonly AddressCoin[]): Promise<string> {
  return jsonArray(coins, ({ outpoint, value }) => ({
    Txid: displayHash(outpoint.txid),
    Index: outpoint.index,
    Value: formatAmount(value),
  }))
}

function isNative(reader: ChainReader, assetId: Hash): boolean {
  return equalBytes(assetId, reader.chain.sanity.assetId)
}
