/**
 * Follows the best chain of the peers: learns its headers, fetches the bodies, has the chain connect them.
 *
 *   tip on the own tip -> announced -> Announcements -> fetchTip -> chain.acceptBlock
 *   better claim       -> HeaderDownload -> PendingHeaders -> BodyDownload -> BodyChecks -> BlockWriter -> chain.acceptBlocks
 *   refused, missing   -> #refused, #missing -> penalty of the source, avoided block, headers cut
 *
 * Imports network/{fetch,wire,link,penalties}, chain, consensus, crypto, errors, primitives, runtime; used by network, node, api,
 * library, cli.
 * - No body is fetched before its header is verified: work, or the confirm of a quorum (assumed below `assumeValid`).
 * - Blocks connect in order; bodies ahead of them are bounded in bytes (32 MiB), headers in number.
 * - A silent or slow peer delays one request, not the sync: requests are hedged, the back-off doubles.
 *
 * Journey: block from a peer -> connected
 *    1. network/transport/gossip       bounds the announcement, has it answered with accept, ignore or reject
 *    2. network/peers/peer-manager     finds the listener of the topic; RuleError -> penalty
 *    3. network/wire/headers-message   bytes -> header, work, confirm, size
 *    4. network/relay/blocks-relay     ignores active blocks; relays what this message connected
 *    5. network/sync/sync              announced
 *    6. network/sync/announcements     known, on the tip, or elsewhere? Elsewhere: go on at 14
 *    7. consensus/context              height, time and bits by the ancestors
 *    8. network/sync/check-headers     proof of a header: 9, 10 and the signatures
 *    9. consensus/check-auxpow         work of the header
 *   10. consensus/check-confirm        confirm of the header: a quorum, and its signature checks
 *   11. network/fetch/fetch-tip-block  hedged requests for the body, the announcing peer first
 *   12. network/peers/peer-record      request by the link; faults of the answer -> penalty
 *   13. network/transport/request-client   frame out, answer within time and size; then go on at 19
 *  behind by more:
 *   14. network/sync/header-download   locator -> headers of the best claim, checked as in 7 to 10
 *   15. network/fetch/pending-headers  the verified headers without blocks
 *   16. network/fetch/body-download    bodies, lowest first, from several peers at once
 *   17. network/sync/body-checks       body check of each, before the writer
 *   18. network/sync/block-writer      runs of blocks -> acceptBlocks
 *  both:
 *   19. chain/match-body               does the body belong to the header? (called by 11 and 17)
 *   20. chain/chain                    one job of the writer
 *   21. chain/block-run                place, work, confirm; a run of blocks on one overlay
 *   22. consensus/sanity               rules of the bytes
 *   23. chain/connect-block            loads the coins, connects in slices
 *   24. consensus/connect              BlockConnector: coins, fees, DIDs -> signature checks
 *   25. crypto/verifier                RunningChecks: verifies meanwhile
 *   26. storage/stored-state           rows of coins, DIDs, transactions
 *   27. chain/block-records            header row with chain work
 *   28. chain/reorganise               row of the tip
 *   29. storage/database               one batch, synced -> tip, indexers, announcement by 4
 */
import { EventEmitter } from 'node:events'
import { type RuleError } from '../../errors/rule-error.js'
import { mapKey } from '../../primitives/bytes.js'
import { defined } from '../../primitives/defined.js'
import type { Header } from '../../primitives/header.js'
import { bodyBytes, BodyDownload } from '../fetch/body-download.js'
import { fetchBlock } from '../fetch/fetch-block.js'
import { PeerProgresses, serves } from '../fetch/peer-progress.js'
import type { PendingBlock } from '../fetch/pending-block.js'
import type { PendingHeaders } from '../fetch/pending-headers.js'
import { peerFault, penaliseAndDrop, type SyncOptions, type SyncPeer } from '../fetch/sync-peer.js'
import { timedOut, Timeouts, TimeoutsClosed } from '../fetch/timeouts.js'
import { penaltyOf } from '../penalties.js'
import { blocksExchange } from '../wire/blocks-message.js'
import type { HeaderUnit } from '../wire/headers-message.js'
import { Announcements } from './announcements.js'
import { BlockWriter } from './block-writer.js'
import { BodyChecks } from './body-checks.js'
import { HeaderDownload } from './header-download.js'
import { Rate, type SyncProgress } from './sync-progress.js'

export type { SyncOptions, SyncPeer, SyncPeers } from '../fetch/sync-peer.js'
export type { SyncProgress } from './sync-progress.js'

/** Interval (ms) of retries and progress events. */
const tick = 1_000
/** Ticks per log line. */
const ticksPerLine = 10
/** How long (ms) a block is avoided that no peer delivers, or that is refused. */
const avoidFor = 300_000
/** Avoided blocks remembered. */
const mostAvoided = 256
/** Delay (ms) before all peers are asked again for a confirmed block that none delivered. */
const askAgain = 10_000
/** Time (ms) that a single new block may take before the node counts as catching up. */
const graceForOne = 2_000

/** An avoided block. */
interface AvoidedBlock {
  /** Milliseconds of the clock. */
  readonly until: number
  /** For a block that no peer delivered: peers asked since for its body. */
  readonly asked?: WeakSet<SyncPeer>
}

/** Syncs the chain with the best chain of the peers. */
export class Sync {
  readonly events = new EventEmitter<{ progress: [SyncProgress] }>()
  readonly #options: SyncOptions
  readonly #timeouts: Timeouts
  readonly #states = new PeerProgresses()
  readonly #headers: HeaderDownload
  readonly #bodies: BodyDownload
  readonly #bodyChecks: BodyChecks
  readonly #writer: BlockWriter
  readonly #announcements: Announcements
  readonly #rate = new Rate()
  readonly #avoided = new Map<string, AvoidedBlock>()
  #provedHeight = 0
  #behindSince: number | undefined
  #askAgainAt: number | undefined
  #cancelTick: (() => void) | undefined
  #cancelLook: (() => void) | undefined
  #ticks = 0
  readonly #wake = () => this.#wakeAll()
  readonly #follow = () => {
    this.#headers.refresh()
    this.#wakeAll()
  }

  constructor(options: SyncOptions) {
    this.#options = options
    this.#timeouts = new Timeouts(options.timers)
    const branch = () => this.#headers.branch
    const owner = {
      get branch(): PendingHeaders {
        return branch()
      },
      changed: () => this.#changed(),
      arrived: () => this.#bodyChecks.wake(),
      matched: () => this.#writer.wake(),
      unmatched: () => this.#bodies.fill(),
      wrote: () => this.#follow(),
      missing: (block: PendingBlock) => this.#missing(block),
      refused: (block: PendingBlock, error: RuleError) => this.#refused(block, error),
      isUnavailable: (hash: Uint8Array) => (this.#avoided.get(mapKey(hash))?.until ?? 0) > options.clock.now(),
      offered: (peer: SyncPeer, unit: HeaderUnit) => void this.#offered(peer, unit),
      conflict: (unit: HeaderUnit) => this.#headers.conflict(unit),
      contradicted: (header: Header, peer: SyncPeer, error: RuleError) => this.#contradicted(header, peer, error),
      wake: this.#wake,
      failed: (error: unknown) => this.#failed(error),
    }
    this.#headers = new HeaderDownload(options, this.#timeouts, this.#states, owner)
    this.#bodies = new BodyDownload(options, this.#states, owner)
    this.#bodyChecks = new BodyChecks(options.chain, owner)
    this.#writer = new BlockWriter(options.chain, options.clock, owner)
    this.#announcements = new Announcements(options, this.#timeouts, this.#states, this.#headers.checking, owner)
  }

  /** Starts following the peers. */
  start(): void {
    const { peers, chain } = this.#options
    for (const event of ['joined', 'left', 'status'] as const) peers.events.on(event, this.#wake)
    chain.events.on('change', this.#follow)
    this.#follow()
  }

  /** Resolves when nothing is under way; the batch being connected is finished. */
  async close(): Promise<void> {
    const { peers, chain } = this.#options
    for (const event of ['joined', 'left', 'status'] as const) peers.events.off(event, this.#wake)
    chain.events.off('change', this.#follow)
    this.#cancelTick?.()
    this.#cancelLook?.()
    this.#timeouts.close()
    this.#bodies.close()
    this.#bodyChecks.close()
    await Promise.all([this.#headers.idle(), this.#writer.close()])
  }

  /**
   * Takes a tip announced by a peer. A block on the own tip is fetched and connected at once; a higher one starts the sync.
   * Resolves when that is done or the block is known, with whether this message brought the block. Rejects with a RuleError
   * when it is refused.
   */
  announced(peer: SyncPeer, unit: HeaderUnit): Promise<boolean> {
    return this.#announcements.take(peer, unit)
  }

  /**
   * Whether a peer has proved a chain that is not connected, or is proving one with headers that follow the own chain. A single
   * new block counts only when it takes long.
   */
  get catchingUp(): boolean {
    return this.#catchingUp()
  }

  progress(): SyncProgress {
    const height = this.#options.chain.tip.header.height
    const { branch, asked } = this.#headers
    const target = Math.max(height, branch.height, this.#proved(), asked?.status.tipHeight ?? 0)
    const rate = this.#rate.perSecond
    const { stage, reason } = this.#stage()
    return {
      stage,
      catchingUp: this.#catchingUp(),
      height,
      target,
      rate,
      ...(rate > 0 && stage !== 'idle' ? { secondsLeft: Math.ceil((target - height) / rate) } : {}),
      ...defined({ reason }),
    }
  }

  /** Held in memory: pending headers, and bytes of bodies in memory or requested. */
  get held(): { readonly headers: number; readonly bodies: number } {
    return { headers: this.#headers.branch.blocks.length, bodies: this.#bodies.bytes }
  }

  #stage(): Pick<SyncProgress, 'stage'> & { reason?: string } {
    const { branch, asked } = this.#headers
    const able = this.#options.peers.all().filter(serves)
    if (branch.blocks.length > 0) {
      if (this.#writer.busy)
        return this.#bodies.bytes >= bodyBytes ? { stage: 'blocks', reason: 'writer busy' } : { stage: 'blocks' }
      if (this.#bodies.asked > 0)
        return { stage: 'blocks', reason: `waiting for blocks from ${peersText(this.#bodies.asked)}` }
      return { stage: 'waiting', reason: able.length === 0 ? 'no peers' : 'no peer hands out the next block' }
    }
    if (asked !== undefined) return { stage: 'headers' }
    if (able.length === 0) return { stage: this.#proved() > 0 ? 'waiting' : 'idle', reason: 'no peers' }
    if (able.some((peer) => this.#headers.isAhead(peer))) {
      return { stage: 'waiting', reason: 'the peers that have more did not answer, and are asked again' }
    }
    return { stage: 'idle', reason: 'no peer has anything better' }
  }

  /** Height of a confirmed block above the own chain that is not connected; 0 when there is none. */
  #proved(): number {
    return this.#provedHeight > this.#options.chain.tip.header.height ? this.#provedHeight : 0
  }

  #catchingUp(): boolean {
    const { chain, clock } = this.#options
    const { branch, arriving, asked } = this.#headers
    const claimed = arriving ? (asked?.status.tipHeight ?? 0) : 0
    const behind = Math.max(branch.height, this.#proved(), claimed) - chain.tip.header.height
    const better = branch.blocks.length > 0 || this.#proved() > 0 || arriving
    if (!better) this.#behindSince = undefined
    else this.#behindSince ??= clock.now()
    return better && (behind > 1 || clock.now() - (this.#behindSince ?? 0) > graceForOne)
  }

  /** Headers confirmed on top of the own chain are its future, even if a block of them cannot be connected. */
  #changed(): void {
    if (this.#options.chain.spec.hasValidators) {
      this.#provedHeight = Math.max(this.#provedHeight, this.#headers.branch.height)
    }
    this.#download()
  }

  #wakeAll(): void {
    if (this.#timeouts.closed) return
    this.#headers.wake()
    this.#download()
  }

  #download(): void {
    if (this.#timeouts.closed) return
    this.#catchingUp()
    this.#bodies.fill()
    this.#bodyChecks.wake()
    this.#writer.wake()
    if (this.#cancelTick === undefined && this.#stage().stage !== 'idle') this.#tickLater()
  }

  #tickLater(): void {
    const { timers, clock, chain } = this.#options
    this.#rate.add(clock.now(), chain.tip.header.height)
    this.#cancelTick = timers.after(tick, () => {
      this.#cancelTick = undefined
      this.#tick()
    })
  }

  /** Retries waiting work and reports progress. */
  #tick(): void {
    const { clock } = this.#options
    if (this.#askAgainAt !== undefined && this.#askAgainAt <= clock.now()) {
      this.#askAgainAt = undefined
      for (const block of this.#headers.branch.blocks) block.forgetMisses()
    }
    this.#wakeAll()
    const progress = this.progress()
    this.events.emit('progress', progress)
    if (progress.stage === 'idle') {
      this.#rate.clear()
      this.#ticks = 0
    } else if (++this.#ticks % ticksPerLine === 0) {
      this.#options.log.info({ ...progress, rate: Math.round(progress.rate) }, 'catching up')
    }
  }

  /** Without validators the branch is given up. A confirmed block exists, so all peers are asked again later. */
  #missing(block: PendingBlock): void {
    const { chain, clock, log } = this.#options
    const { header } = block.unit
    if (chain.spec.hasValidators) {
      this.#askAgainAt ??= clock.now() + askAgain
      return
    }
    log.warn(
      { block: header.id, height: header.height, peer: block.source.name },
      'no peer hands out the block of a header',
    )
    this.#avoid(header.hash, new WeakSet())
    // A peer that does not answer may be overloaded, which is penalised already.
    if (block.withheld)
      penaliseAndDrop(block.source, 'peer-withheld', `the block ${header.id} of its headers is nowhere to be had`)
    this.#cut(header.height)
    this.#headers.wake()
  }

  #refused(block: PendingBlock, error: RuleError): void {
    const { chain, log } = this.#options
    const { header } = block.unit
    this.#headers.refresh()
    // The chain moved, or its writer queue is full: the next tick retries.
    if (!this.#headers.branch.has(header) || error.code === 'busy' || error.code === 'block-stale') return
    if (chain.spec.hasValidators) this.#contradicted(header, block.source, error)
    else {
      const report = { block: header.id, height: header.height, peer: block.source.name, code: error.code }
      log.warn(report, `a block that a peer proved work for breaks a rule: ${error.message}`)
      this.#avoid(header.hash)
    }
    const { code, message } = peerFault(error, header, chain)
    if (penaltyOf(code) > 0)
      penaliseAndDrop(block.source, code, `the block ${header.id} of its headers is refused: ${message}`)
    this.#cut(header.height)
    this.#wakeAll()
  }

  /** Drops the pending headers from a height on. Chains with less work than all of them are considered again. */
  #cut(height: number): void {
    this.#headers.cut(height)
    this.#unexplore()
  }

  #unexplore(): void {
    for (const peer of this.#options.peers.all()) this.#states.of(peer).unexplored()
  }

  /** A quorum confirmed a block that this node refuses: the chain goes on without it, and no peer is penalised. */
  #contradicted({ hash, id, height }: Header, peer: SyncPeer, { code, message }: RuleError): void {
    const report = { block: id, height, peer: peer.name, code }
    this.#options.log.error(report, `a confirmed block breaks a rule of this node: ${message}`)
    this.#provedHeight = Math.max(this.#provedHeight, height)
    this.#avoid(hash)
  }

  #avoid(hash: Uint8Array, asked?: WeakSet<SyncPeer>): void {
    const until = this.#options.clock.now() + avoidFor
    this.#avoided.delete(mapKey(hash))
    this.#avoided.set(mapKey(hash), asked === undefined ? { until } : { until, asked })
    if (this.#avoided.size > mostAvoided) this.#avoided.delete(this.#avoided.keys().next().value as string)
    this.#lookLater()
  }

  /** Chains with avoided blocks are considered again when the avoidance ends. */
  #lookLater(): void {
    const { clock, timers } = this.#options
    this.#cancelLook ??= timers.after(avoidFor + tick, () => {
      this.#cancelLook = undefined
      this.#unexplore()
      this.#wakeAll()
      if ([...this.#avoided.values()].some(({ until }) => until > clock.now())) this.#lookLater()
    })
  }

  /**
   * Another peer may deliver a body that the first announcer withheld. Each peer is asked once, beside the sync, which goes on
   * without the block.
   */
  async #offered(peer: SyncPeer, unit: HeaderUnit): Promise<void> {
    const { hash } = unit.header
    const key = mapKey(hash)
    const { asked } = this.#avoided.get(key) ?? {}
    if (asked === undefined || asked.has(peer)) return
    asked.add(peer)
    try {
      const { timeout } = blocksExchange.protocol
      const { chain } = this.#options
      const wanted = { hash, unit, needed: () => chain.headers.get(hash) === undefined }
      const answer = await this.#timeouts.within(fetchBlock(peer, wanted, chain.sanity), timeout)
      if (answer === timedOut || answer.kind !== 'block') return
    } catch (error) {
      if (!(error instanceof TimeoutsClosed)) this.#failed(error)
      return
    }
    this.#avoided.delete(key)
    this.#states.of(peer).unexplored()
    this.#headers.wake()
  }

  /** An unexpected error stops the sync; the owner of the node stops the node. */
  #failed(error: unknown): void {
    const failure = error instanceof Error ? error : new Error(String(error))
    this.#options.log.error({ error: failure.message }, 'the sync cannot go on')
    this.#timeouts.close()
    this.#options.chain.events.emit('fatal', failure)
  }
}

function peersText(count: number): string {
  return count === 1 ? '1 peer' : `${count} peers`
}
