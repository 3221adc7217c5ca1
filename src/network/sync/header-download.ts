import { lowestFork } from '../../ledger/chain/branches.js'
import { isOfFuture } from '../../ledger/consensus/context.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { isWaiting } from '../../base/runtime/wait.js'
import { type Claim, claimOf, type PeerProgresses, servesHeaders } from '../fetch/peer-progress.js'
import { PendingHeaders } from '../fetch/pending-headers.js'
import { type FailedEvent, isUnanswered, penaliseAndDrop, type SyncOptions, type SyncPeer } from '../fetch/sync-peer.js'
import { timedOut, TimeoutsClosed, type Timeouts } from '../fetch/timeouts.js'
import {
  headersAnswer,
  headersAtOnce,
  headersExchange,
  type HeaderUnit,
  headerUnitSize,
} from '../wire/headers-message.js'
import { AssumedChain, isAssumable } from './assumed-chain.js'
import { checkLinks, checkProof, extendBranch, type HeaderChecking } from './check-headers.js'

/** @tuning count: pending headers, at which no more are requested */
export const pendingHeaders = 4096
/** @tuning bytes: pending headers with all their proofs */
export const pendingBytes = 8 * 1024 * 1024
/** @limit count: headers of another branch until it has more work than the followed one */
const candidateHeaders = 2016
/**
 * A gap between two locator hashes spans at most this many answers.
 * @limit count: consecutive answers of a peer with only known headers
 */
const answersAcross = 4
/** Patience (ms) for headers; doubled for a peer that has failed before. */
const headersPatience = 5_000
/** Initial back-off (ms) after a useless answer; doubles up to the longest. */
const firstBackOff = 5_000
const longestBackOff = 60_000
/** Back-off (ms) after a header ahead of the clock. */
const backOffForTime = 60_000

/**
 * `headers`: the pending headers grew or were replaced. `arriving`: a peer shows headers that follow the own chain. `conflict`:
 * a valid confirm, perhaps for another block than the own one. `offered`: the chain of a peer contains an avoided block.
 */
export type HeaderEvent =
  | { readonly type: 'headers' | 'arriving' }
  | { readonly type: 'conflict'; readonly unit: HeaderUnit }
  | { readonly type: 'offered'; readonly peer: SyncPeer; readonly unit: HeaderUnit }
  | FailedEvent

/** Sync that owns the header download: it answers its question and takes its events. */
export interface HeaderOwner {
  emit(event: HeaderEvent): void
  /** Whether a block is avoided, so that no branch through it is followed. */
  isAvoided(hash: Hash): boolean
}

/** Finds the best chain that the peers can prove, and holds its headers until their blocks are connected. */
export class HeaderDownload {
  readonly #options: SyncOptions
  readonly #timeouts: Timeouts
  readonly #states: PeerProgresses
  readonly #owner: HeaderOwner
  readonly #checking: HeaderChecking
  #branch: PendingHeaders
  #assumed: AssumedChain | undefined
  #asked: SyncPeer | undefined
  /** The peer that last extended the branch, or that has the assumed block. */
  #giver: SyncPeer | undefined
  /** The best proved header whose time is too far ahead of the clock. */
  #ahead: { readonly header: Header; readonly work: bigint } | undefined
  /** The peer whose headers followed the own chain in this run; undefined between runs. */
  #shown: SyncPeer | undefined
  #work: Promise<void> | undefined
  /** Whether to run again because something changed during the run. */
  #again = false

  constructor(options: SyncOptions, timeouts: Timeouts, states: PeerProgresses, owner: HeaderOwner) {
    const { chain, verifier, clock } = options
    this.#options = options
    this.#timeouts = timeouts
    this.#states = states
    this.#owner = owner
    this.#checking = {
      ...{ chain, verifier, clock },
      assumed: (header) => this.#assumed?.has(header) === true,
      ahead: (header, work) => {
        if (this.aheadOfClock === undefined || work > (this.#ahead?.work ?? 0n)) this.#ahead = { header, work }
      },
    }
    this.#branch = new PendingHeaders(chain.tip)
  }

  /** Headers whose blocks are to be connected. */
  get branch(): PendingHeaders {
    return this.#branch
  }

  get checking(): HeaderChecking {
    return this.#checking
  }

  /** The peer whose headers are being fetched. */
  get asked(): SyncPeer | undefined {
    return this.#asked
  }

  /** Whether the asked peer claims more, and has sent headers in this run that follow the own chain. */
  get arriving(): boolean {
    return this.#asked !== undefined && this.#asked === this.#shown && this.isAhead(this.#asked)
  }

  /**
   * Height of a proved block with more work than the own chain that is too far ahead of the clock to be taken; undefined once the
   * chain has as much work without it, or the clock has come so far.
   */
  get aheadOfClock(): number | undefined {
    const { chain, clock } = this.#options
    if (this.#ahead === undefined || this.#ahead.work <= chain.tip.chainWork) return undefined
    const { header } = this.#ahead
    return isOfFuture(chain.spec, header, clock.now()) ? header.height : undefined
  }

  /** Looks for a peer with a better chain, unless that is under way. */
  wake(): void {
    if (this.#timeouts.closed) return
    this.#again = this.#work !== undefined
    if (this.#again) return
    this.#work = this.#run()
      .catch((error: unknown) => {
        if (!(error instanceof TimeoutsClosed)) this.#owner.emit({ type: 'failed', error })
      })
      .finally(() => {
        this.#work = undefined
        this.#asked = undefined
        this.#shown = undefined
        if (this.#timeouts.closed) return
        this.#owner.emit({ type: 'headers' })
        if (this.#again) this.wake()
      })
  }

  /** Resolves when no run is under way. */
  async idle(): Promise<void> {
    await this.#work
  }

  /** Adapts the pending headers to changes of the chain. */
  refresh(): void {
    const { chain } = this.#options
    const branch = this.#branch
    branch.advance(chain)
    if (this.#assumed !== undefined && chain.tip.header.height >= this.#assumed.height) this.#assumed = undefined
    const onTip = equalBytes(branch.base.header.hash, chain.tip.header.hash)
    const better = chain.spec.hasValidators ? onTip : branch.work > chain.tip.chainWork
    if (better || (onTip && branch.blocks.length === 0)) return
    const [other] = branch.blocks
    this.#branch = new PendingHeaders(chain.tip)
    // This node connected another block at the height of this verified confirm.
    if (other !== undefined && chain.spec.hasValidators) this.#owner.emit({ type: 'conflict', unit: other.unit })
  }

  /** Drops the pending headers at a height and above. */
  cut(height: number): void {
    this.#branch.cut(height)
    this.refresh()
  }

  /** Whether a peer claims to serve the headers that come next. */
  serves(peer: SyncPeer): boolean {
    return servesHeaders(peer, this.#branch.height + 1)
  }

  /** Whether a peer claims more than the pending headers. */
  isAhead(peer: SyncPeer): boolean {
    const { chain } = this.#options
    const state = this.#states.of(peer)
    const announced = state.announcedTip
    if (announced !== undefined && !this.#knows(announced)) return true
    const claim = claimOf(peer)
    if (state.isExplored(claim) || this.#knows(claim)) return false
    return chain.spec.hasValidators ? claim.height > this.#branch.height : peer.status.chainWork > this.#branch.work
  }

  #knows({ height, hash }: Claim): boolean {
    if (equalBytes(this.#branch.at(height)?.unit.header.hash ?? new Uint8Array(0), hash)) return true
    return this.#options.chain.headers.isSettled(hash)
  }

  async #run(): Promise<void> {
    for (let peer = this.#next(); peer !== undefined; peer = this.#next()) {
      this.#asked = peer
      try {
        if (this.#hasToAssume(peer)) await this.#assume(peer)
        else await this.#follow(peer)
      } catch (error) {
        this.#onError(peer, error)
      }
      this.refresh()
      this.#owner.emit({ type: 'headers' })
    }
  }

  /**
   * The peer to ask next: fewest failures first, then the highest claim; before that, peers that may have the assumed block. A
   * claim has no cost, so it does not make up for missing answers.
   */
  #next(): SyncPeer | undefined {
    if (this.#timeouts.closed) return undefined
    this.#again = false
    this.refresh()
    if (this.#branch.blocks.length >= pendingHeaders || this.#branch.bytes >= pendingBytes) return undefined
    const now = this.#options.clock.now()
    const states = this.#states
    const able = this.#options.peers.all().filter((peer) => {
      const state = states.of(peer)
      return (
        this.serves(peer) &&
        !state.asking &&
        !isWaiting(state.backedOffUntil, now, longestBackOff) &&
        this.isAhead(peer)
      )
    })
    const rank = (peer: SyncPeer) =>
      this.#options.chain.spec.hasValidators ? BigInt(peer.status.tipHeight) : peer.status.chainWork
    const best = (a: SyncPeer | undefined, b: SyncPeer) => (a === undefined || rank(b) > rank(a) ? b : a)
    const assuming = leastFailed(able.filter((peer) => this.#hasToAssume(peer)))
    if (assuming.length > 0) return assuming.reduce(best, undefined)
    const least = leastFailed(able)
    // Ask the source of the last headers for the next ones; the claimed heights of other peers are unproven.
    return least.find((peer) => peer === this.#giver) ?? least.reduce(best, undefined)

    function leastFailed(peers: readonly SyncPeer[]): readonly SyncPeer[] {
      const fewest = Math.min(...peers.map((peer) => states.of(peer).failures))
      return peers.filter((peer) => states.of(peer).failures === fewest)
    }
  }

  /** Requests the headers after the newest locator hash that the peer has; undefined when the answer is late or fails. */
  async #ask(peer: SyncPeer, locator: readonly Hash[]): Promise<readonly HeaderUnit[] | undefined> {
    const state = this.#states.of(peer)
    state.asking = true
    state.aheadOfClock = false
    const patience = state.failures === 0 ? headersPatience : 2 * headersPatience
    const answer = peer.ask(headersExchange, { locator, count: headersAtOnce })
    void answer.catch(() => {}).finally(() => (state.asking = false))
    try {
      const units = await this.#timeouts.within(answer, patience)
      if (units !== timedOut) return units
      peer.penalise('peer-slow', `no headers within ${patience} ms`)
    } catch (error) {
      if (!isUnanswered(error)) throw error
    }
    this.#fail(peer)
    return undefined
  }

  /** Backs off from a peer, longer with each failure. */
  #fail(peer: SyncPeer): void {
    const state = this.#states.of(peer)
    this.#backOff(peer, Math.min(longestBackOff, firstBackOff * 2 ** state.failures))
    state.failures++
  }

  #backOff(peer: SyncPeer, milliseconds: number): void {
    this.#states.of(peer).backedOffUntil = this.#options.clock.now() + milliseconds
  }

  /** Requests headers until the branch has grown, or the peer turns out to have no better chain. */
  async #follow(peer: SyncPeer): Promise<void> {
    const { chain } = this.#options
    const state = this.#states.of(peer)
    const claim = claimOf(peer)
    const work = peer.status.chainWork
    let branch = this.#branch
    let from = branch
    let more = answersAcross
    for (;;) {
      const followed = branch === this.#branch
      const locator = from.locator(chain.headers)
      const units = await this.#ask(peer, locator)
      if (units === undefined) return
      this.refresh()
      if (followed && branch !== this.#branch) return
      checkAnswer(units, locator)
      const short = isShort(units, claim.height)
      if (short) this.#fail(peer)
      const known = units.findIndex(
        ({ header }) => !branch.has(header) && !isHeld(chain.headers.get(header.hash)?.status),
      )
      const fresh = known < 0 ? [] : units.slice(known)
      // The branch may have been cut since the request.
      if (followed && (fresh[0]?.header.height ?? 0) > branch.height + 1) return
      const target = fresh[0] === undefined ? undefined : await this.#targetOf(fresh[0], branch)
      if (target === undefined) {
        const last = units.at(-1)?.header
        // Deep locator hashes are sparse: the fork point may be further up than one answer reaches.
        if (fresh.length === 0 && !short && last !== undefined && last.height < branch.height && more > 0) {
          more--
          const held = chain.headers.get(last.hash)
          from = held === undefined ? branch.upTo(last.height) : new PendingHeaders(held)
          continue
        }
        if (fresh.length > 0) state.explored(claim)
        else this.#ended(peer, claim, branch, work, units)
        return
      }
      const open = fresh.findIndex(({ header }) => this.#owner.isAvoided(header.hash))
      await extendBranch(target, open < 0 ? fresh : fresh.slice(0, open), peer, this.#checking)
      if (open !== 0) this.#show(peer)
      if (open >= 0) {
        state.explored(claim)
        this.#owner.emit({ type: 'offered', peer, unit: fresh[open] as HeaderUnit })
      }
      if (target.work > this.#branch.work) this.#branch = target
      if (target === this.#branch) {
        this.#giver = peer
        if (!short) state.failures = 0
        return
      }
      if (open >= 0 || target.blocks.length >= candidateHeaders) {
        state.explored(claim)
        return
      }
      if (short) return
      branch = target
      from = target
    }
  }

  #show(peer: SyncPeer): void {
    this.#shown = peer
    this.#owner.emit({ type: 'arriving' })
  }

  /** The peer has no further headers: they must have proved its claim. */
  #ended(peer: SyncPeer, claim: Claim, branch: PendingHeaders, work: bigint, units: readonly HeaderUnit[]): void {
    const { chain } = this.#options
    const { hasValidators } = chain.spec
    const first = units[0]?.header.height ?? 0
    // A fork point below reorganisation depth is not followed; locator hashes are sparse there.
    const deep = !hasValidators && units.length > 0 && first - 1 < lowestFork(chain)
    const proved = this.#knows(claim) || (hasValidators ? branch.height >= claim.height : branch.work >= work)
    this.#states.of(peer).explored(claim)
    if (proved || deep) return
    penaliseAndDrop(
      peer,
      'peer-withheld',
      `it says that it has height ${claim.height}, but its headers do not lead there`,
    )
  }

  /** The branch that a new header extends; undefined when it cannot be followed. */
  async #targetOf(unit: HeaderUnit, branch: PendingHeaders): Promise<PendingHeaders | undefined> {
    const { chain } = this.#options
    const { header } = unit
    if (chain.headers.get(header.hash)?.status === 'invalid') throw new RuleError('block-invalid', header.id)
    if (equalBytes(header.previous, this.#branch.end.hash)) return this.#branch
    if (chain.spec.hasValidators) {
      await checkProof(unit, this.#checking)
      this.#owner.emit({ type: 'conflict', unit })
      return undefined
    }
    if (equalBytes(header.previous, branch.end.hash)) return branch
    const height = header.height - 1
    const below = branch.at(height)
    if (below !== undefined && equalBytes(below.unit.header.hash, header.previous)) return branch.upTo(height)
    const parent = chain.headers.get(header.previous)
    if (parent?.status === 'invalid') throw new RuleError('block-parent-invalid', `${header.id} stands on it`)
    const reachable = height >= lowestFork(chain)
    return isHeld(parent?.status) && parent !== undefined && reachable ? new PendingHeaders(parent) : undefined
  }

  #hasToAssume(peer: SyncPeer): boolean {
    const { assumeValid, chain } = this.#options
    if (assumeValid === undefined || this.#assumed !== undefined) return false
    if (!isAssumable(assumeValid, chain.tip.header.height)) return false
    return claimOf(peer).height >= assumeValid.height && !this.#states.of(peer).withoutAssumed
  }

  /** Fetches the headers up to the assumed block, keeps only their hashes, and restarts the branch when they lead to it. */
  async #assume(peer: SyncPeer): Promise<void> {
    const { assumeValid, chain, log } = this.#options
    if (assumeValid === undefined) return
    const start = new PendingHeaders(chain.tip).locator(chain.headers)
    let hashes: AssumedChain | undefined
    while (hashes === undefined || !(hashes.complete || hashes.wrong)) {
      const locator = hashes === undefined ? start : [hashes.last, ...start]
      const units = await this.#ask(peer, locator)
      if (units === undefined) return
      checkAnswer(units, locator)
      const [first] = units
      if (first === undefined) {
        penaliseAndDrop(peer, 'peer-withheld', `its headers end before height ${assumeValid.height}`)
        return
      }
      // The peer changed its branch, or stalls with short answers.
      const left = hashes !== undefined && !equalBytes(first.header.previous, hashes.last)
      if (left || isShort(units, assumeValid.height)) {
        this.#fail(peer)
        return
      }
      const below = chain.headers.get(first.header.previous)
      hashes ??= new AssumedChain(assumeValid, below?.header ?? chain.tip.header)
      hashes.add(units)
      this.#show(peer)
    }
    if (hashes.complete) {
      log.info({ height: assumeValid.height }, 'the block assumed to be valid is on the chain of the peers')
      this.#assumed = hashes
      this.#branch = new PendingHeaders(chain.tip)
      this.#giver = peer
      this.#states.of(peer).failures = 0
    } else {
      log.warn(
        { peer: peer.name, height: assumeValid.height },
        'the chain of a peer has another block at the height of the assumed one',
      )
      this.#states.of(peer).withoutAssumed = true
    }
  }

  #onError(peer: SyncPeer, error: unknown): void {
    if (!(error instanceof RuleError)) throw error
    if (error.code === 'block-time-future') {
      this.#states.of(peer).aheadOfClock = true
      this.#backOff(peer, backOffForTime)
    } else penaliseAndDrop(peer, error.code, `its headers are refused: ${error.message}`)
  }
}

/** Throws `peer-headers` unless the headers follow the locator and each other. */
function checkAnswer(units: readonly HeaderUnit[], locator: readonly Hash[]): void {
  const [first] = units
  if (first === undefined) return
  if (!locator.some((hash) => equalBytes(hash, first.header.previous))) {
    throw new RuleError('peer-headers', `${first.header.id} follows no header that was named`)
  }
  checkLinks(units)
}

/** Whether an answer ends too early: below the claimed height, and with room for more. */
function isShort(units: readonly HeaderUnit[], height: number): boolean {
  const last = units.at(-1)
  if (last === undefined || units.length >= headersAtOnce || last.header.height >= height) return false
  return units.reduce((sum, unit) => sum + headerUnitSize(unit), 0) < headersAnswer / 2
}

/** Whether the chain has the block of a header. */
function isHeld(status: string | undefined): boolean {
  return status === 'active' || status === 'side'
}
