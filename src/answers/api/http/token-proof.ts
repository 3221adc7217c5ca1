import { createHmac } from 'node:crypto'
import type { Socket } from 'node:net'

/**
 * Proof that the owner's token is known at a place: HMAC-SHA256 of `nonce`, `address` and `port` under the 32 bytes of the token. The
 * place keeps a program that only passes requests on from being taken for the node.
 */
export function tokenProof(token: Uint8Array, nonce: Uint8Array, place: string): Buffer {
  return createHmac('sha256', token).update('didledger token proof').update(nonce).update(place).digest()
}

/** The place that a connection reached, `address port`; an IPv4 address inside IPv6 as IPv4. */
export function placeOf({ localAddress = '', localPort = 0 }: Pick<Socket, 'localAddress' | 'localPort'>): string {
  return placeText(localAddress, localPort)
}

export function placeText(address: string, port: number): string {
  return `${address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')} ${port}`
}
