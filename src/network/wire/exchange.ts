/**
 * Messages between nodes: one file a message, with its codec and its exchange or topic; all-messages lists them.
 *
 * - Bytes have one form: what decodes encodes to the same bytes, anything else is `peer-message`.
 * - Lists have bounds here, before an item is read. Layouts: docs/protocol.md.
 */
import { RuleError } from '../../base/errors/rule-error.js'
import * as form from '../../base/primitives/forms.js'
import { Header } from '../../base/primitives/header.js'
import { decodeAll, Writer } from '../../base/primitives/codec.js'
import type { Protocol, TopicInfo } from '../link.js'

/** A value and its bytes. */
export interface Codec<T> {
  encode(value: T): Uint8Array
  /** Reads all of the bytes; throws a RuleError `peer-message` for bytes that {@link encode} cannot produce. */
  decode(bytes: Uint8Array): T
}

/** A request and its answer, with the codecs of both. */
export interface Exchange<Q, A> {
  readonly protocol: Protocol
  readonly question: Codec<Q>
  readonly answer: Codec<A>
}

/** A kind of request between nodes of one chain; bytes of both messages at most, and milliseconds to wait. */
export function chainProtocol(name: string, request: number, answer: number, timeout: number): Protocol {
  return { name, version: 1, ofChain: true, request, answer, timeout }
}

/** A gossip topic with the codec of its messages. */
export interface GossipTopic<M> {
  readonly topic: TopicInfo
  readonly message: Codec<M>
}

/** Codec of values of a form. */
export function codec<T>({ write, read }: form.Form<T>): Codec<T> {
  return {
    encode: (value) => write(new Writer(), value).finish(),
    decode: (bytes) => decodeAll(bytes, read, (reason) => new RuleError('peer-message', reason)),
  }
}

/** Forms of a list of at most `most` hashes, and of a header. */
export const hashes = (most: number): form.Form<readonly Uint8Array[]> => form.list(most, 32, form.hash)
export const header: form.Form<Header> = { write: (writer, { bytes }) => writer.bytes(bytes), read: Header.read }

/** A list of at most `most` byte strings, each at most `total` bytes; the decoded ones share the memory of the input. */
export function bytesListCodec(most: number, total: number): Codec<readonly Uint8Array[]> {
  const { decode } = codec(form.list(most, 1, form.varbytes(total)))
  return {
    // Blocks are large: allocate the final size at once.
    encode: (items) => {
      const size = items.reduce((sum, { length }) => sum + lengthSize(length) + length, lengthSize(items.length))
      const writer = new Writer(size)
      return writer.list(items, (item) => writer.varbytes(item)).finish()
    },
    decode,
  }
}

/** Bytes passed on undecoded, at most `most`. */
export function opaqueCodec(most: number): Codec<Uint8Array> {
  return {
    encode: (bytes) => bytes,
    decode: (bytes) => {
      if (bytes.length > most) throw new RuleError('peer-message', `${bytes.length} bytes where ${most} are allowed`)
      return bytes
    },
  }
}

/** No bytes. */
export const emptyCodec: Codec<undefined> = codec({ write: (writer) => writer, read: () => undefined })

/** Bytes of a compact size. */
function lengthSize(value: number): number {
  if (value < 0xfd) return 1
  return value < 0x10000 ? 3 : 5
}
