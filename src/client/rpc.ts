import { exchange, type HttpOptions, NodeRefusal } from './http.js'
import { asInteger, asText, isObject, unexpected } from './read-answers.js'

/** The result of a JSON-RPC method at `url`. Rejects with a {@link NodeRefusal} if the node refuses. */
export async function callRpc(
  url: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: HttpOptions,
): Promise<unknown> {
  const { body } = await exchange(url, { jsonrpc: '2.0', id: 1, method, params }, options)
  if (!isObject(body)) throw unexpected(`the answer to ${method} is not an object`)
  const { error, result } = body
  if (isObject(error)) {
    const reason = typeof error['data'] === 'string' ? error['data'] : ''
    throw new NodeRefusal(
      `the node refused ${method}`,
      asInteger(error['code'], 'error.code'),
      asText(error['message'], 'error.message'),
      reason,
    )
  }
  if (result === undefined) throw unexpected(`the answer to ${method} has no result`)
  return result
}
