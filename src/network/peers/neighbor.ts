import { endpointText, plainHost } from '../address/ip-address.js'
import { peerName } from '../address/peer-identity.js'
import { listensAt } from './address-exchange.js'
import type { Peer } from './peer-record.js'

/** A peer as the interfaces show it. */
export interface Neighbor {
  /** Below 2^53. */
  readonly id: number
  /** Peer id: the last component of its multiaddrs. */
  readonly name: string
  readonly height: number
  readonly services: number
  readonly relay: boolean
  /** Whether the peer opened the connection. */
  readonly external: boolean
  /** `host:port` where it listens, else the remote endpoint of the connection; an IPv6 host in brackets. */
  readonly address: string
}

export function neighborOf(peer: Pick<Peer, 'id' | 'link' | 'status'>): Neighbor {
  const { id, link, status } = peer
  return {
    id,
    name: peerName(link.publicKey),
    height: status.tipHeight,
    services: status.services,
    relay: status.relay,
    external: link.inbound,
    address: endpointText(listensAt(peer) ?? { host: plainHost(link.host), port: link.port }),
  }
}
