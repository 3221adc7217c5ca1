import { LightError } from './light-error.js'

/** One request to a server, whose answer is not believed: its time, its size and its depth are bounded. */

/** @limit ms: a request of a light resolver */
export const patience = 10_000
/** @limit bytes: an answer to a light resolver */
const maxBody = 8 * 1024 * 1024
/** @limit levels: nesting of an answer to a light resolver */
const maxDepth = 32

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The JSON at a path of a server, or the result of a JSON-RPC method. */
export class Server {
  readonly url: string
  readonly #fetch: Fetch

  constructor(url: string, fetch: Fetch) {
    this.url = url.replace(/\/+$/, '')
    this.#fetch = fetch
  }

  async get(path: string): Promise<unknown> {
    return this.#exchange(`${this.url}/light/1/${path}`, {})
  }

  async call(method: string, params: object): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const answer = await this.#exchange(`${this.url}/rpc`, { method: 'POST', headers, body })
    const { result } = (typeof answer === 'object' && answer !== null ? answer : {}) as { readonly result?: unknown }
    if (result === undefined) throw new LightError('proof-missing', `${this.url} refuses ${method}, and proves nothing`)
    return result
  }

  async #exchange(url: string, init: RequestInit): Promise<unknown> {
    const deadline = new AbortController()
    const late = new Promise<never>((_, reject) => {
      deadline.signal.addEventListener('abort', () =>
        reject(new LightError('timeout', `${this.url} did not answer within ${patience / 1000} s`)),
      )
    })
    const timer = setTimeout(() => deadline.abort(), patience)
    try {
      return parse(await Promise.race([this.#text(url, { ...init, signal: deadline.signal, redirect: 'error' }), late]))
    } catch (error) {
      if (error instanceof LightError) throw error
      throw new LightError('unreachable', `${this.url}: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      clearTimeout(timer)
    }
  }

  async #text(url: string, init: RequestInit): Promise<string> {
    const response = await this.#fetch(url, init)
    if (response.status === 404) throw new LightError('proof-missing', `${this.url} has nothing at ${url}`)
    if (response.status >= 500) throw new LightError('unreachable', `${this.url} answers HTTP ${response.status}`)
    return readBody(response)
  }
}

/** The text of an answer; by a reader, because not every browser can iterate over a body. */
async function readBody({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let [size, text] = [0, '']
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    const chunk = part.value as Uint8Array
    size += chunk.length
    if (size > maxBody) {
      void reader?.cancel().catch(() => {})
      throw new LightError('form', `an answer of more than ${maxBody} bytes`)
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** JSON of bounded depth: `form` for other text. */
export function parse(text: string): unknown {
  if (depthOf(text) > maxDepth) throw new LightError('form', `an answer deeper than ${maxDepth} levels`)
  try {
    return JSON.parse(text)
  } catch {
    throw new LightError('form', 'an answer that is no JSON')
  }
}

/** The deepest nesting in a text that is JSON. */
function depthOf(text: string): number {
  let [depth, deepest, inString] = [0, 0, false]
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string
    if (inString && character === '\\') i++
    else if (character === '"') inString = !inString
    else if (!inString && (character === '[' || character === '{')) deepest = Math.max(deepest, ++depth)
    else if (!inString && (character === ']' || character === '}')) depth--
  }
  return deepest
}
