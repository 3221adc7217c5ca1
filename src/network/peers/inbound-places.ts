import { groupOf, plainHost, reachOf, siteOf } from '../address/ip-address.js'
import { deliveries, type Delivery } from './merits.js'

/**
 * An option may say otherwise; see {@link hostBound}.
 * @limit count: inbound connections of one site, an IPv4 address or a /64 of IPv6; loopback may have half of `--inbound`
 */
export const inboundPerHost = 8
/** @tuning count: inbound peers protected for each of four reasons: first blocks, votes, transactions, and age */
const safeForReason = 4
/** @tuning count: inbound slots for each peer that is protected for one reason */
const safeShare = 8

/** @limit ms: age of a handshake from which another connection may replace it when all slots are taken */
const slowHandshake = 2_000

/** Facts that decide whether an inbound peer is evicted. */
export interface Occupant {
  readonly host: string
  /** Time of connection, in milliseconds. */
  readonly since: number
  /** Whether it is configured. */
  readonly named: boolean
  /** Time of its last first delivery, in milliseconds; -Infinity for never. */
  readonly delivered: Readonly<Record<Delivery, number>>
}

/**
 * Maximum inbound connections of one host. This machine, whose programs share one address, gets half of all slots; a node
 * behind a local proxy keeps the other half.
 */
export function hostBound(host: string, inbound: number, perHost: number): number {
  return reachOf(plainHost(host)) === 'machine' ? Math.max(perHost, Math.ceil(inbound / 2)) : perHost
}

/**
 * The peer to evict when all `inbound` slots are taken: the youngest of the largest site in the largest address group,
 * possibly `newcomer`. Protected are configured peers (a configured newcomer unless all others are protected), the oldest
 * peers, and recent first deliverers; one per site for each reason. So a few hosts cannot hold all slots.
 */
export function leaving<T extends Occupant>(occupants: readonly T[], newcomer: T, inbound: number): T {
  const safe = safeOf(occupants, inbound)
  if (newcomer.named && occupants.some((one) => !safe.has(one))) safe.add(newcomer)
  const all = [...occupants, newcomer].map((one) => ({
    one,
    since: one.since,
    group: groupOf(plainHost(one.host)),
    site: siteOf(one.host),
  }))
  const open = all.filter(({ one }) => !safe.has(one))
  const inGroup = ofLargest(all, open, ({ group }) => group)
  return youngest(ofLargest(all, inGroup, ({ site }) => site)).one
}

/**
 * The connection in its handshake to close for a connection of `host`: the first of the site with most of them, else one
 * over {@link slowHandshake}. `waiting`: oldest first. Undefined if none qualifies. So silent connections block no peer.
 */
export function givingWay<T extends Pick<Occupant, 'host' | 'since'>>(
  waiting: readonly T[],
  host: string,
  now: number,
): T | undefined {
  const countOf = (site: string) => waiting.filter((one) => siteOf(one.host) === site).length
  const most = Math.max(...waiting.map((one) => countOf(siteOf(one.host))))
  if (most > countOf(siteOf(host)) + 1) return waiting.find((one) => countOf(siteOf(one.host)) === most)
  return waiting.find(({ since }) => Math.abs(now - since) >= slowHandshake)
}

function safeOf<T extends Occupant>(occupants: readonly T[], inbound: number): Set<T> {
  const few = Math.min(safeForReason, Math.floor(inbound / safeShare))
  const safe = new Set(occupants.filter(({ named }) => named))
  const keep = (ranked: readonly T[]) => {
    const sites = new Set<string>()
    for (const one of ranked) {
      if (sites.size === few) return
      if (sites.has(siteOf(one.host))) continue
      sites.add(siteOf(one.host))
      safe.add(one)
    }
  }
  for (const kind of deliveries) {
    const delivered = occupants.filter((one) => one.delivered[kind] > -Infinity)
    keep(delivered.sort((a, b) => b.delivered[kind] - a.delivered[kind]))
  }
  keep([...occupants].sort((a, b) => a.since - b.since))
  return safe
}

/** Members of `open` with the key that is most frequent in `all`; tie → the key of the youngest. */
function ofLargest<T extends Aged>(all: readonly T[], open: readonly T[], keyOf: (one: T) => string): readonly T[] {
  const sizes = new Map<string, number>()
  for (const one of all) sizes.set(keyOf(one), (sizes.get(keyOf(one)) ?? 0) + 1)
  const sizeOf = (one: T) => sizes.get(keyOf(one)) as number
  const most = Math.max(...open.map(sizeOf))
  const key = keyOf(youngest(open.filter((one) => sizeOf(one) === most)))
  return open.filter((one) => keyOf(one) === key)
}

type Aged = Pick<Occupant, 'since'>

/** The youngest; tie → the last one. */
function youngest<T extends Aged>(some: readonly T[]): T {
  return some.reduce((found, one) => (one.since >= found.since ? one : found))
}
