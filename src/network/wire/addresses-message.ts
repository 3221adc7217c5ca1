import { CodecError, type Reader } from '../../base/primitives/codec.js'
import { chainProtocol, emptyCodec, type Exchange, listCodec } from './exchange.js'

/** @limit count: addresses of an answer */
export const addressesAtOnce = 256
/** @limit bytes: answer with addresses */
const addressesAnswer = 32 * 1024
/** @limit ms: wait for an answer with addresses */
const addressesTimeout = 5_000
/** @limit bytes: text of an address: an IPv6 one in brackets, and a port */
const wireAddress = 64

/** Listening address of a node. */
export interface PeerAddress {
  /** `host:port`; the host is an IPv4 address, or an IPv6 one in brackets. */
  readonly address: string
  /** The 32-byte key last proved at this address. */
  readonly publicKey: Uint8Array
  /** When it was last connected, in Unix seconds. */
  readonly lastSeen: number
}

/** Requests addresses of nodes that the peer is or was connected with. */
export const addressesExchange: Exchange<undefined, readonly PeerAddress[]> = {
  protocol: chainProtocol('addresses', 0, addressesAnswer, addressesTimeout),
  question: emptyCodec,
  answer: listCodec<PeerAddress>(
    addressesAtOnce,
    37,
    (writer, { address, publicKey, lastSeen }) => writer.varstring(address).bytes(publicKey).u32(lastSeen),
    (reader) => ({ address: readAddress(reader), publicKey: reader.take(32), lastSeen: reader.u32() }),
  ),
}

function readAddress(reader: Reader): string {
  const address = reader.varstring(wireAddress)
  if (!/^[\x21-\x7e]*$/.test(address)) throw new CodecError('an address is not printable ASCII')
  return address
}
