import { siteOf } from '../address/ip-address.js'
import { boundFirstBytes } from './patches/first-bytes.js'
import type { TransportLimits } from './transport-limits.js'

interface Incoming {
  abort(error: Error): void
  addEventListener(type: 'close', listener: () => void): void
}

/**
 * Inbound connections that have not proved a key yet. Too many of one site or in total → the oldest is dropped: honest
 * handshakes are short, and silent connections cannot block them.
 */
export class Handshakes {
  readonly #limits: TransportLimits
  /** Sites by connection, oldest first. */
  readonly #open = new Map<Incoming, string>()

  constructor(limits: TransportLimits) {
    this.#limits = limits
  }

  begin(host: string, connection: Incoming): void {
    const site = siteOf(host)
    const ofSite = [...this.#open].filter(([, other]) => other === site).map(([incoming]) => incoming)
    if (ofSite.length >= this.#limits.hostHandshakes) this.#drop(ofSite[0] as Incoming)
    const [oldest] = this.#open.keys()
    if (oldest !== undefined && this.#open.size >= this.#limits.handshakes) this.#drop(oldest)
    this.#open.set(connection, site)
    boundFirstBytes(connection, this.#limits.negotiationBytes, () => !this.#open.has(connection))
    connection.addEventListener('close', () => this.end(connection))
  }

  end(connection: Incoming): void {
    this.#open.delete(connection)
  }

  close(): void {
    for (const connection of [...this.#open.keys()]) this.#drop(connection)
  }

  #drop(connection: Incoming): void {
    this.#open.delete(connection)
    connection.abort(new Error('too many connections without a key'))
  }
}
