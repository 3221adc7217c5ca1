import { RuleError } from '../../errors/rule-error.js'
import type { Env } from '../../runtime/env.js'
import { groupOf, plainHost } from '../address/ip-address.js'
import { type Link, LinkError, type Transport } from '../link.js'
import type { AddressBook, KnownAddress } from './address-book.js'
import type { Bans } from './bans.js'
import type { PeerConnections } from './peer-connections.js'
import type { PeerRecord } from './peer-record.js'
import { drawn, randomBelow } from './random-choice.js'

/** Connections that the node opens to one group of addresses. */
const outboundPerGroup = 2
/** Attempts under way beside those to places that the node was told to connect to. */
const dialsAtOnce = 4
/** Attempts in a row without anybody there, after which whoever runs the node hears of it. */
const attemptsUntold = 2
/** Milliseconds that a connection has to last for its place to count as good. */
const steadyAfter = 30_000

export interface DialerOptions extends Pick<Env, 'clock' | 'random' | 'log'> {
  readonly transport: Transport
  readonly book: AddressBook
  readonly bans: Bans
  readonly connections: PeerConnections
  /** Connections to open and to keep, those that were asked for by address not counted. */
  readonly outbound: number
}

/** Opens connections: to all places that the node was told of, and to as many others as it wants, of different groups. */
export class Dialer {
  readonly #options: DialerOptions
  readonly #dials = new Map<KnownAddress, Promise<PeerRecord>>()
  /** What own connections lead to. */
  readonly #addresses = new Map<Link, KnownAddress>()
  /** Why places that the node was told to connect to cannot be reached, as the log has it: a code, or the failure of a link. */
  readonly #untold = new Map<KnownAddress, string>()
  #stopped = false

  constructor(options: DialerOptions) {
    this.#options = options
  }

  /** Begins what there is to do. */
  fill(): void {
    const { book, connections, outbound } = this.#options
    for (const place of book.addresses()) if (place.configured && this.#free(place)) this.#begin(place)
    const others = [...this.#dials.keys()].filter(({ configured }) => !configured)
    const open = connections.all().filter(({ link }) => !link.inbound && this.#addresses.get(link)?.configured !== true)
    let room = Math.min(outbound - open.length - others.length, dialsAtOnce - others.length)
    if (room <= 0) return
    const groups = new Map<string, number>()
    const count = (group: string) => groups.set(group, (groups.get(group) ?? 0) + 1)
    open.forEach(({ link }) => count(groupOf(plainHost(link.host))))
    others.forEach(({ group }) => count(group))
    for (const place of this.#inOrder()) {
      if (room === 0) break
      const { group } = place
      if (!place.local && (groups.get(group) ?? 0) >= outboundPerGroup) continue
      count(group)
      room--
      this.#begin(place)
    }
  }

  /** Connects to a place now; an attempt under way is joined. Rejects with a RuleError of a refusal, or a LinkError. */
  dial(place: KnownAddress): Promise<PeerRecord> {
    const under = this.#dials.get(place)
    if (under !== undefined) return under
    const connected =
      place.seen > 0 && place.publicKey !== undefined && this.#options.connections.ofKey(place.publicKey)
    if (connected) return Promise.resolve(connected)
    const dial = this.#dial(place).finally(() => this.#dials.delete(place))
    this.#dials.set(place, dial)
    return dial
  }

  /** The place that a peer was dialled at. */
  addressOf({ link }: PeerRecord): KnownAddress | undefined {
    return this.#addresses.get(link)
  }

  /** A peer is gone. */
  left(peer: PeerRecord): void {
    const place = this.#addresses.get(peer.link)
    if (place === undefined) return
    this.#addresses.delete(peer.link)
    const { book, clock } = this.#options
    if (Math.abs(clock.now() - peer.since) >= steadyAfter) book.stable(place)
    book.failed(place)
  }

  /** Comes back to a place no more for having been told so, and forgets it where nobody was ever met. */
  drop(place: KnownAddress): void {
    place.configured = false
    this.#untold.delete(place)
    if (place.seen === 0) this.#options.book.forget(place)
  }

  stop(): void {
    this.#stopped = true
  }

  #begin(place: KnownAddress): void {
    this.dial(place).catch((error: unknown) => {
      if (error instanceof LinkError || error instanceof RuleError) return
      this.#options.log.error({ address: place.address, error: String(error) }, 'an attempt to connect failed')
    })
  }

  async #dial(place: KnownAddress): Promise<PeerRecord> {
    const { transport, connections, book } = this.#options
    let link: Link | undefined
    try {
      link = await transport.dial(place.address)
      if (this.#stopped) throw new LinkError('closed', 'this node stops')
      const peer = connections.peerOf(link) ?? (await connections.open(link))
      book.connected(place, link.publicKey)
      this.#untold.delete(place)
      if (!link.closed) this.#addresses.set(link, place)
      return peer
    } catch (error) {
      link?.close()
      if (link !== undefined && connections.ofKey(link.publicKey) !== undefined) {
        book.connected(place, link.publicKey)
      } else if (error instanceof LinkError && error.failure === 'self') {
        const level = place.configured ? 'info' : 'debug'
        this.#options.log[level]({ address: place.address }, 'an address of this node itself is left out')
        this.drop(place)
        book.failed(place)
      } else {
        this.#tell(place, error)
        book.failed(place)
      }
      throw error
    }
  }

  /** Notes why an attempt failed: once so that it is seen where the node was told to connect, and somebody can do something. */
  #tell(place: KnownAddress, error: unknown): void {
    const { address, failures, configured } = place
    const reason = error instanceof Error ? error.message : String(error)
    const lasting = error instanceof RuleError || failures >= attemptsUntold
    const kind = error instanceof RuleError ? error.code : error instanceof LinkError ? error.failure : 'error'
    const isNews = configured && !this.#stopped && lasting && this.#untold.get(place) !== kind
    if (isNews) this.#untold.set(place, kind)
    this.#options.log[isNews ? 'warn' : 'debug']({ address, reason, failures: failures + 1 }, 'could not connect')
  }

  /** Places that may be tried, half of the time those first where a node was met before. */
  #inOrder(): readonly KnownAddress[] {
    const { book, random } = this.#options
    const places = book.addresses().filter((place) => !place.configured && this.#free(place))
    const met = places.filter(({ seen }) => seen > 0)
    const heard = places.filter(({ seen }) => seen === 0)
    const [first, then] = randomBelow(random, 2) === 0 ? [met, heard] : [heard, met]
    return [...drawn(random, first, first.length), ...drawn(random, then, then.length)]
  }

  /** Whether a place may be tried: it is time, and nobody there is connected or banned. */
  #free(place: KnownAddress): boolean {
    const { book, bans, connections } = this.#options
    if (!book.due(place) || this.#dials.has(place)) return false
    // A key that was only heard of proves nothing.
    const publicKey = place.seen > 0 ? place.publicKey : undefined
    if (publicKey !== undefined && connections.ofKey(publicKey) !== undefined) return false
    if (publicKey !== undefined && connections.isApart(publicKey)) return false
    return bans.find(publicKey, place.endpoint?.host ?? '') === undefined
  }
}
