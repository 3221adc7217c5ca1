import type { ServerResponse } from 'node:http'
import type { AnswerStream } from '../streams/answer-stream.js'
import { codedHeaders, codingOf, compressed, compressing, knownHeaders } from './compression.js'
import { leastCompressed } from './content-coding.js'
import type { Exchange } from './exchange.js'
import type { HeaderList } from './header-list.js'
import type { HttpAnswer } from './path-row.js'

/** Statuses whose answers have no content. */
const empty: readonly number[] = [204, 304]

/** @tuning bytes: largest kept answer that is copied into one piece with its headers; for a longer one the copy takes longer than it saves */
const longestInOnePiece = 512

/** Whether caches keep answers to a method. */
function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Sends an answer, unless the client is gone; HEAD gets its headers alone. */
export function sendAnswer(exchange: Exchange, { status = 200, headers, body, sent }: HttpAnswer): void {
  const { response, method } = exchange
  const own = exchange.answerHeaders.with(headers)
  // Without it caches decide for how long: a block may change any answer, and a refusal of what is not there yet.
  if (isRead(method) && own.get('cache-control') === undefined) own.set('cache-control', 'no-cache')
  const all = status === 304 ? knownHeaders(exchange, own) : own
  if (sent !== undefined) response.once('finish', sent)
  if (typeof body === 'object' && !Buffer.isBuffer(body)) {
    if (method === 'HEAD' || response.destroyed) {
      // A part in progress ends first; its failure no longer matters.
      body.return().catch(() => {})
      response.writeHead(status, all.items).end()
    } else {
      const coding = codingOf(exchange, all)
      const coded = coding === undefined ? undefined : compressing(body, coding)
      response.writeHead(status, (coded === undefined ? all : codedHeaders(all, coded.coding)).items)
      void sendStream(response, coded?.body ?? body)
    }
    return
  }
  const length = body === undefined ? 0 : Buffer.byteLength(body)
  const coding = length < leastCompressed ? undefined : codingOf(exchange, all)
  if (coding !== undefined && body !== undefined) {
    void sendCompressed(exchange, { status, headers: all, body }, coding)
    return
  }
  if (body !== undefined) all.set('content-length', length)
  // A length in a 304 would be that of the content which is not sent (RFC 9110 §8.6).
  else if (!empty.includes(status) && all.get('content-length') === undefined) all.set('content-length', 0)
  response.writeHead(status, all.items)
  if (method === 'HEAD') response.end()
  // In one piece with the headers: Node hands text over with them, and bytes as a second piece.
  else if (length <= longestInOnePiece && Buffer.isBuffer(body)) response.end(body.toString('latin1'), 'latin1')
  else response.end(body)
}

/** Sends a body that is worth compressing; as it stands where that does not succeed. */
async function sendCompressed(
  { response }: Exchange,
  { status, headers, body }: { status: number; headers: HeaderList; body: string | Buffer },
  coding: string,
): Promise<void> {
  const coded = await compressed(body, coding).catch(() => undefined)
  if (response.destroyed) return
  const all = coded === undefined ? headers : codedHeaders(headers, coding)
  const bytes = coded?.body ?? body
  try {
    all.set('content-length', Buffer.byteLength(bytes))
    response.writeHead(status, all.items).end(bytes)
  } catch {
    response.destroy()
  }
}

/** Sends parts as fast as the client reads them; an answer that cannot be completed ends with the connection. */
async function sendStream(response: ServerResponse, body: AnswerStream): Promise<void> {
  try {
    let next = body.next()
    for (;;) {
      const { value, done } = await next
      if (done === true) break
      const hasRoom = response.write(value as Buffer | string)
      // Made while the client takes this one; a failure is met by the await.
      next = body.next()
      next.catch(() => {})
      if (!hasRoom) await drained(response)
      if (response.destroyed) {
        body.return().catch(() => {})
        return
      }
    }
    response.end()
  } catch {
    response.destroy()
  }
}

/** Resolves once there is room for more, or the connection is closed. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    if (response.destroyed) resolve()
    else response.on('drain', done).on('close', done)
  })
}
