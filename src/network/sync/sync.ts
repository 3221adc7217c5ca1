/**
 * Follows the best chain of the peers: downloads its headers and bodies, has the chain connect them.
 *
 *   tip on the own tip -> announced -> Announcements -> fetchTip -> chain.acceptBlock
 *   better claim       -> HeaderDownload -> PendingHeaders -> BodyDownload -> BodyChecks -> BlockWriter -> chain.acceptBlocks
 *   events of each stage -> SyncState.step -> effects: wake a stage, penalise the source, avoid a block, cut the headers
 *
 * Imports network/{fetch,wire,link,penalties}, chain, consensus, crypto, errors, primitives, runtime; used by network, node, api,
 * library, console.
 * - No body is fetched before its header is verified: work, or the confirm of a quorum (assumed below `assumeValid`).
 * - Blocks connect in order; bodies ahead of them are bounded in bytes (8 MiB), headers in number.
 * - A silent or slow peer delays one request, not the sync: requests are hedged, the back-off doubles.
 *
 * Journey: block from a peer -> connected
 *    1. network/transport/gossip       bounds the announcement, has it answered with accept, ignore or reject
 *    2. network/peers/peer-manager     finds the listener of the topic; RuleError -> penalty
 *    3. network/wire/headers-message   bytes -> header, work, confirm, size
 *    4. network/relay/blocks-relay     ignores active blocks; relays what this message connected
 *    5. network/sync/sync              announced
 *    6. network/sync/announcements     known, on the tip, or elsewhere? Elsewhere: continue at 16
 *    7. consensus/context              height, time and bits by the ancestors
 *    8. network/sync/check-headers     proof of a header: 9, 10 and the signatures
 *    9. proofs/auxpow-proof         work of the header
 *   10. consensus/check-confirm        confirm of the header: a quorum, and its signature checks
 *   11. network/fetch/fetch-tip-block  policy: the announcing peer first, then others with this height
 *   12. network/fetch/ask-peers        asks one peer, and the next one beside an overdue one
 *   13. network/fetch/fetch-block      one request (wire/blocks-message) for one block; wrong bytes -> penalty
 *   14. network/peers/peer-record      request by the link; faults of the answer -> penalty
 *   15. network/transport/request-client   frame out, answer within time and size; then continue at 22
 *  behind by more:
 *   16. network/sync/header-download   locator -> headers of the best claim, checked as in 7 to 10
 *   17. network/fetch/pending-headers  the verified headers without blocks
 *   18. network/fetch/body-download    bodies, lowest first, from several peers at once
 *   19. network/sync/body-checks       body check of each, before the writer
 *   20. network/sync/block-writer      runs of blocks -> acceptBlocks
 *   21. network/sync/sync-state        which of 16 to 20 continues; what becomes of a refused block
 *  both:
 *   22. chain/match-body               does the body belong to the header? (called by 13 and 19)
 *   23. chain/chain                    one job of the writer
 *   24. chain/block-run                place, work, confirm; a run of blocks on one overlay
 *   25. consensus/sanity               rules of the bytes
 *   26. chain/connect-block            loads the coins, connects in slices
 *   27. consensus/connect              BlockConnector: coins, fees, DIDs -> signature checks
 *   28. crypto/verifier                RunningChecks: verifies meanwhile
 *   29. storage/stored-state           rows of coins, DIDs, transactions
 *   30. chain/block-records            header row with chain work
 *   31. chain/reorganise               row of the tip
 *   32. storage/database               one batch, synced -> tip, indexers, announcement by 4
 */
import { EventEmitter } from 'node:events'
import { defined } from '../../base/primitives/defined.js'
import type { Hash } from '../../base/primitives/hash.js'
import { bodyBytes, BodyDownload } from '../fetch/body-download.js'
import { fetchBlock } from '../fetch/fetch-block.js'
import { claimOf, PeerProgresses, serves, servesEnd, showsNothing } from '../fetch/peer-progress.js'
import { penaliseAndDrop, type SyncOptions, type SyncPeer } from '../fetch/sync-peer.js'
import { timedOut, Timeouts, TimeoutsClosed } from '../fetch/timeouts.js'
import { blocksExchange } from '../wire/blocks-message.js'
import type { HeaderUnit } from '../wire/headers-message.js'
import { Announcements } from './announcements.js'
import { BlockWriter } from './block-writer.js'
import { BodyChecks } from './body-checks.js'
import { HeaderDownload } from './header-download.js'
import { type SyncEffect, type SyncEvent, type SyncFacts, SyncState } from './sync-state.js'
import { type KnownBeyond, Rate, type SyncProgress } from './sync-progress.js'

export type { SyncOptions, SyncPeer, SyncPeers } from '../fetch/sync-peer.js'
export type { KnownBeyond, SyncProgress } from './sync-progress.js'

/** Interval (ms) of retries and progress events. */
const tick = 1_000
/** Blocks by which a peer may be behind that has shown its chain: its status may be older than its last blocks. */
const blocksBehind = 2
/** Ticks per log line. */
const ticksPerLine = 10
/** Reason of a wait for other peers: none of those that are connected says that it serves what comes next. */
const onlyEnds = 'no peer serves the next block: some say that they began with a state'

/** Syncs the chain with the best chain of the peers: stages report events, {@link SyncState} decides, its effects happen here. */
export class Sync {
  readonly events = new EventEmitter<{ progress: [SyncProgress] }>()
  readonly #options: SyncOptions
  readonly #timeouts: Timeouts
  readonly #states = new PeerProgresses()
  readonly #state: SyncState
  readonly #headers: HeaderDownload
  readonly #bodies: BodyDownload
  readonly #bodyChecks: BodyChecks
  readonly #writer: BlockWriter
  readonly #announcements: Announcements
  readonly #rate = new Rate()
  #cancelTick: (() => void) | undefined
  #cancelLook: (() => void) | undefined
  #ticks = 0
  readonly #peersChanged = () => this.#emit({ type: 'peers' })
  readonly #tipMoved = () => this.#emit({ type: 'tip' })

  constructor(options: SyncOptions) {
    const { chain, clock, timers } = options
    this.#options = options
    this.#timeouts = new Timeouts(timers)
    this.#state = new SyncState(chain)
    const emit = (event: SyncEvent) => this.#emit(event)
    const owner = { emit, isAvoided: (hash: Hash) => this.#state.isAvoided(hash, clock.now()) }
    this.#headers = new HeaderDownload(options, this.#timeouts, this.#states, owner)
    this.#bodies = new BodyDownload(options, this.#states, this.#headers, emit)
    this.#bodyChecks = new BodyChecks(chain, this.#headers, emit)
    this.#writer = new BlockWriter(chain, clock, this.#headers, emit)
    this.#announcements = new Announcements(options, this.#timeouts, this.#states, this.#headers.checking, owner)
  }

  /** Starts following the peers. */
  start(): void {
    const { peers, chain } = this.#options
    for (const event of ['joined', 'left', 'status'] as const) peers.events.on(event, this.#peersChanged)
    chain.events.on('change', this.#tipMoved)
    chain.pursue(() => this.#headers.branch)
    this.#tipMoved()
  }

  /** Resolves when nothing is under way; the batch being connected is finished. */
  async close(): Promise<void> {
    const { peers, chain } = this.#options
    for (const event of ['joined', 'left', 'status'] as const) peers.events.off(event, this.#peersChanged)
    chain.events.off('change', this.#tipMoved)
    this.#cancelTick?.()
    this.#cancelLook?.()
    this.#timeouts.close()
    this.#bodies.close()
    this.#bodyChecks.close()
    await Promise.all([this.#headers.idle(), this.#writer.close()])
    chain.pursue(undefined)
  }

  /**
   * Takes a tip announced by a peer. A block on the own tip is fetched and connected at once; a higher one starts the sync.
   * Resolves when that is done or the block is known, with whether this message brought the block. Rejects with a RuleError
   * when it is refused.
   */
  announced(peer: SyncPeer, unit: HeaderUnit): Promise<boolean> {
    return this.#announcements.take(peer, unit)
  }

  progress(): SyncProgress {
    const { height } = this.#options.chain.tip.header
    const { branch, asked } = this.#headers
    // Beside a peer that shows the tip here, what another one says is no target before it shows some of it.
    const claimed = this.#headers.arriving || !this.beyond.met ? (asked?.status.tipHeight ?? 0) : 0
    const target = Math.max(height, branch.height, this.#state.provedHeight, claimed)
    const rate = this.#rate.perSecond
    const { stage, reason } = this.#stage()
    return {
      stage,
      catchingUp: this.#state.isCatchingUp(this.#facts()),
      height,
      target,
      rate,
      ...(rate > 0 && stage !== 'idle' ? { secondsLeft: Math.ceil((target - height) / rate) } : {}),
      ...defined({ reason }),
    }
  }

  /** Peers that may be asked for what comes next. */
  get #ablePeers(): readonly SyncPeer[] {
    return this.#options.peers.all().filter((peer) => this.#headers.serves(peer))
  }

  /** Whether more than half of the peers have more blocks, which are too far ahead of the own clock to be taken. */
  get behindByClock(): boolean {
    const able = this.#ablePeers
    const ahead = able.filter((peer) => this.#headers.isAhead(peer) && this.#states.of(peer).aheadOfClock)
    return 2 * ahead.length > able.length
  }

  /** Blocks beyond the own tip that are proved, and whether peers claim more. */
  get beyond(): KnownBeyond {
    const able = this.#ablePeers
    const { asked, aheadOfClock } = this.#headers
    const lowest = this.#options.chain.tip.header.height - blocksBehind
    return {
      ...defined({ better: this.#better(), aheadOfClock }),
      asking: asked !== undefined && this.#headers.isAhead(asked),
      arriving: this.#headers.arriving,
      met: able.some((peer) => peer.isCurrent && !this.#headers.isAhead(peer) && showsChain(peer, lowest)),
      behindByClock: this.behindByClock,
    }
  }

  /** Takes what the peers have said of their chains for old: none is met until it has said it again. */
  askAnew(slept: boolean): void {
    this.#options.peers.askAnew(slept)
  }

  /** The highest proved block that is not connected: by headers that lead to it, or on a chain with validators by its confirm. */
  #better(): KnownBeyond['better'] {
    const { chain, peers, clock } = this.#options
    const { branch } = this.#headers
    const confirmed = peers.all().flatMap((peer) => {
      const announced = this.#states.of(peer).announcedTip
      const { height, confirmedAt } = announced ?? {}
      const isBeyond = height !== undefined && height > chain.tip.header.height && this.#headers.isAhead(peer)
      if (!isBeyond || confirmedAt === undefined) return []
      // A confirm names no chain, and may be of another one with these validators: it counts as one block on its way.
      return [{ height: chain.tip.header.height + 1, since: confirmedAt }]
    })
    const height = Math.max(branch.blocks.length > 0 ? branch.height : 0, this.#state.provedHeight)
    const headers = height > 0 ? [{ height, since: this.#state.lackingSince ?? clock.now() }] : []
    const known = [...headers, ...confirmed]
    if (known.length === 0) return undefined
    return {
      height: Math.max(...known.map((one) => one.height)),
      since: Math.min(...known.map((one) => one.since)),
    }
  }

  /** Held in memory: pending headers, and bytes of bodies in memory or requested. */
  get held(): { readonly headers: number; readonly bodies: number } {
    return { headers: this.#headers.branch.blocks.length, bodies: this.#bodies.bytes }
  }

  #stage(): Pick<SyncProgress, 'stage'> & { reason?: string } {
    const { branch, asked } = this.#headers
    const next = this.#options.chain.tip.header.height + 1
    const able = this.#ablePeers
    if (branch.blocks.length > 0) {
      if (this.#writer.busy)
        return this.#bodies.bytes >= bodyBytes ? { stage: 'blocks', reason: 'writer busy' } : { stage: 'blocks' }
      if (this.#bodies.asked > 0)
        return { stage: 'blocks', reason: `waiting for blocks from ${peersText(this.#bodies.asked)}` }
      const pruned = able.length > 0 && !able.some((peer) => serves(peer, next))
      if (pruned) return { stage: 'waiting', reason: 'all peers have given up the next block, since they prune' }
      return { stage: 'waiting', reason: able.length === 0 ? 'no peers' : 'no peer hands out the next block' }
    }
    if (asked !== undefined) return { stage: 'headers' }
    if (able.length === 0) {
      if (this.#options.peers.all().some(servesEnd)) return { stage: 'waiting', reason: onlyEnds }
      return { stage: this.#state.provedHeight > 0 ? 'waiting' : 'idle', reason: 'no peers' }
    }
    const better = able.filter((peer) => this.#headers.isAhead(peer))
    if (better.length === 0) return { stage: 'idle', reason: 'no peer has anything better' }
    if (better.some((peer) => this.#states.of(peer).aheadOfClock)) {
      return { stage: 'waiting', reason: 'the blocks of the peers that have more are too far ahead of the clock' }
    }
    return { stage: 'waiting', reason: 'the peers that have more did not answer, and are asked again' }
  }

  #facts(): SyncFacts {
    const { branch, arriving, asked } = this.#headers
    const claimed = arriving ? asked?.status.tipHeight : undefined
    return { now: this.#options.clock.now(), branch, arriving: claimed }
  }

  #emit(event: SyncEvent): void {
    if (changesChain(event)) this.#headers.refresh()
    if (this.#timeouts.closed && event.type !== 'failed') return
    for (const effect of this.#state.step(event, this.#facts())) this.#carryOut(effect)
  }

  #carryOut(effect: SyncEffect): void {
    const { peers, timers, log, onConflict } = this.#options
    switch (effect.type) {
      case 'ask-headers':
        return this.#headers.wake()
      case 'download':
        return this.#bodies.fill()
      case 'check':
        return this.#bodyChecks.wake()
      case 'write':
        return this.#writer.wake()
      case 'tick':
        return this.#tickLater()
      case 'look-later':
        this.#cancelLook = timers.after(effect.milliseconds, () => this.#emit({ type: 'look' }))
        return
      case 'cut':
        return this.#headers.cut(effect.height)
      case 'unexplore':
        for (const peer of effect.peer === undefined ? peers.all() : [effect.peer]) this.#states.of(peer).unexplored()
        return
      case 'forget-misses':
        for (const block of this.#headers.branch.blocks) block.forgetMisses()
        return
      case 'probe':
        void this.#probe(effect.peer, effect.unit)
        return
      case 'drop':
        return penaliseAndDrop(effect.peer, effect.code, effect.reason)
      case 'conflict':
        return onConflict?.(effect.unit.confirm, effect.unit.header)
      case 'report':
        return log[effect.level](effect.report, effect.text)
      case 'fatal':
        return this.#stop(effect.error)
    }
  }

  #tickLater(): void {
    if (this.#cancelTick !== undefined || this.#stage().stage === 'idle') return
    const { timers, clock, chain } = this.#options
    this.#rate.add(clock.now(), chain.tip.header.height)
    this.#cancelTick = timers.after(tick, () => {
      this.#cancelTick = undefined
      this.#emit({ type: 'tick' })
      this.#report()
    })
  }

  #report(): void {
    const progress = this.progress()
    this.events.emit('progress', progress)
    if (progress.stage === 'idle') {
      this.#rate.clear()
      this.#ticks = 0
    } else if (++this.#ticks % ticksPerLine === 0) {
      this.#options.log.info({ ...progress, rate: Math.round(progress.rate) }, 'catching up')
    }
  }

  /** Requests the body of an avoided block from one peer. */
  async #probe(peer: SyncPeer, unit: HeaderUnit): Promise<void> {
    const { chain } = this.#options
    const { hash } = unit.header
    const wanted = { hash, unit, needed: () => !chain.headers.isSettled(hash) }
    try {
      const answer = await this.#timeouts.within(
        fetchBlock(peer, wanted, chain.sanity),
        blocksExchange.protocol.timeout,
      )
      if (answer !== timedOut && answer.kind === 'block') this.#emit({ type: 'delivered', peer, hash })
    } catch (error) {
      if (!(error instanceof TimeoutsClosed)) this.#emit({ type: 'failed', error })
    }
  }

  /** An unexpected error stops the sync; the owner of the node stops the node. */
  #stop(error: unknown): void {
    const failure = error instanceof Error ? error : new Error(String(error))
    this.#options.log.error({ error: failure.message }, 'the sync cannot go on')
    this.#timeouts.close()
    this.#options.chain.events.emit('fatal', failure)
  }
}

/** Whether the pending headers have to be adapted to a change of the chain first. */
function changesChain({ type }: SyncEvent): boolean {
  return type === 'tip' || type === 'written' || type === 'refused'
}

/** Whether a peer shows the chain up to a height: one that has less shows nothing of what this node may lack. */
function showsChain(peer: SyncPeer, height: number): boolean {
  return !showsNothing(peer) && claimOf(peer).height >= height
}

function peersText(count: number): string {
  return count === 1 ? '1 peer' : `${count} peers`
}
