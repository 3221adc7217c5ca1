import { RuleError } from '../../base/errors/rule-error.js'
import type { Env, Random } from '../../base/runtime/env.js'
import { familyOf } from '../../base/runtime/ip-family.js'
import { groupOf, plainHost } from '../address/ip-address.js'
import { type Link, LinkError, type Transport } from '../link.js'
import { recentBlocks, services, type Status } from '../wire/status-message.js'
import type { AddressBook, KnownAddress } from './address-book.js'
import type { Bans } from './bans.js'
import type { PeerConnections } from './peer-connections.js'
import type { PeerRecord } from './peer-record.js'
import { drawn, randomBelow } from './random-choice.js'

/** @tuning count: outbound connections to one address group: IPv4 /16, IPv6 /32, a local network, this machine */
const outboundPerGroup = 2
/** @tuning count: concurrent dials, those to `--peer` not counted */
const dialsAtOnce = 4
/** Consecutive failures at a configured address before the log warns. */
const attemptsUntold = 2
/** Milliseconds after which a connection counts as stable. */
const steadyAfter = 30_000

export interface DialerOptions extends Pick<Env, 'clock' | 'random' | 'log'> {
  readonly transport: Transport
  readonly book: AddressBook
  readonly bans: Bans
  readonly connections: PeerConnections
  /** Outbound connections to keep, those to configured addresses not counted. */
  readonly outbound: number
  /** Height of the own tip. */
  height(): number
}

/**
 * Dials all configured addresses, and others of different address groups up to `outbound`: peers that keep only recent blocks
 * take half of these places at most, and are dialled last while this node lacks blocks that they have given up.
 */
export class Dialer {
  readonly #options: DialerOptions
  readonly #dials = new Map<KnownAddress, Promise<PeerRecord>>()
  /** Dialled address of each outbound link. */
  readonly #addresses = new Map<Link, KnownAddress>()
  /** Failure already logged as a warning, by configured address: a code, or the failure of a link. */
  readonly #warned = new Map<KnownAddress, string>()
  #stopped = false

  constructor(options: DialerOptions) {
    this.#options = options
  }

  /** Starts the dials that are due. */
  fill(): void {
    const { book, outbound } = this.#options
    for (const known of book.addresses()) {
      if (!known.configured) continue
      if (this.#isDue(known)) this.#begin(known)
      else this.#sayBanned(known)
    }
    const others = [...this.#dials.keys()].filter(({ configured }) => !configured)
    const open = this.#chosen()
    let room = Math.min(outbound - open.length - others.length, dialsAtOnce - others.length)
    if (room <= 0) return
    const groups = new Map<string, number>()
    const count = (group: string) => groups.set(group, (groups.get(group) ?? 0) + 1)
    open.forEach(({ link }) => count(groupOf(plainHost(link.host))))
    others.forEach(({ group }) => count(group))
    // Those that are configured are being dialled already.
    const due = book.addresses().filter((known) => this.#isDue(known))
    for (const known of dialOrder(due, this.#options.random, this.#isFarBehind())) {
      if (room === 0) break
      const { group } = known
      if (!known.local && (groups.get(group) ?? 0) >= outboundPerGroup) continue
      count(group)
      room--
      this.#begin(known)
    }
  }

  /** Dials an address now, or joins a pending dial. Rejects with a RuleError for a refusal, or a LinkError. */
  dial(known: KnownAddress): Promise<PeerRecord> {
    const pending = this.#dials.get(known)
    if (pending !== undefined) return pending
    const connected =
      known.seen > 0 && known.publicKey !== undefined && this.#options.connections.ofKey(known.publicKey)
    if (connected) return Promise.resolve(connected)
    const dial = this.#dial(known).finally(() => this.#dials.delete(known))
    this.#dials.set(known, dial)
    return dial
  }

  /** Whether a dial is on its way, or one is due. */
  get isBusy(): boolean {
    return this.#dials.size > 0 || this.#options.book.addresses().some((known) => this.#isDue(known))
  }

  /** The address at which a peer was dialled. */
  addressOf({ link }: PeerRecord): KnownAddress | undefined {
    return this.#addresses.get(link)
  }

  /** Records that a peer disconnected. */
  left(peer: PeerRecord): void {
    const known = this.#addresses.get(peer.link)
    if (known === undefined) return
    this.#addresses.delete(peer.link)
    const { book, clock } = this.#options
    if (Math.abs(clock.now() - peer.since) >= steadyAfter) book.stable(known)
    book.failed(known)
  }

  /** Makes an address unconfigured; deletes it if it was never connected. */
  drop(known: KnownAddress): void {
    known.configured = false
    this.#warned.delete(known)
    if (known.seen === 0) this.#options.book.forget(known)
  }

  close(): void {
    this.#stopped = true
  }

  /** Outbound peers that were not asked for. */
  #chosen(): readonly PeerRecord[] {
    const all = this.#options.connections.all()
    return all.filter(({ link }) => !link.inbound && this.#addresses.get(link)?.configured !== true)
  }

  /** Whether it prunes and half of the places are taken by others that do: they could not bring up a node far behind. */
  #isSurplus(peer: PeerRecord): boolean {
    const pruned = this.#chosen().filter(({ status }) => prunes(status))
    return pruned.includes(peer) && pruned.length > Math.ceil(this.#options.outbound / 2)
  }

  #begin(known: KnownAddress): void {
    this.dial(known).catch((error: unknown) => {
      if (error instanceof LinkError || error instanceof RuleError) return
      this.#options.log.error({ address: known.address, error: String(error) }, 'an attempt to connect failed')
    })
  }

  async #dial(known: KnownAddress): Promise<PeerRecord> {
    const { transport, connections, book } = this.#options
    let link: Link | undefined
    try {
      link = await transport.dial(known.address)
      if (this.#stopped) throw new LinkError('closed', 'this node stops')
      const peer = connections.peerOf(link) ?? (await connections.open(link))
      book.connected(known, link.publicKey)
      known.prunes = prunes(peer.status)
      this.#warned.delete(known)
      if (!link.closed) this.#addresses.set(link, known)
      if (this.#isSurplus(peer)) {
        peer.close('enough peers that keep only recent blocks')
        book.postpone(known)
      }
      return peer
    } catch (error) {
      link?.close()
      if (link !== undefined && connections.ofKey(link.publicKey) !== undefined) {
        book.connected(known, link.publicKey)
      } else if (error instanceof LinkError && error.failure === 'self') {
        this.#meetSelf(known)
      } else {
        this.#logFailure(known, error)
        book.failed(known)
      }
      throw error
    }
  }

  /**
   * Leaves out an address at which this node itself is, or another one with a copy of its key. A configured name is looked up again: it may
   * stand for several nodes, of which this one started first.
   */
  #meetSelf(known: KnownAddress): void {
    const { log, book } = this.#options
    const { address, configured, endpoint } = known
    const isName = configured && endpoint !== undefined && familyOf(endpoint.host) === 0
    const what = 'an address is left out at which this node itself is, or another one with a copy of its peer.key'
    if (this.#warned.get(known) !== 'self') {
      // With no other it has no peers, and waits for them for ever.
      const isOnly = book.addresses().every((other) => other === known || !other.configured)
      log[configured ? (isOnly ? 'warn' : 'info') : 'debug'](
        { address },
        isName ? `${what}, until its name stands for others` : what,
      )
    }
    if (isName) this.#warned.set(known, 'self')
    else this.drop(known)
    book.failed(known)
  }

  /** Logs a failed dial; at warn level once per kind of lasting failure of a configured address. */
  #logFailure(known: KnownAddress, error: unknown): void {
    const { address, failures, configured } = known
    const reason = error instanceof Error ? error.message : String(error)
    const lasting = error instanceof RuleError || failures >= attemptsUntold
    const kind = error instanceof RuleError ? error.code : error instanceof LinkError ? error.failure : 'error'
    const shouldWarn = configured && !this.#stopped && lasting && this.#warned.get(known) !== kind
    if (shouldWarn) this.#warned.set(known, kind)
    this.#options.log[shouldWarn ? 'warn' : 'debug']({ address, reason, failures: failures + 1 }, 'could not connect')
  }

  /** Says once that a configured address is not dialled for its ban. */
  #sayBanned(known: KnownAddress): void {
    if (!this.#isBanned(known)) return
    if (this.#warned.get(known) === 'banned') return
    this.#warned.set(known, 'banned')
    this.#options.log.warn({ address: known.address, reason: 'it is banned' }, 'could not connect')
  }

  #isBanned(known: KnownAddress): boolean {
    return this.#options.bans.find(provedKey(known), known.endpoint?.host ?? '') !== undefined
  }

  /** Whether a peer claims so much more that peers which prune lack the next block. A false claim costs an order of dials alone. */
  #isFarBehind(): boolean {
    const { connections, height } = this.#options
    const highest = connections.all().reduce((most, { status }) => Math.max(most, status.tipHeight), 0)
    return highest - height() > recentBlocks
  }

  /** Whether to dial an address: back-off over, not connected, not banned. */
  #isDue(known: KnownAddress): boolean {
    const { book, connections } = this.#options
    if (!book.due(known) || this.#dials.has(known)) return false
    const publicKey = provedKey(known)
    if (publicKey !== undefined && connections.ofKey(publicKey) !== undefined) return false
    if (publicKey !== undefined && connections.isApart(publicKey)) return false
    return !this.#isBanned(known)
  }
}

/** Whether a node keeps only recent blocks. */
function prunes({ services: offered }: Status): boolean {
  return (offered & services.wholeChain) === 0
}

/**
 * Addresses in the order of dialling: at random; with probability 1/2 those connected before come first. `wholeFirst`: those of
 * nodes that prune, as far as known, come after all others.
 */
export function dialOrder(
  addresses: readonly KnownAddress[],
  random: Random,
  wholeFirst: boolean,
): readonly KnownAddress[] {
  const proven = addresses.filter(({ seen }) => seen > 0)
  const unproven = addresses.filter(({ seen }) => seen === 0)
  const [first, then] = randomBelow(random, 2) === 0 ? [proven, unproven] : [unproven, proven]
  const order = [...drawn(random, first, first.length), ...drawn(random, then, then.length)]
  if (!wholeFirst) return order
  return [...order.filter((known) => !known.prunes), ...order.filter((known) => known.prunes)]
}

/** The key of a node that was connected at an address; a key without a connection is only a claim. */
function provedKey({ seen, publicKey }: KnownAddress): Uint8Array | undefined {
  return seen > 0 ? publicKey : undefined
}
