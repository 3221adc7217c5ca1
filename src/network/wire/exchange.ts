import { RuleError } from '../../errors/rule-error.js'
import { decodeAll, type Reader, Writer } from '../../primitives/codec.js'
import type { Protocol, TopicInfo } from '../link.js'

/** The messages that nodes exchange: what each means as a value, and its bytes. docs/protocol.md draws them. */

/** A value and its bytes. */
export interface Codec<T> {
  encode(value: T): Uint8Array
  /** Exactly these bytes and no more; a RuleError `peer-message` for anything that {@link encode} does not make. */
  decode(bytes: Uint8Array): T
}

/** A kind of request: what is asked, and what is answered. */
export interface Exchange<Q, A> {
  readonly protocol: Protocol
  readonly question: Codec<Q>
  readonly answer: Codec<A>
}

/** A kind of gossip. */
export interface GossipTopic<M> {
  readonly topic: TopicInfo
  readonly message: Codec<M>
}

/** The codec of values that `write` and `read` put into bytes; both are given little-endian primitives. */
export function codec<T>(write: (writer: Writer, value: T) => Writer, read: (reader: Reader) => T): Codec<T> {
  return {
    encode: (value) => write(new Writer(), value).finish(),
    decode: (bytes) => decodeAll(bytes, read, (reason) => new RuleError('peer-message', reason)),
  }
}

/** A list of at most `most` items that take at least `least` bytes each. */
export function listCodec<T>(
  most: number,
  least: number,
  write: (writer: Writer, item: T) => void,
  read: (reader: Reader) => T,
): Codec<readonly T[]> {
  return codec(
    (writer, items) => writer.list(items, (item) => write(writer, item)),
    (reader) => reader.list(most, least, () => read(reader)),
  )
}

/** A list of at most `most` byte strings, all together in `total` bytes; the decoded ones share the memory of the input. */
export function bytesListCodec(most: number, total: number): Codec<readonly Uint8Array[]> {
  const { decode } = listCodec<Uint8Array>(
    most,
    1,
    () => {},
    (reader) => reader.varbytes(total),
  )
  return {
    // Blocks are large: the buffer has its size from the start.
    encode: (items) => {
      const size = items.reduce((sum, { length }) => sum + lengthSize(length) + length, lengthSize(items.length))
      const writer = new Writer(size)
      return writer.list(items, (item) => writer.varbytes(item)).finish()
    },
    decode,
  }
}

/** Bytes that this layer does not look into, at most `most`. */
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
export const emptyCodec: Codec<undefined> = codec(
  (writer) => writer,
  () => undefined,
)

/** Bytes of a compact size. */
function lengthSize(value: number): number {
  if (value < 0xfd) return 1
  return value < 0x10000 ? 3 : 5
}
