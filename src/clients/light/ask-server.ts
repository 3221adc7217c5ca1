import { answerBounds } from './answer-bounds.js'
import { type Bound, JsonScan, parseScanned } from './json-scan.js'
import { LightError } from './light-error.js'

/** One request to an untrusted server: its time is bounded, and its size by the question. */

/** @limit ms: a request of a light resolver */
export const patience = 10_000

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The JSON at a path of a server, or the result of a JSON-RPC method. */
export class Server {
  readonly url: string
  readonly #fetch: Fetch

  /** The address has no slash at its end. */
  constructor(url: string, fetch: Fetch) {
    this.url = url
    this.#fetch = fetch
  }

  /** The part of a chain that was followed. */
  async get(path: string): Promise<unknown> {
    return this.#exchange(`${this.url}/light/1/${path}`, {}, answerBounds.chain)
  }

  /** The JSON at any path of a server that is no node. */
  async ask(path: string): Promise<unknown> {
    return this.#exchange(`${this.url}/${path}`, {}, answerBounds.chain)
  }

  /** Sends JSON to a path by which nodes compare what they know of a chain. */
  async tell(path: string, sent: object): Promise<unknown> {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(sent) }
    return this.#exchange(`${this.url}/light/1/${path}`, init, answerBounds.chain)
  }

  async call(method: string, params: object, bound: Bound): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const answer = await this.#exchange(`${this.url}/rpc`, { method: 'POST', headers, body }, bound)
    const { result } = (typeof answer === 'object' && answer !== null ? answer : {}) as { readonly result?: unknown }
    if (result === undefined) throw new LightError('proof-missing', `${this.url} refuses ${method}, and proves nothing`)
    return result
  }

  async #exchange(url: string, init: RequestInit, bound: Bound): Promise<unknown> {
    const deadline = new AbortController()
    const late = new Promise<never>((_, reject) => {
      deadline.signal.addEventListener('abort', () =>
        reject(new LightError('timeout', `${this.url} did not answer within ${patience / 1000} s`)),
      )
    })
    const timer = setTimeout(() => deadline.abort(), patience)
    try {
      const asked = { ...init, signal: deadline.signal, redirect: 'error' } as const
      return parseScanned(await Promise.race([this.#text(url, asked, bound), late]))
    } catch (error) {
      if (error instanceof LightError) throw error
      throw new LightError('unreachable', `${this.url}: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      clearTimeout(timer)
    }
  }

  async #text(url: string, init: RequestInit, bound: Bound): Promise<string> {
    const response = await this.#fetch(url, init)
    const { status, body } = response
    // What is not read would hold its connection for as long as the server likes.
    if (status === 404 || status >= 500) void body?.cancel().catch(() => {})
    if (response.status === 404) throw new LightError('proof-missing', `${this.url} has nothing at ${url}`)
    if (response.status >= 500) throw new LightError('unreachable', `${this.url} answers HTTP ${response.status}`)
    return readBody(response, new JsonScan(bound))
  }
}

/** The text of an answer; by a reader, because not every browser can iterate over a body. */
async function readBody({ body }: Response, scan: JsonScan): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      const chunk = part.value as Uint8Array
      scan.add(chunk)
      text += decoder.decode(chunk, { stream: true })
    }
  } catch (error) {
    void reader?.cancel().catch(() => {})
    throw error
  }
  return text + decoder.decode()
}
