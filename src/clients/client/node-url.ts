import { UserError } from '../../base/errors/rule-error.js'
import { exchange, type HttpAnswer } from './http.js'
import { isObject } from '../../base/primitives/is-object.js'

/** Milliseconds for each question that only makes a message better. */
const patience = 2_000

/**
 * The base URL in a text as nodes print it: with or without `/api/v1`, a slash at the end, or `http://`. A {@link UserError} for
 * anything else.
 */
export function baseUrl(text: string): string {
  // Without a scheme, `localhost:20334` would be read as a URL of the scheme `localhost`.
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(full) ? new URL(full) : undefined
  if (url?.protocol === 'ws:' || url?.protocol === 'wss:') {
    throw new UserError(`${text} is a WebSocket address: give the HTTP address that the node prints at its start`, 2)
  }
  const isBase = url !== undefined && url.search + url.hash + url.username + url.password === ''
  // Of `http:/host` and `http//host` the scheme would be the name of the host.
  if (!isBase || !/^https?:\/\/(?!(?:http|ws)s?$)/.test(url.origin)) {
    throw new UserError(`not a URL of the form http://host:port: ${text}`, 2)
  }
  return (url.origin + url.pathname).replace(/\/+$/, '').replace(/\/api\/v1$/, '')
}

/** The address in a text of the WebSocket interface, with or without `ws://`. A {@link UserError} with the name for anything else. */
export function webSocketUrl(name: string, text: string): string {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `ws://${text}`
  const url = typeof text === 'string' && URL.canParse(full) ? new URL(full) : undefined
  if (url !== undefined && /^wss?:$/.test(url.protocol) && url.hash === '') return full
  throw new UserError(`${name}: not a URL of the form ws://host:port: ${String(text).slice(0, 200)}`, 2)
}

/** An HTTP interface. */
export type HttpInterface = 'REST' | 'JSON-RPC'

/**
 * The error for an answer of another interface of a node than the one that was `wanted` at `url`, with the address of that one if the node
 * shows it; undefined for any other answer.
 */
export async function otherInterface(
  url: string,
  answer: HttpAnswer,
  wanted: HttpInterface,
): Promise<UserError | undefined> {
  const found = interfaceOf(answer)
  if (found === undefined || found === wanted) return undefined
  const { origin } = new URL(url)
  const place = await placeOf(new URL(url), found, wanted)
  const where = place ?? 'at another port, which the node prints at its start'
  return new UserError(`${origin} is the ${found} port of a node; ${wanted} is ${where}`)
}

/** The interface that made an answer, by the form of the answer. */
function interfaceOf({ status, body }: HttpAnswer): HttpInterface | 'WebSocket' | undefined {
  if (!isObject(body)) return undefined
  if (body['jsonrpc'] === '2.0') return status === 426 ? 'WebSocket' : 'JSON-RPC'
  return Number.isInteger(body['Error']) && 'Desc' in body ? 'REST' : undefined
}

/** The address of an interface, from the state of the node; undefined if the node does not tell. */
async function placeOf(
  url: URL,
  found: HttpInterface | 'WebSocket',
  wanted: HttpInterface,
): Promise<string | undefined> {
  // Only the HTTP interfaces can be asked; by default REST is one port below WebSocket.
  const port = Number(url.port)
  const at = found === 'WebSocket' ? `${url.protocol}//${url.hostname}:${port - 1}` : url.origin
  const state = await stateAt(at, found)
  if (state === undefined || (found === 'WebSocket' && state['WSPort'] !== port)) return undefined
  const there = state[wanted === 'REST' ? 'RestPort' : 'PRCPort']
  return Number.isInteger(there) ? `${url.protocol}//${url.hostname}:${String(there)}` : undefined
}

/** The state of a node, by the interface at an address; undefined without an answer. */
async function stateAt(
  at: string,
  found: HttpInterface | 'WebSocket',
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const isRpc = found === 'JSON-RPC'
  const ask = { jsonrpc: '2.0', id: 1, method: 'getnodestate', params: {} }
  try {
    const url = isRpc ? at : `${at}/api/v1/node/state`
    const { body } = await exchange(url, isRpc ? ask : undefined, { timeout: patience })
    const state = isObject(body) ? body[isRpc ? 'result' : 'Result'] : undefined
    return isObject(state) ? state : undefined
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}
