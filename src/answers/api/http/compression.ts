import type { AnswerStream } from '../streams/answer-stream.js'
import { coders, codingFor, compressedStream } from './content-coding.js'
import type { Exchange } from './exchange.js'
import { HeaderList } from './header-list.js'

/** Compresses answers of text for clients that accept it, in threads of libuv, as long as few others are being compressed. */

/**
 * Further answers are sent as they are: compression delays no answer, and leaves threads to the database.
 * @tuning count: whole answers that are compressed at once, and as many streams
 */
export const compressedAtOnce = 8

/**
 * A longer one is sent as it stands: what is being compressed is not counted among the unread bytes of a connection.
 * @tuning bytes: largest answer that is compressed in one step; streams of any length are, part by part
 */
export const mostAtOnce = 1024 * 1024

const text =
  /^(text\/|application\/(?:.*\+)?(?:json|javascript|yaml)|application\/did(?:-resolution|-url-dereferencing)?(?:;|$)|image\/svg)/

let running = 0
/** Streams that are compressed: each as long as its client reads, so they take no place from whole answers. */
let streaming = 0

/** The compressed bytes of kept answers, which are the same object each time. They are forgotten with them. */
const known = new Map<string, WeakMap<Buffer, Buffer>>([...coders.keys()].map((coding) => [coding, new WeakMap()]))

interface Coded<Body> {
  readonly coding: string
  readonly body: Body
}

/** The coding of an answer, or undefined: it is sent as it stands. */
export function codingOf(
  { headers, method }: Pick<Exchange, 'headers' | 'method'>,
  answer: HeaderList,
): string | undefined {
  const accepted = headers['accept-encoding']
  if (accepted === undefined || method === 'HEAD' || answer.get('content-encoding') !== undefined) return undefined
  return text.test(String(answer.get('content-type'))) ? codingFor(accepted) : undefined
}

/** Compresses a whole body; undefined where too many others are, or where it would not get shorter. */
export async function compressed(body: string | Buffer, coding: string): Promise<Coded<Buffer> | undefined> {
  const kept = typeof body === 'string' ? undefined : known.get(coding)?.get(body)
  if (kept !== undefined) return { coding, body: kept }
  const coder = coders.get(coding)
  const length = Buffer.byteLength(body)
  if (coder === undefined || length > mostAtOnce || running >= compressedAtOnce) return undefined
  running++
  try {
    const bytes = await coder.compress(Buffer.from(body as string))
    if (bytes.length >= length) return undefined
    if (typeof body !== 'string') known.get(coding)?.set(body, bytes)
    return { coding, body: bytes }
  } finally {
    running--
  }
}

/** Compresses a body that is made while it is sent; undefined where too many others are. To be read at once. */
export function compressing(body: AnswerStream, coding: string): Coded<AnswerStream> | undefined {
  return streaming >= compressedAtOnce ? undefined : { coding, body: counted(body, coding) }
}

async function* counted(body: AnswerStream, coding: string): AnswerStream {
  streaming++
  try {
    yield* compressedStream(body, coding)
  } finally {
    streaming--
  }
}

/**
 * Headers of a compressed answer. Caches keep it for those alone who accept the same; its tag is a weak one, as other bytes have it too
 * (RFC 9110 §8.8.1).
 */
export function codedHeaders(headers: HeaderList, coding: string): HeaderList {
  const coded = variedHeaders(headers)
  coded.set('content-encoding', coding)
  return coded
}

/**
 * Headers of a 304: with a weak tag, those that the whole answer may have had (RFC 9110 §15.4.5), whose length is not at hand. A strong one
 * may be that of bytes which are never coded.
 */
export function knownHeaders({ headers }: Pick<Exchange, 'headers'>, answer: HeaderList): HeaderList {
  const accepted = headers['accept-encoding']
  const mayBeCoded = String(answer.get('etag')).startsWith('W/')
  return !mayBeCoded || accepted === undefined || codingFor(accepted) === undefined ? answer : variedHeaders(answer)
}

function variedHeaders(headers: HeaderList): HeaderList {
  const coded = new HeaderList(headers.items)
  const [vary, etag] = [headers.get('vary'), headers.get('etag')]
  if (etag !== undefined && !String(etag).startsWith('W/')) coded.set('etag', `W/${etag}`)
  coded.set('vary', vary === undefined ? 'accept-encoding' : `${vary}, accept-encoding`)
  return coded
}
