import { describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { hex, reversed } from '../../../../src/base/primitives/bytes.js'
import { parseCoins } from '../../../../src/clients/wallet/coins-file.js'

const assetId = reversed(hex('a3d0eaa466df74983b5d7c543de6904f4c9418ead5ffd6d25814234a96db37b0'))
const asset = 'a3d0eaa466df74983b5d7c543de6904f4c9418ead5ffd6d25814234a96db37b0'
const txid = 'ab'.repeat(31) + '01'
const utxo = { Txid: txid, Index: 2, Value: '1.50000000' }
const group = { AssetId: asset, AssetName: 'ELA', Utxo: [utxo] }
const coin = { txid: reversed(hex(txid)), index: 2, value: 150_000_000n }

describe('coins in JSON', () => {
  it.each<[string, unknown]>([
    ['the REST envelope', { Desc: 'Success', Error: 0, Result: [group] }],
    ['groups', [group]],
    ['a plain list', [utxo]],
    ['groups with another asset', [{ ...group, AssetId: '00'.repeat(32), Utxo: [{ ...utxo, Index: 3 }] }, group]],
  ])('reads %s', (_, value) => {
    expect(parseCoins(value, assetId)).toEqual([coin])
  })

  it('reads locks and coinbases from listunspent', () => {
    const entry = {
      txtype: 0,
      txid,
      assetid: asset,
      vout: 2,
      address: 'E',
      amount: '1.5',
      outputlock: 9,
      confirmations: 4,
    }
    const expected = { ...coin, outputLock: 9, coinbase: true, confirmations: 4 }
    expect(parseCoins({ jsonrpc: '2.0', id: 1, result: [entry] }, assetId)).toEqual([expected])
    expect(parseCoins([{ ...entry, txtype: 2, assetid: '00'.repeat(32) }], assetId)).toEqual([])
  })

  it('reads an empty list', () => {
    expect(parseCoins([], assetId)).toEqual([])
  })

  it.each<[string, unknown, RegExp]>([
    ['no list', { Result: 'x' }, /list of unspent outputs is missing/],
    ['null', null, /list of unspent outputs is missing/],
    ['an entry that is no object', [1], /\[0\]: not an object/],
    ['a group without a list', [{ AssetId: asset, Utxo: 1 }], /\[0\]: Utxo is not a list/],
    ['a group without an asset', [{ Utxo: [] }], /AssetId is missing/],
    ['a short txid', [{ ...utxo, Txid: 'ab' }], /\[0\]\.Txid: not a transaction id/],
    ['a negative index', [{ ...utxo, Index: -1 }], /\[0\]\.Index/],
    ['an index beyond 16 bits', [{ ...utxo, Index: 65536 }], /\[0\]\.Index/],
    ['nine decimals', [{ ...group, Utxo: [{ ...utxo, Value: '1.000000001' }] }], /\[0\]\.Utxo\[0\]\.Value/],
    ['a number as amount', [{ ...utxo, Value: 1 }], /\[0\]\.Value/],
    ['one output twice', [utxo, utxo], /stands there twice/],
    ['a lock that is none', [{ txid, vout: 0, amount: '1', outputlock: 'x' }], /\[0\]\.outputlock/],
  ])('refuses %s', (_, value, message) => {
    expect(() => parseCoins(value, assetId)).toThrow(UserError)
    expect(() => parseCoins(value, assetId)).toThrow(message)
  })
})
