import { checkClock, checkHeaderContext } from '../../consensus/context.js'
import { RuleError } from '../../errors.js'
import { equalBytes, mapKey } from '../../primitives/bytes.js'
import { workOf } from '../../primitives/compact.js'
import { blocksExchange } from '../wire/blocks.js'
import type { HeaderUnit } from '../wire/headers.js'

import { matchBody } from './matcher.js'
import { checkProof, type HeaderChecking } from './check.js'
import { isUnanswered, type SyncOptions, type SyncPeer } from './parts.js'
import { type PeerStates, serves } from './peer-states.js'
import { late, type Waits } from './waits.js'

/** New tips that are looked at, at once. */
export const announcementsAtOnce = 64
/** Milliseconds that a peer is given for the block of a new tip, and peers that are asked for it. */
const bodyPatience = 5_000
const bodySources = 4

/** What a new tip means to the rest of the sync. */
export interface AnnouncementOwner {
  /** There is a chain of this height; its blocks are not here. */
  proved(height: number): void
  /** A valid confirm for a height where the own chain has another block. */
  conflict(unit: HeaderUnit): void
  /** A peer may have more than the branch. */
  wake(): void
}

/** Takes new tips as they are told: the block on top of the own tip is fetched and connected at once. */
export class Announcements {
  readonly #options: SyncOptions
  readonly #waits: Waits
  readonly #states: PeerStates
  readonly #checking: HeaderChecking
  readonly #owner: AnnouncementOwner
  readonly #running = new Map<string, Promise<void>>()

  constructor(
    options: SyncOptions,
    waits: Waits,
    states: PeerStates,
    checking: HeaderChecking,
    owner: AnnouncementOwner,
  ) {
    this.#options = options
    this.#waits = waits
    this.#states = states
    this.#checking = checking
    this.#owner = owner
  }

  /**
   * A tip that a peer told. Resolves when the block is connected or was known, or when the sync goes after it; rejects with a
   * RuleError when it is refused.
   */
  take(peer: SyncPeer, unit: HeaderUnit): Promise<void> {
    const id = mapKey(unit.header.hash)
    const running = this.#running.get(id)
    if (running !== undefined) return running
    if (this.#running.size >= announcementsAtOnce) {
      return Promise.reject(new RuleError('busy', `${announcementsAtOnce} new tips are being looked at`))
    }
    const work = this.#take(peer, unit).finally(() => this.#running.delete(id))
    this.#running.set(id, work)
    return work
  }

  async #take(peer: SyncPeer, unit: HeaderUnit): Promise<void> {
    const { chain } = this.#options
    const { header } = unit
    const known = chain.headers.get(header.hash)
    if (known?.status === 'invalid') throw new RuleError('block-invalid')
    if (known !== undefined) return
    if (equalBytes(header.previous, chain.tip.header.hash)) await this.#onTip(peer, unit)
    else if (chain.spec.hasValidators) await this.#confirmedElsewhere(peer, unit)
    else await this.#onBranch(peer, unit)
  }

  /** A header above the tip of a chain with validators, or one beside it. */
  async #confirmedElsewhere(peer: SyncPeer, unit: HeaderUnit): Promise<void> {
    const { chain } = this.#options
    const { height, hash } = unit.header
    await checkProof(unit, this.#checking)
    if (height <= chain.tip.header.height) {
      this.#owner.conflict(unit)
      throw new RuleError('block-stale')
    }
    this.#states.of(peer).told = { height, hash }
    this.#owner.proved(height)
    this.#owner.wake()
  }

  async #onBranch(peer: SyncPeer, unit: HeaderUnit): Promise<void> {
    const { chain } = this.#options
    const { header } = unit
    const parent = chain.headers.get(header.previous)
    if (parent?.status === 'invalid') throw new RuleError('block-parent-invalid')
    if (parent === undefined || parent.status === 'header') {
      this.#states.of(peer).told = { height: header.height, hash: header.hash }
      this.#owner.wake()
      throw new RuleError('block-parent-unknown', `parent of ${header.id}`)
    }
    await this.#check(unit)
    // Of a branch with less work nothing is fetched: its headers will be, should it get more.
    if (parent.chainWork + workOf(header.bits) > chain.tip.chainWork) await this.#fetch(peer, unit)
  }

  async #onTip(peer: SyncPeer, unit: HeaderUnit): Promise<void> {
    await this.#check(unit)
    await this.#fetch(peer, unit)
  }

  async #check(unit: HeaderUnit): Promise<void> {
    const { chain, clock } = this.#options
    const parent = chain.headers.get(unit.header.previous)
    if (parent === undefined) throw new RuleError('block-parent-unknown')
    checkHeaderContext(chain.spec, unit.header, chain.headers.ancestry(parent))
    checkClock(chain.spec, unit.header, clock.now())
    await checkProof(unit, this.#checking)
  }

  /** Gets the block from whoever told of it, or from others, and connects it. */
  async #fetch(peer: SyncPeer, unit: HeaderUnit): Promise<void> {
    const { chain, bodyAtHand } = this.#options
    const { header, confirm } = unit
    const body = bodyAtHand?.(header.hash) ?? (await this.#fromPeers(peer, unit))
    if (chain.headers.get(header.hash) !== undefined) return
    if (body === undefined) throw new RuleError('peer-withheld', `nobody hands out the block ${header.id}`)
    try {
      await chain.acceptBlock(body, confirm.length > 0 ? confirm : undefined)
    } catch (error) {
      // It came another way meanwhile, and perhaps others on top of it.
      const overtaken = error instanceof RuleError && error.code === 'block-stale'
      if (!overtaken || chain.headers.get(header.hash) === undefined) throw error
    }
  }

  async #fromPeers(teller: SyncPeer, unit: HeaderUnit): Promise<Uint8Array | undefined> {
    const { chain, peers } = this.#options
    const { hash, height } = unit.header
    const others = peers.all().filter((peer) => peer !== teller && serves(peer) && peer.status.tipHeight >= height)
    for (const peer of [teller, ...others].slice(0, bodySources)) {
      const answer = await this.#waits.within(peer.ask(blocksExchange, [hash]).catch(unanswered), bodyPatience)
      if (chain.headers.get(hash) !== undefined) return undefined
      const body = answer === late ? undefined : answer?.[0]
      if (body === undefined || body.length === 0) continue
      try {
        await matchBody(body, unit, chain)
        return body
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
        peer.penalise(error.code, `block ${unit.header.id}: ${error.message}`)
      }
    }
    return undefined
  }
}

function unanswered(error: unknown): undefined {
  if (!isUnanswered(error)) throw error
}
