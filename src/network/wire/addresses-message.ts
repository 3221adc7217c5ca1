import * as form from '../../base/primitives/forms.js'
import { chainProtocol, codec, emptyCodec, type Exchange } from './exchange.js'

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

const address = form.varstring(wireAddress)
const peerAddress = form.record<PeerAddress>({
  address: form.where(address, (text) => /^[\x21-\x7e]*$/.test(text), 'an address is not printable ASCII'),
  publicKey: form.bytes(32),
  lastSeen: form.u32,
})

/** Requests addresses of nodes that the peer is or was connected with. */
export const addressesExchange: Exchange<undefined, readonly PeerAddress[]> = {
  protocol: chainProtocol('addresses', 0, addressesAnswer, addressesTimeout),
  question: emptyCodec,
  answer: codec(form.list(addressesAtOnce, 37, peerAddress)),
}
