import { checkClock, checkHeaderContext } from '../../ledger/consensus/context.js'
import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes, mapKey } from '../../base/primitives/bytes.js'
import { workOf } from '../../base/primitives/compact.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { fetchTip } from '../fetch/fetch-tip-block.js'
import type { PeerProgresses } from '../fetch/peer-progress.js'
import { peerFault, type SyncOptions, type SyncPeer } from '../fetch/sync-peer.js'
import { TimeoutsClosed, type Timeouts } from '../fetch/timeouts.js'
import { penaltyOf } from '../penalties.js'
import type { HeaderUnit } from '../wire/headers-message.js'
import { checkProof, type HeaderChecking } from './check-headers.js'

/** @limit count: new tips examined at once */
const announcementsAtOnce = 64

/**
 * `peers`: a peer may have more than the pending headers. `conflict`: a valid confirm for a height where the own chain has
 * another block. `contradicted`: the chain refuses an announced block that a quorum confirmed.
 */
export type AnnouncementEvent =
  | { readonly type: 'peers' }
  | { readonly type: 'conflict'; readonly unit: HeaderUnit }
  | { readonly type: 'contradicted'; readonly header: Header; readonly peer: SyncPeer; readonly error: RuleError }

/** Sync that owns the announcements: it answers their question and takes their events. */
export interface AnnouncementOwner {
  emit(event: AnnouncementEvent): void
  /** Whether a block is avoided. */
  isAvoided(hash: Hash): boolean
}

/** Takes announced tips: a block on top of the own tip is fetched and connected at once. */
export class Announcements {
  readonly #options: SyncOptions
  readonly #timeouts: Timeouts
  readonly #states: PeerProgresses
  readonly #checking: HeaderChecking
  readonly #owner: AnnouncementOwner
  readonly #running = new Map<string, Promise<boolean>>()

  constructor(
    options: SyncOptions,
    timeouts: Timeouts,
    states: PeerProgresses,
    checking: HeaderChecking,
    owner: AnnouncementOwner,
  ) {
    this.#options = options
    this.#timeouts = timeouts
    this.#states = states
    this.#checking = checking
    this.#owner = owner
  }

  /**
   * Takes a tip announced by a peer. Resolves when the block is connected or known, or when the sync follows it, with whether
   * this message brought the block. Rejects with a RuleError when it is refused.
   */
  async take(peer: SyncPeer, unit: HeaderUnit): Promise<boolean> {
    const id = mapKey(unit.header.hash)
    // The hash covers neither work nor confirm: another message with the same header proves nothing about this one.
    for (let running; (running = this.#running.get(id)) !== undefined && !peer.closed;) await running.catch(() => {})
    if (peer.closed || this.#timeouts.closed) return false
    if (this.#running.size >= announcementsAtOnce) {
      throw new RuleError('busy', `${announcementsAtOnce} new tips are being looked at`)
    }
    const work = this.#take(peer, unit).finally(() => this.#running.delete(id))
    this.#running.set(id, work)
    return work
  }

  async #take(peer: SyncPeer, unit: HeaderUnit): Promise<boolean> {
    const { chain } = this.#options
    const { header } = unit
    const known = chain.headers.get(header.hash)
    if (known?.status === 'invalid') throw brokenRule('block-invalid')
    if (known !== undefined && known.status !== 'header') return false
    // Avoided with validators: refused lately. Without validators only the body was missing, which this peer may have.
    if (chain.spec.hasValidators && this.#owner.isAvoided(header.hash)) return false
    try {
      if (equalBytes(header.previous, chain.tip.header.hash)) return await this.#onTip(peer, unit)
      if (chain.spec.hasValidators) return await this.#confirmedElsewhere(peer, unit)
      return await this.#onBranch(peer, unit)
    } catch (error) {
      if (error instanceof TimeoutsClosed) return false
      throw error
    }
  }

  /** A header above the tip of a chain with validators, or a rival of an active block. */
  async #confirmedElsewhere(peer: SyncPeer, unit: HeaderUnit): Promise<boolean> {
    const { chain } = this.#options
    const { height, hash } = unit.header
    await checkProof(unit, this.#checking)
    if (chain.headers.rivalOf(unit.header) !== undefined) {
      this.#owner.emit({ type: 'conflict', unit })
      throw brokenRule('block-stale')
    }
    // Votes name no chain, and another chain may share the validators: only headers that lead here are proof.
    const state = this.#states.of(peer)
    const { announcedTip: before } = state
    const isLacking =
      before !== undefined && before.height > chain.tip.header.height && chain.headers.get(before.hash) === undefined
    const confirmedAt = (isLacking ? before.confirmedAt : undefined) ?? this.#options.clock.now()
    state.announcedTip = { height, hash, confirmedAt }
    this.#owner.emit({ type: 'peers' })
    if (height <= chain.tip.header.height) throw brokenRule('block-stale')
    return false
  }

  async #onBranch(peer: SyncPeer, unit: HeaderUnit): Promise<boolean> {
    const { chain } = this.#options
    const { header } = unit
    const parent = chain.headers.get(header.previous)
    if (parent?.status === 'invalid') throw brokenRule('block-parent-invalid')
    if (parent === undefined || parent.status === 'header') {
      this.#states.of(peer).announcedTip = { height: header.height, hash: header.hash }
      this.#owner.emit({ type: 'peers' })
      throw new RuleError('block-parent-unknown', `parent of ${header.id}`)
    }
    await this.#check(unit)
    // A branch with less work is not fetched; its headers come once it has more.
    return parent.chainWork + workOf(header.bits) > chain.tip.chainWork && this.#fetch(peer, unit)
  }

  async #onTip(peer: SyncPeer, unit: HeaderUnit): Promise<boolean> {
    await this.#check(unit)
    return this.#fetch(peer, unit)
  }

  async #check(unit: HeaderUnit): Promise<void> {
    const { chain, clock } = this.#options
    const parent = chain.headers.get(unit.header.previous)
    if (parent === undefined) throw brokenRule('block-parent-unknown')
    checkHeaderContext(chain.spec, unit.header, chain.headers.ancestry(parent))
    checkClock(chain.spec, unit.header, clock.now())
    await checkProof(unit, this.#checking)
  }

  /**
   * Fetches the block, from the announcing peer first, and connects it. False when the block came another way, and when no peer answered:
   * the sync keeps looking for it.
   */
  async #fetch(peer: SyncPeer, unit: HeaderUnit): Promise<boolean> {
    const { chain, bodyAtHand } = this.#options
    const { header, confirm } = unit
    const body = bodyAtHand?.(header.hash) ?? (await this.#request(peer, unit))
    if (chain.headers.isSettled(header.hash) || body === undefined) return false
    try {
      await chain.acceptBlock(body, confirm.length > 0 ? confirm : undefined)
      return chain.headers.get(header.hash)?.status === 'active'
    } catch (error) {
      // The block came another way, perhaps with others on top of it.
      const overtaken = error instanceof RuleError && error.code === 'block-stale'
      if (overtaken && chain.headers.isSettled(header.hash)) return false
      if (!(error instanceof RuleError)) throw error
      if (chain.spec.hasValidators && penaltyOf(error.code) > 0)
        this.#owner.emit({ type: 'contradicted', header, peer, error })
      throw peerFault(error, header, chain)
    }
  }

  /** The bytes of an announced block. Throws `peer-withheld` if no peer delivers what the announcing peer reports to lack. */
  async #request(peer: SyncPeer, unit: HeaderUnit): Promise<Uint8Array | undefined> {
    const answer = await fetchTip(peer, unit, this.#options, this.#timeouts, this.#states)
    if (answer.kind === 'block') return answer.bytes
    const needless = this.#options.chain.headers.isSettled(unit.header.hash)
    if (answer.kind !== 'withheld' || needless) return undefined
    throw new RuleError('peer-withheld', `no peer hands out the block ${unit.header.id}`)
  }
}
