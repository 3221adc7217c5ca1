import { RuleError } from '../../errors.js'
import { displayHash, fromHex, utf8 } from '../../primitives/bytes.js'
import type { Hash } from '../../primitives/hash.js'
import { transactionJson } from '../../primitives/transaction-json.js'
import type { ApiContext } from '../context.js'
import { placeIn } from './blocks.js'
import { jsonArray } from './lists.js'

/** Transactions of the chain and the pool. Functions return the JSON text of a `Result`. */

/** One of the active chain, else of the pool; `unknown-transaction` says why one that was pooled is gone. */
export function transaction({ reader, mempool }: ApiContext, hash: Hash): string {
  const located = reader.transaction(hash)
  // Rows of a block may be visible a moment before the tip moves to it.
  if (located !== undefined && located.height <= reader.height) {
    return JSON.stringify(transactionJson(located.transaction, placeIn(reader, located.block)))
  }
  const pooled = mempool.get(hash)
  if (pooled !== undefined) return JSON.stringify(transactionJson(pooled.transaction))
  const reason = mempool.droppedReason(hash)
  const gone = reason === undefined ? '' : `; it left the pool unmined: ${reason}`
  throw new RuleError('unknown-transaction', `no transaction ${displayHash(hash)} on the chain or in the pool${gone}`)
}

/** Everything that waits for a block, in order of arrival. */
export function transactionPool({ mempool }: ApiContext): Promise<string> {
  return jsonArray([...mempool.entries()], (entry) => transactionJson(entry.transaction))
}

/** Takes a signed transaction: `{ "Action": "sendrawtransaction", "data": "<hex>" }`. The result is its txid. */
export async function sendTransaction({ mempool }: ApiContext, body: Uint8Array | undefined): Promise<string> {
  const request = jsonObject(body)
  const action = request.get('Action')
  if (typeof action !== 'string') throw new RuleError('request-parameter', 'Action: missing or not a string')
  if (action !== 'sendrawtransaction') {
    throw new RuleError('request-action', `Action: only "sendrawtransaction" is known, not ${shorten(action)}`)
  }
  // The family's own documentation spells the member both ways.
  const data = request.has('data') ? request.get('data') : request.get('Data')
  if (typeof data !== 'string' || data === '') {
    throw new RuleError('request-parameter', 'data: missing, empty or not a string; it is a signed transaction in hex')
  }
  const bytes = fromHex(data)
  if (bytes === undefined) {
    throw new RuleError('request-parameter', `data: not an even number of hex digits (${data.length} characters)`)
  }
  const { txid } = await mempool.accept(bytes, { local: true })
  return JSON.stringify(txid)
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
