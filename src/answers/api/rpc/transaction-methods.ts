import { Type } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import { apiLimits } from '../api-limits.js'
import { requireTransaction } from '../http/passed-on.js'
import { readParameter } from '../parameters.js'
import {
  decodedTransaction,
  transaction,
  transactionHex,
  transactionIds,
  transactionPool,
} from '../results/transaction-results.js'
import { bytes, hashParam, oneOf } from '../schemas/common-schemas.js'
import { replaceParam, transactionObject, txid as txidResult } from '../schemas/transaction-schemas.js'
import { addressesParam, coinsMemory, mostCoins, readAddresses } from './listed-coins.js'
import { jsonText, method, type RpcMethod } from './method.js'

const data = Type.String({ minLength: 2, description: 'a transaction in hex' })

/** Transactions of the chain and the pool, and those that clients send. */
export const transactionMethods: readonly RpcMethod[] = [
  method({
    name: 'getrawtransaction',
    lasts: 'said',
    summary: 'A transaction, mined or waiting: its bytes in hex, or an object.',
    params: Type.Object({
      txid: hashParam('id of the transaction'),
      verbose: Type.Optional(Type.Boolean({ default: false, description: 'whether to answer the object' })),
    }),
    result: Type.Union([transactionObject, bytes('without verbose')]),
    run: (context, { txid, verbose = false }) =>
      jsonText((verbose ? transaction : transactionHex)(context, readParameter('hash', 'txid', txid))),
  }),
  method({
    name: 'getrawmempool',
    summary:
      'The transactions that wait for a block, in order of arrival: their ids, or with state "all" objects. With addresses those that pay ' +
      'them or spend their coins, as objects, and those of which these spend outputs.',
    params: Type.Object({
      state: Type.Optional(oneOf(['all'], '"all" for objects')),
      addresses: Type.Optional(addressesParam),
    }),
    result: Type.Union([Type.Array(txidResult), Type.Array(transactionObject)]),
    run: (context, { state, addresses }) => {
      if (addresses !== undefined) {
        const owners = readAddresses(addresses)
        return transactionPool(context, { owners, most: mostCoins(context), search: coinsMemory(context) })
      }
      if (state === undefined) return transactionIds(context)
      const { poolObjects } = { ...apiLimits, ...context.limits }
      if (context.mempool.size > poolObjects) {
        throw new RuleError(
          'busy',
          `state: ${context.mempool.size} transactions, of more than ${poolObjects} only ids are listed`,
        )
      }
      return transactionPool(context)
    },
  }),
  method({
    name: 'sendrawtransaction',
    summary: 'Takes a signed transaction into the pool and answers its id.',
    effect: 'repeatable',
    params: Type.Object({ data, replace: Type.Optional(replaceParam) }),
    result: txidResult,
    run: async ({ mempool, followed }, params, { client }) => {
      const bytes = readParameter('transaction', 'data', params.data)
      if (followed === undefined) return (await mempool.accept(bytes, { local: true, replace: params.replace })).txid
      await requireTransaction(bytes)
      return followed.call('sendrawtransaction', params, client, 'repeatable')
    },
  }),
  method({
    name: 'decoderawtransaction',
    summary: 'Shows what the bytes of a transaction say, signed or not; the chain is not asked.',
    params: Type.Object({ data }),
    result: transactionObject,
    run: (_, params) => jsonText(decodedTransaction(readParameter('transaction', 'data', params.data))),
  }),
]
