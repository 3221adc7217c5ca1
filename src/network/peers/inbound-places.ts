import { groupOf, plainHost, reachOf, siteOf } from '../address/ip-address.js'
import { deliveries, type Delivery } from './merits.js'

/** Inbound connections of one host, or one /64 of IPv6, unless an option says otherwise; see {@link hostBound}. */
export const inboundPerHost = 8
/** Inbound peers that are safe for each reason, at most, and the share of all places that is safe for one. */
const safeForReason = 4
const safeShare = 8

/** Milliseconds after which a connection in its handshake gives way to another where there are too many. */
const slowHandshake = 2_000

/** An inbound peer as it is compared with others. */
export interface Occupant {
  readonly host: string
  /** When it came, in milliseconds. */
  readonly since: number
  /** Whether the owner named it. */
  readonly named: boolean
  /** When it last was the first to bring something, in milliseconds; -Infinity for never. */
  readonly delivered: Readonly<Record<Delivery, number>>
}

/**
 * Connections that one host may open. This machine, whose programs all have one address, may take half of all places: a
 * node behind a local proxy keeps the other half.
 */
export function hostBound(host: string, inbound: number, perHost: number): number {
  return reachOf(plainHost(host)) === 'machine' ? Math.max(perHost, Math.ceil(inbound / 2)) : perHost
}

/**
 * Who has to go when all `inbound` places are taken and `newcomer` asks for one: the youngest of the largest site in the
 * largest address group, which may be the newcomer itself. Safe are those that the owner named, the newcomer too unless all
 * others are safe, and a few that came first or lately delivered first, one of a site for each reason: so few hosts cannot be
 * all of the safe ones, nor hold all other places.
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
 * Of connections in their handshake, the oldest first, the one that gives way to a connection of `host`: of the site with most
 * of them, or else one that takes long. A silent connection keeps no peer out. Undefined where none leaves.
 */
export function givingWay<T extends Pick<Occupant, 'host' | 'since'>>(
  waiting: readonly T[],
  host: string,
  now: number,
): T | undefined {
  const countOf = (site: string) => waiting.filter((one) => siteOf(one.host) === site).length
  const most = Math.max(0, ...waiting.map((one) => countOf(siteOf(one.host))))
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

/** Of `open`, those that share the key which most of `all` have; of equal ones, the key of the youngest. */
function ofLargest<T extends Aged>(all: readonly T[], open: readonly T[], keyOf: (one: T) => string): readonly T[] {
  const sizes = new Map<string, number>()
  for (const one of all) sizes.set(keyOf(one), (sizes.get(keyOf(one)) ?? 0) + 1)
  const sizeOf = (one: T) => sizes.get(keyOf(one)) ?? 0
  const most = Math.max(...open.map(sizeOf))
  const key = keyOf(youngest(open.filter((one) => sizeOf(one) === most)))
  return open.filter((one) => keyOf(one) === key)
}

type Aged = Pick<Occupant, 'since'>

/** Of those that came at the same time the last one. */
function youngest<T extends Aged>(some: readonly T[]): T {
  return some.reduce((found, one) => (one.since >= found.since ? one : found))
}
