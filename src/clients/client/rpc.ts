import { exchange, type HttpAnswer, type HttpOptions, NodeRefusal } from './http.js'
import { otherInterface } from './node-url.js'
import { asInteger, asText, unexpected } from '../../base/primitives/answer-form.js'
import { isObject } from '../../base/primitives/is-object.js'

/** Parameters by name, or in the order of the method. */
export type RpcParams = Readonly<Record<string, unknown>> | readonly unknown[]

/** The result of a JSON-RPC method at `url`. Rejects with a {@link NodeRefusal} if the node refuses. */
export async function callRpc(url: string, method: string, params: RpcParams, options: HttpOptions): Promise<unknown> {
  return resultOf(url, method, await exchange(url, { jsonrpc: '2.0', id: 1, method, params }, options))
}

/** The same of a method about DIDs: a node out of step with its chain sends the age of its answer in headers. */
export async function callResolver(
  url: string,
  method: string,
  params: RpcParams,
  options: HttpOptions,
): Promise<unknown> {
  const answer = await exchange(url, { jsonrpc: '2.0', id: 1, method, params }, { ...options, reads: true })
  const result = await resultOf(url, method, answer)
  if (answer.age === undefined || !isObject(result)) return result
  return { outOfStep: answer.age, ...result }
}

async function resultOf(url: string, method: string, answer: HttpAnswer): Promise<unknown> {
  const { body } = answer
  if (answer.status >= 400) {
    const other = await otherInterface(url, answer, 'JSON-RPC')
    if (other !== undefined) throw other
  }
  if (!isObject(body)) throw unexpected(`the answer to ${method} is not an object`)
  const { id, error, result } = body
  // A node that could not read the request does not know its id, and a proxy that refuses it knows of none.
  if (id !== 1 && !(id == null && isObject(error))) throw unexpected(`the answer to ${method} has another id`)
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
