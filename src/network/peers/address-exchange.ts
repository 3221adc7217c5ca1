import type { Random } from '../../base/runtime/env.js'
import { concerns, endpointText, parseEndpoint, plainHost } from '../address/ip-address.js'
import { addressesAtOnce, type PeerAddress } from '../wire/addresses-message.js'
import type { AddressBook } from './address-book.js'
import type { PeerRecord, Peer } from './peer-record.js'
import { drawn } from './random-choice.js'

/** @limit ms: age of an address that is announced or accepted, or kept in a full book although it fails */
export const staleAfter = 30 * 24 * 60 * 60 * 1000
/** @limit ms: how far ahead of the clock the last connection to an address may be */
const clockTolerance = 60 * 60 * 1000

/** The listening endpoint of a peer; undefined if it does not listen. */
export function listensAt({ link, status }: Pick<Peer, 'link' | 'status'>): { host: string; port: number } | undefined {
  const host = plainHost(link.host)
  if (!link.inbound) return { host, port: link.port }
  return status.listenPort === 0 ? undefined : { host, port: status.listenPort }
}

/** Answer to an address request: a random choice of addresses connected now or within {@link staleAfter}. */
export function addressesFor(
  requester: PeerRecord,
  peers: readonly PeerRecord[],
  book: AddressBook,
  now: number,
  random: Random,
): readonly PeerAddress[] {
  const found = new Map<string, PeerAddress>()
  const add = (endpoint: { host: string; port: number }, publicKey: Uint8Array, seen: number) => {
    if (!concerns(endpoint.host, plainHost(requester.link.host))) return
    const address = endpointText(endpoint)
    found.set(address, { address, publicKey, lastSeen: Math.floor(seen / 1000) })
  }
  for (const { endpoint, publicKey, seen } of book.addresses()) {
    if (endpoint !== undefined && publicKey !== undefined && seen > now - staleAfter) add(endpoint, publicKey, seen)
  }
  for (const peer of peers) {
    const endpoint = listensAt(peer)
    if (endpoint !== undefined && peer !== requester) add(endpoint, peer.link.publicKey, now)
  }
  return drawn(random, [...found.values()], addressesAtOnce)
}

/** Adds announced addresses to the book within the budget of the peer; returns how many were new. */
export function takeAddresses(
  sender: PeerRecord,
  addresses: readonly PeerAddress[],
  book: AddressBook,
  now: number,
): number {
  let taken = 0
  for (const { address, publicKey, lastSeen } of addresses) {
    if (!sender.mayAddAddress) break
    const endpoint = parseEndpoint(address)
    const fresh = lastSeen * 1000 > now - staleAfter && lastSeen * 1000 < now + clockTolerance
    // IP addresses only: a host name would let a peer cause DNS look-ups.
    if (endpoint === undefined || !fresh || !concerns(endpoint.host, plainHost(sender.link.host))) continue
    if (!book.learn(endpoint, { publicKey })) continue
    sender.takeAddressSlot()
    taken++
  }
  return taken
}
