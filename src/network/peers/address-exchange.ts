import type { Random } from '../../runtime/env.js'
import { concerns, endpointText, parseEndpoint, plainHost } from '../address/ip-address.js'
import { addressesAtOnce, type PeerAddress } from '../wire/addresses-message.js'
import type { AddressBook } from './address-book.js'
import type { PeerRecord, Peer } from './peer-record.js'
import { drawn } from './random-choice.js'

/** How long ago the last connection to an address may be that is told or believed, or kept for others, in milliseconds. */
export const staleAfter = 30 * 24 * 60 * 60 * 1000
/** How far ahead of the own clock such a time may be, in milliseconds. */
const clockTolerance = 60 * 60 * 1000

/** Where a peer listens; undefined where it does not. */
export function listensAt({ link, status }: Pick<Peer, 'link' | 'status'>): { host: string; port: number } | undefined {
  const host = plainHost(link.host)
  if (!link.inbound) return { host, port: link.port }
  return status.listenPort === 0 ? undefined : { host, port: status.listenPort }
}

/** What is told to a peer that asks for addresses: of those connected now and those met before, a random choice. */
export function addressesFor(
  asker: PeerRecord,
  peers: readonly PeerRecord[],
  book: AddressBook,
  now: number,
  random: Random,
): readonly PeerAddress[] {
  const found = new Map<string, PeerAddress>()
  const add = (endpoint: { host: string; port: number }, publicKey: Uint8Array, seen: number) => {
    if (!concerns(endpoint.host, plainHost(asker.link.host))) return
    const address = endpointText(endpoint)
    found.set(address, { address, publicKey, lastSeen: Math.floor(seen / 1000) })
  }
  for (const { endpoint, publicKey, seen } of book.addresses()) {
    if (endpoint !== undefined && publicKey !== undefined && seen > now - staleAfter) add(endpoint, publicKey, seen)
  }
  for (const peer of peers) {
    const endpoint = listensAt(peer)
    if (endpoint !== undefined && peer !== asker) add(endpoint, peer.link.publicKey, now)
  }
  return drawn(random, [...found.values()], addressesAtOnce)
}

/** Takes addresses that a peer told, as many new ones as it may still tell; returns how many. */
export function takeAddresses(
  teller: PeerRecord,
  addresses: readonly PeerAddress[],
  book: AddressBook,
  now: number,
): number {
  let taken = 0
  for (const { address, publicKey, lastSeen } of addresses) {
    if (teller.addressesLeft === 0) break
    const endpoint = parseEndpoint(address)
    const fresh = lastSeen * 1000 > now - staleAfter && lastSeen * 1000 < now + clockTolerance
    // Only addresses of IP: a name would make this node ask a name server on a stranger's word.
    if (endpoint === undefined || !fresh || !concerns(endpoint.host, plainHost(teller.link.host))) continue
    if (!book.learn(endpoint, { publicKey })) continue
    teller.addressesLeft--
    taken++
  }
  return taken
}
