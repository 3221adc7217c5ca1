import { answerBounds } from './answer-bounds.js'
import { type Bound, JsonScan, parseScanned } from './json-scan.js'
import { LightError } from './light-error.js'

/** One request to an untrusted server: its time is bounded, and its size by the question. */

/** An untrusted source of answers: a node, or the files of a mirror. */
export interface Server {
  /** Without a slash at its end. */
  readonly url: string
  /** A part of the chain by its path below `light/1` of a node (format 10.11). */
  get(path: string): Promise<unknown>
  /** The result of a method of JSON-RPC. */
  call(method: string, params: object, bound: Bound): Promise<unknown>
  /** Tells the server something below `light/1`, and resolves with what it has of it: its own head for that of another. */
  tell(path: string, sent: object): Promise<unknown>
}

/** @limit ms: a request of a light resolver */
export const patience = 10_000

/** Errors of JSON-RPC that say nothing of what was asked for: the node is behind, busy or overloaded, or has a fault of its own. */
const passing: readonly unknown[] = [-32001, -32005, -32024, -32603]

interface RpcError {
  readonly code?: unknown
  readonly data?: unknown
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** A node: the JSON at a path, or the result of a JSON-RPC method. */
export class NodeServer implements Server {
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
    return this.#exchange(`${this.url}/light/1/${path}`, posted(sent), answerBounds.chain)
  }

  async call(method: string, params: object, bound: Bound): Promise<unknown> {
    const answer = await this.#exchange(`${this.url}/rpc`, posted({ jsonrpc: '2.0', id: 1, method, params }), bound)
    const { result, error } = Object(answer) as { readonly result?: unknown; readonly error?: RpcError | null }
    if (result !== undefined) return result
    // Busy shares its code with a history that is too long, which stays so.
    const mayPass = passing.includes(error?.code) && !/history/.test(String(error?.data))
    const failure = mayPass ? 'unreachable' : 'proof-missing'
    throw new LightError(failure, `${this.url} refuses ${method}, and proves nothing`)
  }

  #exchange(url: string, init: RequestInit, bound: Bound): Promise<unknown> {
    return timely(this.url, async (timing) => parseScanned(await this.#text(url, { ...init, ...timing }, bound)))
  }

  async #text(url: string, init: RequestInit, bound: Bound): Promise<string> {
    const response = await this.#fetch(url, init)
    requirePresent(response, this.url, url)
    return readBody(response, new JsonScan(bound))
  }
}

function posted(sent: object): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) }
}

/** Options of each request. */
export type Timing = Required<Pick<RequestInit, 'signal' | 'redirect'>>

/** Runs a request to a server to its end in time: it is aborted then, and rejects also where what runs it does not notice. */
export async function timely<T>(server: string, run: (timing: Timing) => Promise<T>): Promise<T> {
  const deadline = new AbortController()
  const late = new Promise<never>((_, reject) => {
    deadline.signal.addEventListener('abort', () =>
      reject(new LightError('timeout', `${server} did not answer within ${patience / 1000} s`)),
    )
  })
  const timer = setTimeout(() => deadline.abort(), patience)
  try {
    return await Promise.race([run({ signal: deadline.signal, redirect: 'error' }), late])
  } catch (error) {
    if (error instanceof LightError) throw error
    throw new LightError('unreachable', `${server}: ${reasonOf(error)}`)
  } finally {
    clearTimeout(timer)
  }
}

/** Returns why a request failed: of a fetch its cause alone says so, and of one to several addresses the code of that. */
function reasonOf(error: unknown): string {
  const { cause, message } = Object(error) as { readonly message?: string; readonly cause?: NodeJS.ErrnoException }
  return cause?.message || cause?.code || message || String(error)
}

/** Throws `proof-missing` and `unreachable` for an answer without what was asked for. */
export function requirePresent({ status, body }: Response, server: string, url: string): void {
  // What is not read would hold its connection for as long as the server likes.
  if (status === 404 || status >= 500) void body?.cancel().catch(() => {})
  if (status === 404) throw new LightError('proof-missing', `${server} has nothing at ${url}`)
  if (status >= 500) throw new LightError('unreachable', `${server} answers HTTP ${status}`)
}

/** The text of an answer. */
async function readBody(response: Response, scan: JsonScan): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  await eachChunk(response, (chunk) => {
    scan.add(chunk)
    text += decoder.decode(chunk, { stream: true })
  })
  return text + decoder.decode()
}

/** Takes the parts of a body until `take` throws; by a reader, because not every browser can iterate over a body. */
export async function eachChunk({ body }: Response, take: (chunk: Uint8Array) => void): Promise<void> {
  const reader = body?.getReader()
  try {
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      take(part.value as Uint8Array)
    }
  } catch (error) {
    void reader?.cancel().catch(() => {})
    throw error
  }
}
