import type { AnswerAge } from '../../identity/did/resolution.js'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { oneLine } from '../../base/runtime/visible-text.js'

/**
 * A node's answer that refuses the request. The message is one line, in which control characters are written out; the rest is the node's
 * text.
 */
export class NodeRefusal extends UserError {
  /** The `Error` of a REST envelope, or the `code` of a JSON-RPC error. */
  readonly code: number
  /** The `Desc` of the envelope, or the `message` of the error. */
  readonly description: string
  /** The `Result` of the envelope, or the `data` of the error: the exact reason. */
  readonly reason: string

  constructor(what: string, code: number, description: string, reason: string) {
    // The description of a code is the family's, and says less: INTERNAL ERROR for whatever is wrong with an operation.
    super(`${what}: ${oneLine(reason === '' ? description : reason)} (${code})`)
    this.code = code
    this.description = description
    this.reason = reason
  }
}

/** No answer, or none that is complete. */
export class NoAnswer extends UserError {
  /** Description of the failure, without advice. */
  readonly fact: string
  /** Whether the node may have got the request and acted on it: unless that is known not to be so. */
  readonly mayHaveArrived: boolean

  constructor(
    fact: string,
    { advice, mayHaveArrived = true }: { readonly advice?: string; readonly mayHaveArrived?: boolean } = {},
  ) {
    super(advice === undefined ? fact : `${fact}; ${advice}`)
    this.fact = fact
    this.mayHaveArrived = mayHaveArrived
  }
}

export interface HttpOptions {
  /** Milliseconds that one request may take. */
  readonly timeout: number
  /** Maximum bytes of an answer; {@link maxAnswer} when absent. */
  readonly maxAnswer?: number
  /** Advice for the message if no node is reached; advice for the command line when absent. */
  readonly hint?: string
  /** Whether a POST changes nothing, so that it may be sent twice. */
  readonly reads?: boolean
  /** Ends the request; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** The least height as of which answers have to hold; each answer raises it to its own. */
  readonly heights?: SeenHeight | undefined
  /** The owner's token, which opens methods of the node that are for its owner alone. */
  readonly token?: string | undefined
}

/** The greatest height that a client has seen or written; 0: none. */
export interface SeenHeight {
  least: number
}

/** The answer of a node, not interpreted. */
export interface HttpAnswer {
  readonly status: number
  /** Parsed JSON. */
  readonly body: unknown
  /** How old the answer is, of a node that is not in step with its chain. */
  readonly age?: AnswerAge
}

/** Head of an answer, and its body by a reader; a `Response` has them. */
export interface AnswerParts {
  readonly status: number
  readonly ok: boolean
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly body: { getReader(): BodyReader } | null
}

/** The part of a reader of bytes that is used. */
export interface BodyReader {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

/** A request as `fetch` takes it. */
export interface SentParts {
  readonly method?: 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  readonly redirect: 'error'
}

/** Sends a request and resolves with the head of its answer, by the rules of `fetch`. */
export type Send = (url: string, sent: SentParts) => Promise<AnswerParts>

let send: Send = (url, sent) => fetch(url, sent)

/** Sends all further requests of this module another way: the program has one that is loaded sooner than fetch of Node. */
export function sendBy(other: Send): void {
  send = other
}

/** One HTTP exchange in JSON; fails as {@link exchangeText} does, and for an answer that is no JSON. */
export async function exchange(url: string, body: unknown, options: HttpOptions): Promise<HttpAnswer> {
  const { response, text } = await exchangeText(url, body, options)
  const { status } = response
  try {
    return { status, body: JSON.parse(text), ...defined({ age: ageIn(response) }) }
  } catch {
    const fact = `${url} answered HTTP ${status} and no JSON: is it a didledger node?`
    // What stands before a node answers for it while it is away.
    throw status < 500 ? new UserError(fact) : new NoAnswer(fact)
  }
}

/**
 * One HTTP exchange: a GET, or a POST of a body as JSON. Every failure to get an answer is a {@link UserError} that names the URL, but for an
 * aborted signal. A GET, and a POST that reads alone, is asked again, once, if its connection closes without an answer: a node may close a
 * connection that was kept open just when it is used again. Another POST goes over none of which it can be known that it is closed.
 */
export async function exchangeText(
  url: string,
  body: unknown,
  options: HttpOptions,
): Promise<{ readonly response: AnswerParts; readonly text: string }> {
  const { signal } = options
  signal?.throwIfAborted()
  const deadline = new AbortController()
  const leave = () => deadline.abort(signal?.reason)
  signal?.addEventListener('abort', leave, { once: true })
  const timer = setTimeout(() => deadline.abort(new DOMException('too late', 'TimeoutError')), options.timeout)
  try {
    const isPost = body !== undefined
    const init: SentParts = { signal: deadline.signal, redirect: 'error', headers: headersOf(options, isPost) }
    const ask = () => send(url, isPost ? { ...init, method: 'POST', body: JSON.stringify(body) } : init)
    const mayRepeat = !isPost || options.reads === true
    if (!mayRepeat) await afterClosing()
    const response = await ask().catch((error: unknown) =>
      mayRepeat && wasClosed(error) ? ask() : Promise.reject(error),
    )
    if (options.heights !== undefined && response.ok) raise(options.heights, response)
    return { response, text: await readBody(response, options.maxAnswer ?? maxAnswer, deadline.signal) }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof UserError) throw error
    // The client that sends may name an abort of its own instead of its reason.
    throw unreachable(url, deadline.signal.aborted ? deadline.signal.reason : error, options)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  }
}

/**
 * Two turns of the event loop. While this thread was busy, with a password for example, the server may have closed connections that are kept
 * open: that is seen in the first turn and known to the connection's pool in the second. Before, a request would be sent over such a one and be lost.
 */
async function afterClosing(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setTimeout(resolve))
}

function ageIn({ headers }: AnswerParts): AnswerAge | undefined {
  const [height, age] = [headers.get('x-chain-height'), headers.get('x-chain-age')]
  const isAge = height !== null && age !== null && /^[0-9]{1,15}$/.test(height) && /^[0-9]{1,15}$/.test(age)
  return isAge ? { height: Number(height), age: Number(age) } : undefined
}

/** Raises what a client has seen to the height of an answer. */
function raise(heights: SeenHeight, { headers }: AnswerParts): void {
  const height = headers.get('x-chain-height') ?? ''
  if (/^[0-9]{1,10}$/.test(height)) heights.least = Math.max(heights.least, Number(height))
}

function headersOf({ token, heights }: HttpOptions, isPost: boolean): Record<string, string> {
  return {
    ...(isPost ? { 'content-type': 'application/json' } : {}),
    ...(isPost && token !== undefined ? { authorization: `Bearer ${token}` } : {}),
    ...(heights === undefined || heights.least === 0 ? {} : { 'x-min-height': String(heights.least) }),
  }
}

/**
 * Far above a pool or a block.
 * @limit bytes: an answer of a node
 */
const maxAnswer = 64 * 1024 * 1024

/**
 * The text of an answer; by a reader, because not every browser can iterate over a body. The reader is cancelled explicitly on
 * timeout: once an answer has begun, fetch of Node 20 may ignore the signal.
 */
async function readBody({ body, url }: AnswerParts, limit: number, signal: AbortSignal): Promise<string> {
  const reader = body?.getReader()
  signal.addEventListener('abort', () => void reader?.cancel().catch(() => {}))
  const decoder = new TextDecoder()
  let size = 0
  let text = ''
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    const chunk = part.value
    size += chunk.length
    if (size > limit) {
      await reader?.cancel()
      throw new UserError(`${url} answered more than ${limit} bytes`)
    }
    text += decoder.decode(chunk, { stream: true })
  }
  signal.throwIfAborted()
  return text + decoder.decode()
}

const commandHint = 'start a chain with "npx didledger devnet", or name a running node with --rest URL'

function unreachable(url: string, error: unknown, { timeout, hint: advice = commandHint }: HttpOptions): NoAnswer {
  const { origin } = new URL(url)
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new NoAnswer(`${origin} did not answer within ${timeout / 1000} s`)
  }
  const code = causeCode(error)
  const unsent = { advice, mayHaveArrived: false }
  if (code === 'ECONNREFUSED') return new NoAnswer(`no node listens at ${origin}`, unsent)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new NoAnswer(`the name ${new URL(url).hostname} cannot be resolved`, unsent)
  return new NoAnswer(`cannot reach ${origin} (${code ?? innermost(error)})`, { advice })
}

/** Whether the connection ended while the request waited for its answer; a browser does not tell. */
function wasClosed(error: unknown): boolean {
  return ['ECONNRESET', 'UND_ERR_SOCKET'].includes(causeCode(error) ?? '')
}

/** The code of the system error behind a failed fetch; with several addresses, that of the first. */
function causeCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code
    if (current instanceof AggregateError && current.errors.length > 0) return causeCode(current.errors[0])
  }
  return undefined
}

/** The message of the innermost cause: fetch itself reports only that it failed. */
function innermost(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : innermost(error.cause)
}
