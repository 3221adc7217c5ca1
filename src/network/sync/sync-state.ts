import type { Chain } from '../../ledger/chain/chain.js'
import type { Code } from '../../base/errors/error-codes.js'
import type { RuleError } from '../../base/errors/rule-error.js'
import { mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { isWaiting } from '../../base/runtime/wait.js'
import type { BodyEvent } from '../fetch/body-download.js'
import type { PendingBlock } from '../fetch/pending-block.js'
import type { PendingHeaders } from '../fetch/pending-headers.js'
import { peerFault, type SyncPeer } from '../fetch/sync-peer.js'
import { penaltyOf } from '../penalties.js'
import type { HeaderUnit } from '../wire/headers-message.js'
import type { AnnouncementEvent } from './announcements.js'
import type { WriterEvent } from './block-writer.js'
import type { BodyCheckEvent } from './body-checks.js'
import type { HeaderEvent } from './header-download.js'

/** How long (ms) a block is avoided that no peer delivers, or that is refused. */
const avoidFor = 300_000
/** @tuning count: avoided blocks */
const mostAvoided = 256
/** Delay (ms) before the chains with avoided blocks are considered again. */
const lookAgain = 301_000
/** Delay (ms) before all peers are asked again for a confirmed block that none delivered. */
const askAgain = 10_000
/** Time (ms) that a single new block may take before the node counts as catching up. */
const graceForOne = 2_000

/**
 * Inputs of the state: events of the stages, and
 * - `peers`: a peer joined, left, or has another tip; `tip`: the chain changed;
 * - `tick`, `look`: the timers of these effects;
 * - `delivered`: a probed peer delivers the body of an avoided block.
 */
export type SyncEvent =
  | HeaderEvent
  | BodyEvent
  | BodyCheckEvent
  | WriterEvent
  | AnnouncementEvent
  | { readonly type: 'peers' | 'tip' | 'tick' | 'look' }
  | { readonly type: 'delivered'; readonly peer: SyncPeer; readonly hash: Hash }

/**
 * Outputs of the state, carried out in this order:
 * - `ask-headers`, `download`, `check`, `write`: wake a stage, which does what there is to do;
 * - `tick`: an event `tick` in a second, unless idle; `look-later`: an event `look` after `milliseconds`;
 * - `cut`: drop the pending headers at a height and above;
 * - `unexplore`: consider the known claims of a peer again, of all peers if none is named;
 * - `forget-misses`: request pending blocks again from peers that did not deliver them;
 * - `probe`: request one block from a peer; a body -> event `delivered`;
 * - `drop`: penalise a peer and disconnect it;
 * - `conflict`: pass on a valid confirm that contradicts the own chain;
 * - `report`: write a log line; `fatal`: stop the node.
 */
export type SyncEffect =
  | { readonly type: 'ask-headers' | 'download' | 'check' | 'write' | 'tick' | 'forget-misses' }
  | { readonly type: 'cut'; readonly height: number }
  | { readonly type: 'look-later'; readonly milliseconds: number }
  | { readonly type: 'unexplore'; readonly peer?: SyncPeer }
  | { readonly type: 'conflict'; readonly unit: HeaderUnit }
  | { readonly type: 'probe'; readonly peer: SyncPeer; readonly unit: HeaderUnit }
  | { readonly type: 'drop'; readonly peer: SyncPeer; readonly code: Code; readonly reason: string }
  | {
      readonly type: 'report'
      readonly level: 'warn' | 'error'
      readonly report: Record<string, unknown>
      readonly text: string
    }
  | { readonly type: 'fatal'; readonly error: unknown }

/** Inputs of a decision besides events. */
export interface SyncFacts {
  /** Milliseconds of the clock. */
  readonly now: number
  /** The pending headers on top of the present chain. */
  readonly branch: PendingHeaders
  /** Height claimed by the peer whose headers arrive; undefined while none do. */
  readonly arriving: number | undefined
}

/** An avoided block. */
interface AvoidedBlock {
  /** Milliseconds of the clock. */
  readonly until: number
  /** For a block that no peer delivered: peers asked since for its body. */
  readonly asked?: WeakSet<SyncPeer>
}

const wakeAll: readonly SyncEffect[] = [
  { type: 'ask-headers' },
  { type: 'download' },
  { type: 'check' },
  { type: 'write' },
  { type: 'tick' },
]

/** Decides what the sync does next: events in, effects out. It does no I/O and sets no timer. */
export class SyncState {
  readonly #chain: Pick<Chain, 'headers' | 'spec' | 'tip'>
  readonly #avoided = new Map<string, AvoidedBlock>()
  /** Height of the highest confirmed block that peers have shown. */
  #provedHeight = 0
  /** When the chain fell behind; undefined while it is not. */
  #behindSince: number | undefined
  /** The same for one tip. */
  #lacking: { readonly tip: Chain['tip']; readonly since: number } | undefined
  #askAgainAt: number | undefined
  #looks = false

  constructor(chain: Pick<Chain, 'headers' | 'spec' | 'tip'>) {
    this.#chain = chain
  }

  step(event: SyncEvent, facts: SyncFacts): readonly SyncEffect[] {
    if (event.type === 'headers') this.#proveHeaders(facts.branch)
    if (!this.#isBehind(facts)) this.#behindSince = undefined
    else this.#behindSince ??= facts.now
    this.#noteLack(facts)
    switch (event.type) {
      case 'peers':
      case 'tip':
      case 'written':
        return wakeAll
      case 'headers':
        return wakeAll.slice(1)
      case 'arriving':
        return []
      case 'bodies':
        return [{ type: 'check' }]
      case 'checked':
        return [{ type: 'write' }]
      case 'bad-body':
        return [{ type: 'download' }]
      case 'tick':
        return [...this.#dueMisses(facts), ...wakeAll]
      case 'look':
        return this.#look(facts)
      case 'missing':
        return this.#missing(event.block, facts)
      case 'refused':
        return this.#refused(event.block, event.error, facts)
      case 'contradicted':
        return this.#contradicted(event, facts)
      case 'offered':
        return this.#offered(event.peer, event.unit)
      case 'delivered':
        this.#avoided.delete(mapKey(event.hash))
        return [{ type: 'unexplore', peer: event.peer }, { type: 'ask-headers' }]
      case 'conflict':
        return this.#conflict(event.unit)
      case 'failed':
        return [{ type: 'fatal', error: event.error }]
    }
  }

  /** Whether a block is avoided, so that no branch through it is followed. */
  isAvoided(hash: Hash, now: number): boolean {
    return isWaiting(this.#avoided.get(mapKey(hash))?.until ?? 0, now, avoidFor)
  }

  /** Height of a confirmed block above the own chain that is not connected; 0 when there is none. */
  get provedHeight(): number {
    return this.#provedHeight > this.#chain.tip.header.height ? this.#provedHeight : 0
  }

  /** Since when blocks are known that do not follow the tip here, in milliseconds of the clock; each tip begins anew. */
  get lackingSince(): number | undefined {
    return this.#lacking?.tip === this.#chain.tip ? this.#lacking.since : undefined
  }

  #noteLack(facts: SyncFacts): void {
    const { tip } = this.#chain
    if (!this.#isBehind(facts)) this.#lacking = undefined
    else if (this.#lacking?.tip !== tip) this.#lacking = { tip, since: facts.now }
  }

  /**
   * Whether a peer has proved a chain that is not connected, or is proving one with headers that follow the own chain. A single
   * new block counts only when it takes long.
   */
  isCatchingUp(facts: SyncFacts): boolean {
    if (!this.#isBehind(facts)) return false
    const missing =
      Math.max(facts.branch.height, this.provedHeight, facts.arriving ?? 0) - this.#chain.tip.header.height
    return missing > 1 || facts.now - (this.#behindSince ?? facts.now) > graceForOne
  }

  #isBehind({ branch, arriving }: SyncFacts): boolean {
    return branch.blocks.length > 0 || this.provedHeight > 0 || arriving !== undefined
  }

  /** Passes on a valid confirm for a height where the own chain has another block. */
  #conflict(unit: HeaderUnit): readonly SyncEffect[] {
    const { header } = unit
    if (this.#chain.headers.rivalOf(header) === undefined) return []
    const report = { height: header.height, block: header.id }
    const text = 'another block is confirmed at this height too'
    return [
      { type: 'report', level: 'error', report, text },
      { type: 'conflict', unit },
    ]
  }

  /** Headers confirmed on top of the own chain are its future, even if a block of them cannot be connected. */
  #proveHeaders({ height }: PendingHeaders): void {
    if (this.#chain.spec.hasValidators) this.#provedHeight = Math.max(this.#provedHeight, height)
  }

  #dueMisses({ now }: SyncFacts): readonly SyncEffect[] {
    if (this.#askAgainAt === undefined || isWaiting(this.#askAgainAt, now, askAgain)) return []
    this.#askAgainAt = undefined
    return [{ type: 'forget-misses' }]
  }

  /** Avoids the branch on a chain without validators. A confirmed block exists, so all peers are asked again later. */
  #missing({ unit: { header }, source, withheld }: PendingBlock, facts: SyncFacts): readonly SyncEffect[] {
    if (this.#chain.spec.hasValidators) {
      this.#askAgainAt ??= facts.now + askAgain
      return []
    }
    const report = { block: header.id, height: header.height, peer: source.name }
    const reason = `the block ${header.id} of its headers is nowhere to be had`
    return [
      { type: 'report', level: 'warn', report, text: 'no peer hands out the block of a header' },
      ...this.#avoid(header.hash, facts, new WeakSet()),
      // A peer that does not answer may be overloaded, which is penalised already.
      ...(withheld ? [{ type: 'drop', peer: source, code: 'peer-withheld', reason } as const] : []),
      ...cut(header.height),
      { type: 'ask-headers' },
    ]
  }

  #refused({ unit: { header }, source }: PendingBlock, error: RuleError, facts: SyncFacts): readonly SyncEffect[] {
    // The chain moved, or its writer queue is full: the next tick retries.
    if (!facts.branch.has(header) || error.code === 'busy' || error.code === 'block-stale') return []
    // Blocks below it gave way to others in the store: their headers are asked for anew.
    if (error.code === 'block-parent-unknown') return [...cut(header.height), ...wakeAll]
    const { code, message } = peerFault(error, header, this.#chain)
    const reason = `the block ${header.id} of its headers is refused: ${message}`
    return [
      ...(this.#chain.spec.hasValidators
        ? this.#contradicted({ header, peer: source, error }, facts)
        : this.#invalid(header, source, error, facts)),
      ...(penaltyOf(code) > 0 ? [{ type: 'drop', peer: source, code, reason } as const] : []),
      ...cut(header.height),
      ...wakeAll,
    ]
  }

  #invalid({ hash, id, height }: Header, peer: SyncPeer, error: RuleError, facts: SyncFacts): readonly SyncEffect[] {
    const report = { block: id, height, peer: peer.name, code: error.code }
    const text = `a block that a peer proved work for breaks a rule: ${error.message}`
    return [{ type: 'report', level: 'warn', report, text }, ...this.#avoid(hash, facts)]
  }

  /** A quorum confirmed a block that this node refuses: the chain continues without it, and no peer is penalised. */
  #contradicted(
    { header, peer, error }: { readonly header: Header; readonly peer: SyncPeer; readonly error: RuleError },
    facts: SyncFacts,
  ): readonly SyncEffect[] {
    const { hash, id, height } = header
    const report = { block: id, height, peer: peer.name, code: error.code }
    const text = `a confirmed block breaks a rule of this node: ${error.message}`
    this.#provedHeight = Math.max(this.#provedHeight, height)
    return [{ type: 'report', level: 'error', report, text }, ...this.#avoid(hash, facts)]
  }

  #avoid(hash: Hash, { now }: SyncFacts, asked?: WeakSet<SyncPeer>): readonly SyncEffect[] {
    const key = mapKey(hash)
    const until = now + avoidFor
    this.#avoided.delete(key)
    this.#avoided.set(key, asked === undefined ? { until } : { until, asked })
    if (this.#avoided.size > mostAvoided) this.#avoided.delete(this.#avoided.keys().next().value as string)
    return this.#lookLater()
  }

  #lookLater(): readonly SyncEffect[] {
    if (this.#looks) return []
    this.#looks = true
    return [{ type: 'look-later', milliseconds: lookAgain }]
  }

  /** Chains with avoided blocks are considered again when the avoidance ends. */
  #look({ now }: SyncFacts): readonly SyncEffect[] {
    this.#looks = false
    const more = [...this.#avoided.values()].some(({ until }) => isWaiting(until, now, avoidFor))
    return [{ type: 'unexplore' }, ...wakeAll, ...(more ? this.#lookLater() : [])]
  }

  /**
   * Probes another peer that may deliver a body which the first announcer withheld. Each peer is asked once, beside the sync, which
   * continues without the block.
   */
  #offered(peer: SyncPeer, unit: HeaderUnit): readonly SyncEffect[] {
    const { asked } = this.#avoided.get(mapKey(unit.header.hash)) ?? {}
    if (asked === undefined || asked.has(peer)) return []
    asked.add(peer)
    return [{ type: 'probe', peer, unit }]
  }
}

/** Drops pending headers. Chains with less work than all of them are considered again. */
function cut(height: number): readonly SyncEffect[] {
  return [{ type: 'cut', height }, { type: 'unexplore' }]
}
