import { Type } from '@sinclair/typebox'
import { amount, closed, hash, uint32 } from './common-schemas.js'
import { count } from './number-schemas.js'

/** Unspent outputs. */

const index = Type.Integer({ minimum: 0, maximum: 0xffff, description: 'position in its transaction' })

/** In one asset, as REST lists them. */
export const unspentOutputs = Type.Array(closed({ Txid: hash('of its transaction'), Index: index, Value: amount() }))

/** In groups by asset. */
export const unspentGroupsSchema = Type.Array(
  closed({ AssetId: hash('display order'), AssetName: Type.String(), Utxo: unspentOutputs }),
)

/** As JSON-RPC lists them. */
export const listedCoins = Type.Array(
  closed({
    txtype: Type.Integer({
      minimum: 0,
      maximum: 255,
      description: 'type of its transaction; 0 is a coinbase, and any other one that the node has given up is 2',
    }),
    txid: hash('of its transaction'),
    assetid: hash('the native asset'),
    vout: index,
    address: Type.String({ description: 'whose it is' }),
    amount: amount(),
    outputlock: uint32('height from which it can be spent; 0 is no lock'),
    confirmations: count('1 in the newest block'),
  }),
)
