import { type TSchema, Type } from '@sinclair/typebox'
import { operationForms } from '../../../base/primitives/did-operation.js'
import type { Payload } from '../../../base/primitives/payload.js'
import { txKinds } from '../../../base/primitives/payload-kinds.js'
import { amount, bytes, closed, hash, oneOf, position, uint32 } from './common-schemas.js'
import { count } from './number-schemas.js'

/** Transactions as REST and JSON-RPC show them. */

const text = (description: string) => Type.String({ description })

const input = closed({
  txid: hash('id of the transaction whose output is spent; zeros in a coinbase'),
  vout: Type.Integer({ minimum: 0, maximum: 0xffff, description: 'which of its outputs' }),
  sequence: uint32('4294967295 as a rule, 4294967294 to spend a locked output'),
})

const output = closed({
  value: amount(),
  n: Type.Integer({ minimum: 0, maximum: 0xffff, description: 'position' }),
  address: text('its payee'),
  assetid: hash('the native asset'),
  outputlock: uint32('height from which it can be spent; 0 is no lock'),
})

/** An operation as stored; the resolver adds defaults and shortens ids. */
export const storedOperation = closed({
  header: closed({
    specification: text('version of the DID specification'),
    operation: text(`one of ${Object.keys(operationForms).join(', ')}`),
    previousTxid: Type.Optional(text('txid of the operation before; of an update alone')),
  }),
  payload: text('the document or the credential in base64url; of a deactivate the DID, of a revoke the id'),
  proof: closed({
    type: Type.Optional(text('absent where it was left empty')),
    verificationMethod: text('the key that signed'),
    signature: text('64 bytes in base64url'),
  }),
})

/** The native asset. */
export const asset = closed({
  Name: Type.String(),
  Description: Type.String(),
  Precision: count('decimals of an amount'),
  AssetType: count('0 token, 1 share'),
  RecordType: count('0 unspent outputs'),
})

/** Members that each type adds, one schema for each form of its payload. */
const payloads: { readonly [T in Payload['type']]: readonly TSchema[] } = {
  0: [closed({ CoinbaseData: Type.String() }, 'type 0, coinbase')],
  1: [closed({ Asset: asset, Amount: amount(), Controller: bytes() }, 'type 1, registration of the asset')],
  2: [closed({}, 'type 2, transfer')],
  3: [closed({ Type: Type.String(), Content: bytes() }, 'type 3, record')],
  5: [
    closed(
      {
        BlockHeight: uint32('height of the side chain'),
        SideBlockHash: hash('internal order'),
        SideGenesisHash: hash('internal order'),
        SignedData: bytes('signature of a validator'),
      },
      'type 5, proof of work of a side chain',
    ),
  ],
  6: [
    closed({ Proof: bytes(), MainChainTransaction: bytes() }, 'type 6 version 0, recharge'),
    closed({ mainchaintxhash: hash() }, 'type 6 version 1, recharge'),
  ],
  7: [
    closed(
      {
        BlockHeight: uint32('height of the side chain'),
        GenesisBlockAddress: Type.String(),
        SideChainTransactionHashes: Type.Array(hash('internal order')),
      },
      'type 7 version 0, withdrawal',
    ),
    closed({ Signers: Type.Array(Type.Integer({ minimum: 0, maximum: 255 })) }, 'type 7 version 2, withdrawal'),
  ],
  8: [
    closed(
      {
        CrossChainAddresses: Type.Array(Type.String()),
        OutputIndexes: Type.Array(uint32('position of an output')),
        CrossChainAmounts: Type.Array(Type.Integer({ description: 'units of 10^-8' })),
      },
      'type 8, transfer to a side chain',
    ),
  ],
  10: [storedOperation],
}

const payload = Type.Union(Object.values(payloads).flat(), {
  description: 'what the type adds; the operation object as stored with type 10',
})

/** A transaction of the chain, of the pool, or only decoded. */
export const transactionObject = closed({
  txid: hash('id, display order'),
  hash: hash('the same'),
  size: count('bytes'),
  vsize: count('the same'),
  version: Type.Integer({ minimum: 0, maximum: 9, description: '0 or 9' }),
  locktime: uint32('height above which it can be mined; of a coinbase its height'),
  vin: Type.Array(input),
  vout: Type.Array(output),
  blockhash: Type.String({ pattern: '^([0-9a-f]{64})?$', description: 'empty where it is in no block' }),
  confirmations: count('1 in the newest block, 0 in none'),
  time: uint32('Unix seconds of its block, or 0'),
  blocktime: uint32('the same'),
  type: Type.Integer({ minimum: 0, maximum: 255 }),
  payloadversion: Type.Integer({ minimum: 0, maximum: 255 }),
  payload,
  attributes: Type.Array(closed({ usage: Type.Integer({ minimum: 0, maximum: 255 }), data: bytes() })),
  programs: Type.Array(closed({ code: bytes(), parameter: bytes() }), { description: 'empty in a coinbase' }),
})

export const txid = hash('id of a transaction')

/** Parameter of what sends a transaction. */
export const replaceParam = Type.Boolean({
  default: true,
  description: 'false: it takes the place of no waiting transaction that spends the same, whatever it pays',
})

/** Cursor of the next page. */
export const nextPage = Type.Optional(position('`before` of the next page; absent at the end'))

/** The place of a transaction on the active chain. */
export const chainPlace = {
  txid,
  ...position('').properties,
  blockhash: hash('of its block'),
  time: uint32('Unix seconds of its block'),
}

/** A transaction that used an address, by its place and time. */
const use = (description: string) =>
  closed({ ...position('').properties, time: uint32('Unix seconds of its block') }, description)

export const addressHistorySchema = closed({
  address: text('the one asked for'),
  transactions: Type.Array(
    closed({
      ...chainPlace,
      kind: oneOf(txKinds, 'its type by name'),
      received: amount('sum of its outputs to the address, change included'),
      spent: amount('sum of the outputs of the address that it spends'),
      fee: Type.Optional(amount('of the whole transaction; absent where it spends nothing')),
    }),
    { description: 'newest first' },
  ),
  first: Type.Optional(use('oldest transaction of the address that the node lists; absent without any')),
  last: Type.Optional(use('newest one, on whatever page')),
  next: nextPage,
  pruned: Type.Optional(uint32('of a node that prunes: transactions up to this height are not listed')),
  superseded: Type.Optional(
    uint32('of a node that prunes documents: transactions of those superseded up to this height are not listed'),
  ),
})
