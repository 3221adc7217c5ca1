import { UserError } from '../../base/errors/rule-error.js'
import { parseAmount } from '../../base/primitives/amount.js'
import { displayHash, parseDisplayHash } from '../../base/primitives/bytes.js'
import { type Hash } from '../../base/primitives/hash.js'
import { outpointKey } from '../../base/primitives/input.js'
import type { SpendableCoin } from './coins.js'
import { isObject } from '../../base/primitives/is-object.js'

/**
 * The coins in JSON from a node: the answer of `asset/utxos` or `asset/utxo`, with or without its envelope, or entries of
 * `listunspent`, which also have locks and coinbases. Groups of another asset are left out. A {@link UserError} names an entry of
 * unknown form.
 */
export function parseCoins(value: unknown, assetId: Hash): SpendableCoin[] {
  const list = unwrap(value)
  if (!Array.isArray(list)) throw wrong('', 'the list of unspent outputs is missing')
  const asset = displayHash(assetId)
  const coins = (list as unknown[]).flatMap((entry, i): SpendableCoin[] => {
    const at = `[${i}]`
    if (!isObject(entry)) throw wrong(at, 'not an object')
    if ('Utxo' in entry) {
      if (typeof entry['AssetId'] !== 'string') throw wrong(at, 'AssetId is missing')
      if (!Array.isArray(entry['Utxo'])) throw wrong(at, 'Utxo is not a list')
      if (entry['AssetId'].toLowerCase() !== asset) return []
      return (entry['Utxo'] as unknown[]).map((item, j) => restCoin(item, `${at}.Utxo[${j}]`))
    }
    if ('Txid' in entry) return [restCoin(entry, at)]
    if (typeof entry['assetid'] === 'string' && entry['assetid'].toLowerCase() !== asset) return []
    return [listedCoin(entry, at)]
  })
  const seen = new Set<string>()
  for (const coin of coins) {
    if (seen.has(outpointKey(coin))) throw wrong('', `${displayHash(coin.txid)}:${coin.index} stands there twice`)
    seen.add(outpointKey(coin))
  }
  return coins
}

function unwrap(value: unknown): unknown {
  if (!isObject(value)) return value
  return 'Result' in value ? value['Result'] : value['result']
}

function restCoin(entry: unknown, at: string): SpendableCoin {
  if (!isObject(entry)) throw wrong(at, 'not an object')
  return {
    txid: txidOf(entry['Txid'], `${at}.Txid`),
    index: uint(entry['Index'], 0xffff, `${at}.Index`),
    value: amountOf(entry['Value'], `${at}.Value`),
  }
}

function listedCoin(entry: Record<string, unknown>, at: string): SpendableCoin {
  return {
    txid: txidOf(entry['txid'], `${at}.txid`),
    index: uint(entry['vout'], 0xffff, `${at}.vout`),
    value: amountOf(entry['amount'], `${at}.amount`),
    outputLock: uint(entry['outputlock'] ?? 0, 0xffffffff, `${at}.outputlock`),
    ...(entry['txtype'] === undefined ? {} : { coinbase: entry['txtype'] === 0 }),
    ...(entry['confirmations'] === undefined
      ? {}
      : { confirmations: uint(entry['confirmations'], 0xffffffff, `${at}.confirmations`) }),
  }
}

function txidOf(value: unknown, at: string): Hash {
  const hash = typeof value === 'string' ? parseDisplayHash(value) : undefined
  if (hash === undefined) throw wrong(at, 'not a transaction id of 64 hex digits')
  return hash
}

function uint(value: unknown, max: number, at: string): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > max) {
    throw wrong(at, `not an integer from 0 to ${max}`)
  }
  return value as number
}

function amountOf(value: unknown, at: string): bigint {
  const amount = typeof value === 'string' ? parseAmount(value) : undefined
  if (amount === undefined) throw wrong(at, 'not an amount such as "1.00000000"')
  return amount
}

function wrong(at: string, reason: string): UserError {
  return new UserError(`the coins are not understood${at === '' ? '' : ` at ${at}`}: ${reason}`)
}
