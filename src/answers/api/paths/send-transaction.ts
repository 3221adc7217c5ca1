import { Type } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import { utf8 } from '../../../base/primitives/bytes.js'
import type { ApiContext } from '../api-context.js'
import { apiLimits } from '../api-limits.js'
import { refuseManyValues } from '../http/large-body.js'
import { parameterKinds, readParameter } from '../parameters.js'
import { replaceParam } from '../schemas/transaction-schemas.js'

const transaction = parameterKinds.transaction.schema

/** Body of `POST /api/v1/transaction`. The family's own documentation spells the member both ways. */
export const sendTransactionBody = Type.Object(
  {
    Action: Type.Literal('sendrawtransaction'),
    data: Type.Optional(transaction),
    Data: Type.Optional(Type.Unknown({ description: 'read where data is missing' })),
    replace: Type.Optional(replaceParam),
  },
  { anyOf: [{ required: ['data'] }, { required: ['Data'], properties: { Data: transaction } }] },
)

/** Accepts a signed transaction: `{ "Action": "sendrawtransaction", "data": "<hex>" }`. The result is its txid. */
export async function sendTransaction(context: ApiContext, body: Uint8Array | undefined): Promise<string> {
  // In this order: a gateway, which has no pool, says so before it reads the body.
  const { txid } = await context.mempool.accept(...transactionIn(context, body))
  return JSON.stringify(txid)
}

/** Bytes of a transaction, and how the pool takes it. */
type SentTransaction = [bytes: Uint8Array, options: { readonly local: true; readonly replace: boolean }]

/** The transaction in such a body. */
export function transactionIn({ limits }: Pick<ApiContext, 'limits'>, body: Uint8Array | undefined): SentTransaction {
  if (body !== undefined) refuseManyValues(body, { ...apiLimits, ...limits })
  const request = jsonObject(body)
  const action = request.get('Action')
  if (typeof action !== 'string') throw new RuleError('request-parameter', 'Action: missing or not a string')
  if (action !== 'sendrawtransaction') {
    throw new RuleError('request-action', `Action: only "sendrawtransaction" is known, not ${shorten(action)}`)
  }
  const data = request.has('data') ? request.get('data') : request.get('Data')
  if (typeof data !== 'string' || data === '') {
    throw new RuleError('request-parameter', 'data: missing, empty or not a string; it is a signed transaction in hex')
  }
  const replace = request.has('replace') ? request.get('replace') : true
  if (typeof replace !== 'boolean') throw new RuleError('request-parameter', 'replace: it has to be true or false')
  return [readParameter('transaction', 'data', data), { local: true, replace }]
}

function jsonObject(body: Uint8Array | undefined): Map<string, unknown> {
  const text = body === undefined ? undefined : utf8(body)
  if (text === undefined) throw new RuleError('request-json', 'the body is missing or not UTF-8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new RuleError('request-json', `the body is not JSON: ${(error as SyntaxError).message}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return new Map(Object.entries(value))
  throw new RuleError('request-parameter', 'Action: the body is JSON but not an object, so it has no members')
}

function shorten(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
