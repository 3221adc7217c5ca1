import { equalBytes, mapKey } from '../../primitives/bytes.js'
import type { Random } from '../../runtime/env.js'
import type { Database } from '../../storage/database.js'
import { keys, rangeOf, table, values } from '../../storage/schema.js'
import { type Endpoint, endpointText, groupOf, parseEndpoint, plainHost } from '../address/ip-address.js'
import { keyOfPeerName } from '../address/peer-identity.js'
import type { PeerRows } from './peer-rows.js'
import { randomBelow } from './random-choice.js'

/** Addresses that are remembered beside those the node was told to connect to, and how many of one group. */
const mostAddresses = 2000
const addressesOfGroup = 64
/** Attempts in a row after which an address where nobody ever was is forgotten. */
const hopelessAfter = 8
/** Milliseconds until the first new attempt, and at most; nodes that were asked for are not waited for so long. */
const firstRetry = 1_000
const lastRetry = 600_000
const configuredRetry = 15_000
/** Attempts that are counted. */
const mostFailures = 255

/** Somewhere a node may be. Times are Unix milliseconds. */
export interface KnownAddress {
  /** As it is dialled: `host:port`, or what the node was told to connect to. */
  readonly address: string
  readonly endpoint: Endpoint | undefined
  /** Of addresses that probably have one owner. */
  readonly group: string
  /** Whether the node was told to connect to it: always tried again, never counted. */
  configured: boolean
  /** Whether the node is free of the limit for its group: the local network was asked for. */
  readonly local: boolean
  publicKey: Uint8Array | undefined
  /** When the node there was last connected; 0 if never, and then the key is hearsay. */
  seen: number
  failures: number
  retryAt: number
}

export interface BookOptions {
  readonly rows: PeerRows
  /** Unix milliseconds. */
  now(): number
  readonly random: Random
  /** The node's own key: its address is none to remember. */
  readonly publicKey: Uint8Array
  /** Milliseconds since the last connection after which an address may go for a new one. */
  readonly staleAfter: number
}

/** Where nodes are: what the node was told, what it heard, what it met; across restarts what has a key. */
export class AddressBook {
  readonly #rows: PeerRows
  readonly #now: () => number
  readonly #random: Random
  readonly #ownKey: Uint8Array
  readonly #staleAfter: number
  readonly #addresses = new Map<string, KnownAddress>()
  /** Keys of rows that have to be written or deleted. */
  readonly #dirty = new Set<string>()

  private constructor({ rows, now, random, publicKey, staleAfter }: BookOptions) {
    this.#staleAfter = staleAfter
    this.#rows = rows
    this.#now = now
    this.#random = random
    this.#ownKey = publicKey
  }

  /** Reads the addresses of a database. */
  static async open(database: Database, options: BookOptions): Promise<AddressBook> {
    const book = new AddressBook(options)
    for (const [key, value] of await database.rows(rangeOf(table.peer), { limit: mostAddresses })) {
      const { address, seen, failures } = values.peer.decode(value)
      const place = { ...newAddress(address), publicKey: Buffer.from(key.subarray(1)), seen, failures }
      book.#addresses.set(address, place)
    }
    return book
  }

  get size(): number {
    return this.#addresses.size
  }

  addresses(): readonly KnownAddress[] {
    return [...this.#addresses.values()]
  }

  /** Whether the node was told to connect to an address. */
  isConfigured(address: string): boolean {
    return this.#addresses.get(address)?.configured === true
  }

  /**
   * Whether the owner named a node: by its key, or where that key was met. A host alone names a node as long as no key was
   * met there.
   */
  names(publicKey: Uint8Array, host: string): boolean {
    const plain = plainHost(host)
    return this.addresses().some((place) => {
      if (!place.configured) return false
      const named = keyNamedBy(place)
      if (named !== undefined) return equalBytes(named, publicKey)
      return place.endpoint !== undefined && plainHost(place.endpoint.host) === plain
    })
  }

  /** Whether the owner named a node by its key, or where that key was met: a host alone does not do. */
  namesKey(publicKey: Uint8Array): boolean {
    return this.addresses().some((place) => {
      const named = place.configured ? keyNamedBy(place) : undefined
      return named !== undefined && equalBytes(named, publicKey)
    })
  }

  /** At how many places of a host, which is an address, the node was told to connect. */
  configuredAt(host: string): number {
    const plain = plainHost(host)
    const isThere = ({ configured, endpoint }: KnownAddress) =>
      configured && endpoint !== undefined && plainHost(endpoint.host) === plain
    return this.addresses().filter(isThere).length
  }

  /** A place that the node is to connect to from now on. */
  configure(address: string): KnownAddress {
    const place = this.#addresses.get(address) ?? newAddress(address)
    this.#addresses.set(address, place)
    place.configured = true
    place.retryAt = 0
    return place
  }

  /**
   * Takes an address that somebody told, unless it is known, its key has been met elsewhere, or the book is full of better
   * ones; tells whether it is new.
   */
  learn({ host, port }: Endpoint, options: { publicKey?: Uint8Array; local?: boolean } = {}): boolean {
    const address = endpointText({ host, port })
    const { publicKey, local = false } = options
    if (this.#addresses.has(address)) return false
    // A key that was only heard of proves nothing: whoever made an address up must not keep the true one out.
    const met = publicKey !== undefined && this.#ofKey(publicKey).some(({ seen }) => seen > 0)
    if (met || (publicKey !== undefined && equalBytes(publicKey, this.#ownKey))) return false
    const own = groupOf(host)
    const others = this.addresses().filter((place) => !place.configured)
    const ofGroup = others.filter(({ group }) => group === own)
    if (ofGroup.length >= addressesOfGroup && !this.#evict(ofGroup)) return false
    if (others.length >= mostAddresses && !this.#evict(others)) return false
    const place: KnownAddress = { ...newAddress(address), publicKey, local }
    this.#addresses.set(address, place)
    this.#touch(place)
    return true
  }

  /** The node at a place was met: this is its key. Other places where it was thought to be are forgotten. */
  connected(place: KnownAddress, publicKey: Uint8Array): void {
    this.#touch(place)
    for (const other of this.#ofKey(publicKey)) if (other !== place && !other.configured) this.forget(other)
    place.publicKey = publicKey
    place.seen = this.#now()
    place.retryAt = this.#now() + firstRetry
    this.#touch(place)
  }

  /** A connection lasted: the next attempts begin anew. */
  stable(place: KnownAddress): void {
    place.failures = 0
    place.seen = this.#now()
    this.#touch(place)
  }

  /** Nobody was met, or not for long: the next attempt waits, twice as long each time. */
  failed(place: KnownAddress): void {
    place.failures = Math.min(mostFailures, place.failures + 1)
    place.retryAt = Math.max(place.retryAt, this.#now() + retryDelay(place, this.#random))
    if (!place.configured && place.seen === 0 && place.failures >= hopelessAfter) this.forget(place)
    else this.#touch(place)
  }

  /** No attempt for the longest time there is. */
  postpone(place: KnownAddress): void {
    place.retryAt = this.#now() + lastRetry
  }

  forget(place: KnownAddress): void {
    this.#touch(place)
    this.#addresses.delete(place.address)
  }

  /** Whether it is time to try a place; a clock that was set back does not make it wait for ever. */
  due(place: KnownAddress): boolean {
    const wait = place.retryAt - this.#now()
    return wait <= 0 || wait > lastRetry
  }

  /** Writes what changed. */
  async flush(): Promise<void> {
    if (this.#dirty.size === 0) return
    const changed = [...this.#dirty]
    this.#dirty.clear()
    await this.#rows.write((overlay) => {
      for (const id of changed) {
        const publicKey = Buffer.from(id, 'latin1')
        const places = this.#ofKey(publicKey).filter(({ endpoint }) => endpoint !== undefined)
        const place = places.find(({ seen }) => seen > 0) ?? places[0]
        if (place?.endpoint === undefined) overlay.del(keys.peer(publicKey))
        else overlay.put(keys.peer(publicKey), values.peer.encode({ ...place, address: endpointText(place.endpoint) }))
      }
    })
  }

  #ofKey(publicKey: Uint8Array): KnownAddress[] {
    const [first] = publicKey
    return this.addresses().filter(
      ({ publicKey: key }) => key?.[0] === first && key !== undefined && equalBytes(key, publicKey),
    )
  }

  /** Makes room among places: the worst goes; false where all were met, and not so long ago. */
  #evict(places: readonly KnownAddress[]): boolean {
    const lost = this.#now() - this.#staleAfter
    const unmet = places.filter(({ seen, failures }) => seen === 0 || (seen < lost && failures >= hopelessAfter))
    const worst = unmet.reduce<KnownAddress | undefined>(
      (found, place) => (found === undefined || place.failures > found.failures ? place : found),
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

/** Milliseconds until a place is tried again after so many attempts in a row: doubled each time, and up to half of it less. */
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
    seen: 0,
    failures: 0,
    retryAt: 0,
  }
}

/** The key that an address names, else the one that was met there. */
function keyNamedBy({ address, publicKey: met, seen }: KnownAddress): Uint8Array | undefined {
  return keyOfPeerName(address.split('/p2p/')[1] ?? '') ?? (seen > 0 ? met : undefined)
}
