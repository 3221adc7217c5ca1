import { NodeGone, Refusal } from './refusal.js'

/** Asks the node that served the page: by JSON-RPC and REST, on the same port, and nothing else. */

type Parameters = Readonly<Record<string, unknown>>
export type Call = readonly [method: string, parameters?: Parameters]

interface Reply {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Most calls of one batch: a node takes 100 unless its owner chose fewer. */
const batchSize = 50

/** The address of a path of the node; below the folder of the page, so that a proxy may put it anywhere. */
export function nodeUrl(path: string): URL {
  return new URL(path, document.baseURI.replace(/#.*$/, ''))
}

/** The result of a method. Rejects with a {@link Refusal}, or with {@link NodeGone}. */
export async function ask<T>(method: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  const reply = (await post({ jsonrpc: '2.0', id: 1, method, params: parameters }, signal)) as Reply
  return resultOf<T>(reply)
}

/** The results of several methods, in order; one that is refused has its {@link Refusal} there. */
export async function askAll<T>(calls: readonly Call[], signal?: AbortSignal): Promise<(T | Refusal)[]> {
  const results: (T | Refusal)[] = []
  for (let at = 0; at < calls.length; at += batchSize) {
    const batch = calls.slice(at, at + batchSize)
    const body = batch.map(([method, params = {}], id) => ({ jsonrpc: '2.0', id, method, params }))
    const reply = (await post(body, signal)) as readonly Reply[] | Reply
    if (!Array.isArray(reply)) throw refusalOf(reply as Reply)
    const byId = new Map((reply as readonly Reply[]).map((one) => [one.id, one]))
    for (const id of batch.keys()) results.push(settled<T>(byId.get(id) ?? {}))
  }
  return results
}

function settled<T>(reply: Reply): T | Refusal {
  return reply.result === undefined ? refusalOf(reply) : (reply.result as T)
}

function resultOf<T>(reply: Reply): T {
  if (reply.result === undefined) throw refusalOf(reply)
  return reply.result as T
}

function refusalOf({ error }: Reply): Refusal {
  if (error === undefined) return new Refusal(0, 'The node answered without a result', '')
  return new Refusal(error.code, error.message, typeof error.data === 'string' ? error.data : '')
}

async function post(body: unknown, signal?: AbortSignal): Promise<unknown> {
  const response = await fetched(nodeUrl('rpc'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  try {
    return await response.json()
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new NodeGone(`An answer with status ${response.status} came, which is not JSON`)
  }
}

/** An answer as text, with its status. Rejects with {@link NodeGone}. */
export async function fetchText(
  url: URL,
  init: RequestInit = {},
): Promise<{ status: number; type: string; text: string }> {
  const response = await fetched(url, init)
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
}

async function fetched(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, cache: 'no-store', credentials: 'same-origin' })
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw new NodeGone('The node does not answer')
  }
}
