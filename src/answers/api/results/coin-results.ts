import type { ChainReader } from '../../../ledger/chain/reader.js'
import type { ProgramHash } from '../../../base/primitives/address.js'
import { formatAmount } from '../../../base/primitives/amount.js'
import { displayHash, equalBytes } from '../../../base/primitives/bytes.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { assetJson } from '../../../base/primitives/payload.js'
import { begun, chainKey, StreamedAnswer } from '../streams/streamed-answer.js'

/** Coins of addresses on the active chain, immature and locked ones included. Answers are JSON text. */

/** The native asset, for any hash. */
export function nativeAsset(reader: ChainReader): string {
  return JSON.stringify(assetJson(reader.chain.spec.asset))
}

/** Sum of these coins with eight decimals; not JSON yet. */
export function balance(reader: ChainReader, address: ProgramHash): string {
  return formatAmount(reader.balance(address).sum)
}

/** Balance in an asset: 0 in any other than the native one. */
export function assetBalance(reader: ChainReader, address: ProgramHash, assetId: Hash): string {
  return JSON.stringify(isNative(reader, assetId) ? balance(reader, address) : formatAmount(0n))
}

/** Unspent outputs in groups by asset: one group, or none without outputs. */
export function unspentGroups(reader: ChainReader, address: ProgramHash): StreamedAnswer {
  const { sanity, spec } = reader.chain
  const asset = { AssetId: displayHash(sanity.assetId), AssetName: spec.asset.name }
  return unspentAnswer(reader, address, [`[${JSON.stringify(asset).slice(0, -1)},"Utxo":`, '}]'])
}

export function assetUnspent(reader: ChainReader, address: ProgramHash, assetId: Hash): string | StreamedAnswer {
  return isNative(reader, assetId) ? unspentAnswer(reader, address, ['', '']) : '[]'
}

/** List of unspent outputs between two texts; `[]` alone without outputs. */
function unspentAnswer(
  reader: ChainReader,
  address: ProgramHash,
  [before, after]: readonly [string, string],
): StreamedAnswer {
  return new StreamedAnswer({
    key: chainKey(reader, 'unspent', before, displayHash(address)),
    // Rows of another tip may differ: a second production could not continue the first.
    repeatable: false,
    write: async (sink) => {
      let separator = `${before}[`
      const coins = await reader.chain.database.settle(() => begun(reader.eachCoin(address)))
      for await (const { outpoint, value } of coins) {
        const coin = { Txid: displayHash(outpoint.txid), Index: outpoint.index, Value: formatAmount(value) }
        sink.add(separator + JSON.stringify(coin))
        separator = ','
        if (sink.due) await sink.drain()
      }
      sink.add(separator === ',' ? `]${after}` : '[]')
    },
  })
}

function isNative(reader: ChainReader, assetId: Hash): boolean {
  return equalBytes(assetId, reader.chain.sanity.assetId)
}
