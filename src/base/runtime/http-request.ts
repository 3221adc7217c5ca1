import type { IncomingMessage, RequestOptions } from 'node:http'
import { Agent, request as plainRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { endOf } from './end-of-time.js'

export interface BytesAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
}

export interface TextAnswer extends Omit<BytesAnswer, 'bytes'> {
  readonly text: string
}

/** A request but for its URL. */
export interface SentRequest {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Uint8Array | undefined
}

export interface RequestBounds {
  /** Milliseconds for the whole exchange. */
  readonly timeout: number
  /** Bytes of an answer. */
  readonly maxAnswer: number
  /** Ends the exchange sooner. */
  readonly signal?: AbortSignal
  /** Whether it must not arrive twice: then it is not sent again. */
  readonly once?: boolean
}

export interface TextBounds extends RequestBounds {
  readonly headers?: Readonly<Record<string, string>>
}

const agent = new Agent({ keepAlive: true })

/** Failure of a request over a connection that was kept open: the server may close one just when it is used again. */
class KeptClosed extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/** The failure of an answer that has more bytes than it may. */
export class AnswerTooLong extends Error {}

/** The answer to a GET, or to a POST of JSON text, as text; see {@link requestBytes}. */
export async function requestText(url: string, body: string | undefined, bounds: TextBounds): Promise<TextAnswer> {
  const { headers } = bounds
  const sent =
    body === undefined
      ? { method: 'GET', headers }
      : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body }
  const { bytes, ...answer } = await requestBytes(url, sent, bounds)
  return { ...answer, text: new TextDecoder().decode(bytes) }
}

/**
 * One exchange of HTTP by Node's own client, of which a server has loaded most already: fetch takes 20 MB more. Rejects without a complete
 * answer within its bounds; redirects are answers. A request that fails over a kept connection is sent again, once: only what may arrive
 * twice is to be sent.
 */
export async function requestBytes(url: string, sent: SentRequest, bounds: RequestBounds): Promise<BytesAnswer> {
  const end = endOf(bounds.timeout, bounds.signal)
  try {
    return await exchange(url, sent, bounds, end.signal)
  } finally {
    end.release()
  }
}

/**
 * Sends a request, and resolves with the head of its answer. A request that fails over a kept connection is sent again, once, unless it
 * must not arrive twice.
 */
export async function answerTo(
  url: string,
  { method, headers = {}, body }: SentRequest,
  { once, signal }: { readonly once?: boolean | undefined; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  const isSecure = url.startsWith('https:')
  const request = isSecure ? (await import('node:https')).request : plainRequest
  const options: RequestOptions = { method, headers, signal, ...(isSecure ? {} : { agent }) }
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(url, options, resolve)
      asked.on('error', (error) => reject(asked.reusedSocket ? new KeptClosed(error) : error)).end(body)
    })
  return ask()
    .catch((error: unknown) => {
      if (error instanceof KeptClosed && !signal.aborted && once !== true) return ask()
      throw error
    })
    .catch((error: unknown) => {
      throw error instanceof KeptClosed ? error.cause : error
    })
}

async function exchange(
  url: string,
  sent: SentRequest,
  { maxAnswer, once }: RequestBounds,
  signal: AbortSignal,
): Promise<BytesAnswer> {
  const response = await answerTo(url, sent, { once, signal })
  let size = 0
  response.on('data', (part: Buffer) => {
    size += part.length
    if (size > maxAnswer) response.destroy(new AnswerTooLong(`${url} answered more than ${maxAnswer} bytes`))
  })
  return { status: response.statusCode ?? 0, headers: response.headers, bytes: await buffer(response) }
}
