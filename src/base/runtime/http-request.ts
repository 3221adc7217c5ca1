import type { IncomingMessage, RequestOptions } from 'node:http'
import { Agent, request as plainRequest } from 'node:http'
import { text } from 'node:stream/consumers'

export interface TextAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

export interface RequestBounds {
  /** Milliseconds for the whole exchange. */
  readonly timeout: number
  /** Bytes of an answer. */
  readonly maxAnswer: number
  /** Ends the exchange sooner. */
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  /** Whether it must not arrive twice: then it is not sent again. */
  readonly once?: boolean
}

const agent = new Agent({ keepAlive: true })

/** Failure of a request over a connection that was kept open: the server may close one just when it is used again. */
class KeptClosed extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/**
 * One exchange of HTTP by Node's own client, of which a server has loaded most already: fetch takes 20 MB more. A GET, or a POST of JSON
 * text. Rejects without a complete answer within its bounds. A request that fails over a kept connection is sent again, once: only what
 * may arrive twice is to be sent.
 */
export async function requestText(url: string, body: string | undefined, bounds: RequestBounds): Promise<TextAnswer> {
  const { timeout, maxAnswer } = bounds
  const signal = AbortSignal.any([
    AbortSignal.timeout(timeout),
    ...(bounds.signal === undefined ? [] : [bounds.signal]),
  ])
  const isSecure = url.startsWith('https:')
  const request = isSecure ? (await import('node:https')).request : plainRequest
  const options: RequestOptions = { signal, ...(isSecure ? {} : { agent }) }
  const { headers = {} } = bounds
  const posted =
    body === undefined ? { headers } : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(url, { ...options, ...posted }, resolve)
      asked.on('error', (error) => reject(asked.reusedSocket ? new KeptClosed(error) : error)).end(body)
    })
  const response = await ask().catch((error: unknown) =>
    error instanceof KeptClosed && !signal.aborted && bounds.once !== true ? ask() : Promise.reject(error),
  )
  let size = 0
  response.on('data', (part: Buffer) => {
    size += part.length
    if (size > maxAnswer) response.destroy(new Error(`${url} answered more than ${maxAnswer} bytes`))
  })
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }
}
