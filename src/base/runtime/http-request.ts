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
}

const agent = new Agent({ keepAlive: true })

/**
 * One exchange of HTTP by Node's own client, of which a server has loaded most already: fetch takes 20 MB more. A GET, or a POST of JSON
 * text. Rejects without a complete answer within its bounds.
 */
export async function requestText(url: string, body: string | undefined, bounds: RequestBounds): Promise<TextAnswer> {
  const { timeout, maxAnswer } = bounds
  const signal = AbortSignal.timeout(timeout)
  const isSecure = url.startsWith('https:')
  const request = isSecure ? (await import('node:https')).request : plainRequest
  const options: RequestOptions = { signal, ...(isSecure ? {} : { agent }) }
  const posted = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' } }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { ...options, ...posted }, resolve)
      .on('error', reject)
      .end(body)
  })
  let size = 0
  response.on('data', (part: Buffer) => {
    size += part.length
    if (size > maxAnswer) response.destroy(new Error(`${url} answered more than ${maxAnswer} bytes`))
  })
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }
}
