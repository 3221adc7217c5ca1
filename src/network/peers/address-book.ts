import { equalBytes, mapKey } from '../../base/primitives/bytes.js'
import type { Random } from '../../base/runtime/env.js'
import { isWaiting } from '../../base/runtime/wait.js'
import type { Database } from '../../ledger/storage/database.js'
import { tables } from '../../ledger/storage/rows/tables.js'
import { type Endpoint, endpointText, groupOf, parseEndpoint, plainHost } from '../address/ip-address.js'
import { keyOfPeerName } from '../address/peer-identity.js'
import type { PeerRows } from './peer-rows.js'
import { randomBelow } from './random-choice.js'

/** @limit count: known addresses, those of `--peer` not counted */
const mostAddresses = 2000
/** @limit count: known addresses in one address group */
const addressesOfGroup = 64
/** @tuning count: failures in a row after which an address that never worked is forgotten */
const hopelessAfter = 8
/** Back-off (ms): first, maximum, and maximum for configured addresses. */
const firstRetry = 1_000
const lastRetry = 600_000
const configuredRetry = 15_000
/** @tuning count: failures in a row that are counted of an address */
const mostFailures = 255

/** An address of a node. Times are Unix milliseconds. */
export interface KnownAddress {
  /** As dialled: `host:port`, or the configured text. */
  readonly address: string
  readonly endpoint: Endpoint | undefined
  /** Address group. */
  readonly group: string
  /** Whether it is configured: always retried, not counted against limits. */
  configured: boolean
  /** Whether it is exempt from the limit per group: found in the local network. */
  readonly local: boolean
  publicKey: Uint8Array | undefined
  /** Whether the node that was last connected there keeps only recent blocks; not kept over a restart. */
  prunes: boolean
  /** Last connection; 0: never, and then the key is only a claim of a peer. */
  seen: number
  failures: number
  retryAt: number
}

export interface BookOptions {
  readonly rows: PeerRows
  /** Unix milliseconds. */
  now(): number
  readonly random: Random
  /** The node's own key; its addresses are not kept. */
  readonly publicKey: Uint8Array
  /** Milliseconds since the last connection after which a new address may evict this one. */
  readonly staleAfter: number
}

/** Known addresses: configured, announced by peers, or connected before. Those with a key persist. */
export class AddressBook {
  readonly #rows: PeerRows
  readonly #now: () => number
  readonly #random: Random
  readonly #ownKey: Uint8Array
  readonly #staleAfter: number
  readonly #addresses = new Map<string, KnownAddress>()
  /** Public keys whose rows have to be written or deleted. */
  readonly #dirty = new Set<string>()

  private constructor({ rows, now, random, publicKey, staleAfter }: BookOptions) {
    this.#staleAfter = staleAfter
    this.#rows = rows
    this.#now = now
    this.#random = random
    this.#ownKey = publicKey
  }

  /** Loads the book from the database. */
  static async open(database: Database, options: BookOptions): Promise<AddressBook> {
    const book = new AddressBook(options)
    for (const [key, value] of await database.rows(tables.peer.range(), { limit: mostAddresses })) {
      const { address, seen, failures } = tables.peer.decode(value)
      const known = { ...newAddress(address), publicKey: Buffer.from(key.subarray(1)), seen, failures }
      book.#addresses.set(address, known)
    }
    return book
  }

  get size(): number {
    return this.#addresses.size
  }

  addresses(): readonly KnownAddress[] {
    return [...this.#addresses.values()]
  }

  /** Whether this node was connected to one of them, in this run or an earlier one. */
  get hasMet(): boolean {
    return this.addresses().some(({ seen }) => seen > 0)
  }

  /** Whether an address is configured. */
  isConfigured(address: string): boolean {
    return this.#addresses.get(address)?.configured === true
  }

  /**
   * Whether a node is configured: by its key, or at an address where that key was connected. A configured host matches any
   * key until one has connected there.
   */
  names(publicKey: Uint8Array, host: string): boolean {
    const plain = plainHost(host)
    return this.addresses().some((known) => {
      if (!known.configured) return false
      const named = keyNamedBy(known)
      if (named !== undefined) return equalBytes(named, publicKey)
      return known.endpoint !== undefined && plainHost(known.endpoint.host) === plain
    })
  }

  /** Whether a node is configured by its key, or at an address where that key was connected; a host alone is not enough. */
  namesKey(publicKey: Uint8Array): boolean {
    return this.addresses().some((known) => {
      const named = known.configured ? keyNamedBy(known) : undefined
      return named !== undefined && equalBytes(named, publicKey)
    })
  }

  /** Number of configured addresses at this IP address. */
  configuredAt(host: string): number {
    const plain = plainHost(host)
    const isThere = ({ configured, endpoint }: KnownAddress) =>
      configured && endpoint !== undefined && plainHost(endpoint.host) === plain
    return this.addresses().filter(isThere).length
  }

  /** Marks an address as configured and due now. */
  configure(address: string): KnownAddress {
    const known = this.#addresses.get(address) ?? newAddress(address)
    this.#addresses.set(address, known)
    known.configured = true
    known.retryAt = 0
    return known
  }

  /**
   * Adds an announced address; returns whether it was added. Not added: known addresses, keys already connected
   * elsewhere, the own key, and any address when the book is full of better ones.
   */
  learn({ host, port }: Endpoint, options: { publicKey?: Uint8Array; local?: boolean } = {}): boolean {
    const address = endpointText({ host, port })
    const { publicKey, local = false } = options
    if (this.#addresses.has(address)) return false
    // A claimed key proves nothing: a forged address must not keep the true one out.
    const isConnected = publicKey !== undefined && this.#ofKey(publicKey).some(({ seen }) => seen > 0)
    if (isConnected || (publicKey !== undefined && equalBytes(publicKey, this.#ownKey))) return false
    const group = groupOf(host)
    const others = this.addresses().filter((known) => !known.configured)
    const ofGroup = others.filter((other) => other.group === group)
    if (ofGroup.length >= addressesOfGroup && !this.#evict(ofGroup)) return false
    if (others.length >= mostAddresses && !this.#evict(others)) return false
    const known: KnownAddress = { ...newAddress(address), publicKey, local }
    this.#addresses.set(address, known)
    this.#touch(known)
    return true
  }

  /** Records a connection and its key; deletes other unconfigured addresses of that key. */
  connected(known: KnownAddress, publicKey: Uint8Array): void {
    this.#touch(known)
    for (const other of this.#ofKey(publicKey)) if (other !== known && !other.configured) this.forget(other)
    known.publicKey = publicKey
    known.seen = this.#now()
    known.retryAt = this.#now() + firstRetry
    this.#touch(known)
  }

  /** Records a connection that lasted: resets the back-off. */
  stable(known: KnownAddress): void {
    known.failures = 0
    known.seen = this.#now()
    this.#touch(known)
  }

  /** Records a failed attempt or a short connection: doubles the back-off. */
  failed(known: KnownAddress): void {
    known.failures = Math.min(mostFailures, known.failures + 1)
    // One by a clock that was set back is over.
    const postponed = this.due(known) ? 0 : known.retryAt
    known.retryAt = Math.max(postponed, this.#now() + retryDelay(known, this.#random))
    if (!known.configured && known.seen === 0 && known.failures >= hopelessAfter) this.forget(known)
    else this.#touch(known)
  }

  /** Delays the next attempt by the maximum back-off. */
  postpone(known: KnownAddress): void {
    known.retryAt = this.#now() + lastRetry
  }

  forget(known: KnownAddress): void {
    this.#touch(known)
    this.#addresses.delete(known.address)
  }

  /** Whether the back-off is over; also true if the clock was set back by more than the maximum back-off. */
  due(known: KnownAddress): boolean {
    return !isWaiting(known.retryAt, this.#now(), lastRetry)
  }

  /** Writes changed rows to the database. */
  async flush(): Promise<void> {
    if (this.#dirty.size === 0) return
    const changed = [...this.#dirty]
    this.#dirty.clear()
    await this.#rows.write((overlay) => {
      for (const id of changed) {
        const publicKey = Buffer.from(id, 'latin1')
        const addresses = this.#ofKey(publicKey).filter(({ endpoint }) => endpoint !== undefined)
        const known = addresses.find(({ seen }) => seen > 0) ?? addresses[0]
        if (known?.endpoint === undefined) overlay.del(tables.peer.key(publicKey))
        else
          overlay.put(
            tables.peer.key(publicKey),
            tables.peer.encode({ ...known, address: endpointText(known.endpoint) }),
          )
      }
    })
  }

  #ofKey(publicKey: Uint8Array): KnownAddress[] {
    return this.addresses().filter(({ publicKey: key }) => key !== undefined && equalBytes(key, publicKey))
  }

  /** Deletes the worst of these addresses; false if all were connected recently, or at random if the worst never failed. */
  #evict(addresses: readonly KnownAddress[]): boolean {
    const stale = this.#now() - this.#staleAfter
    const evictable = addresses.filter(
      ({ seen, failures }) => seen === 0 || (seen < stale && failures >= hopelessAfter),
    )
    const worst = evictable.reduce<KnownAddress | undefined>(
      (found, known) => (found === undefined || known.failures > found.failures ? known : found),
      undefined,
    )
    if (worst === undefined || (worst.failures === 0 && randomBelow(this.#random, 2) === 0)) return false
    this.forget(worst)
    return true
  }

  #touch({ publicKey }: KnownAddress): void {
    if (publicKey !== undefined) this.#dirty.add(mapKey(publicKey))
  }
}

/** Back-off (ms) after so many consecutive failures: doubles each time, minus up to half at random. */
export function retryDelay(
  { failures, configured }: Pick<KnownAddress, 'failures' | 'configured'>,
  random: Random,
): number {
  const delay = Math.min(configured ? configuredRetry : lastRetry, firstRetry * 2 ** (failures - 1))
  return delay - randomBelow(random, Math.floor(delay / 2))
}

function newAddress(address: string): KnownAddress {
  const endpoint = parseEndpoint(address)
  const group = groupOf(endpoint?.host ?? address)
  return {
    address,
    endpoint,
    group,
    configured: false,
    local: false,
    publicKey: undefined,
    prunes: false,
    seen: 0,
    failures: 0,
    retryAt: 0,
  }
}

/** The key that an address contains, else the one that was connected there. */
function keyNamedBy({ address, publicKey, seen }: KnownAddress): Uint8Array | undefined {
  return keyOfPeerName(address.split('/p2p/')[1] ?? '') ?? (seen > 0 ? publicKey : undefined)
}
