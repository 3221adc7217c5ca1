import type { Chain } from '../../ledger/chain/chain.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { PoolEntry } from '../../ledger/mempool/pool-entry.js'
import type { Mempool } from '../../ledger/mempool/mempool.js'
import { type Orphan, Orphans } from '../../ledger/mempool/orphans.js'
import { policyOf } from '../../ledger/mempool/types/all-policies.js'
import { asBuffer, mapKey } from '../../base/primitives/bytes.js'
import { type Hash, sha256d } from '../../base/primitives/hash.js'
import { Transaction } from '../../base/primitives/transaction.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import type { Env } from '../../base/runtime/env.js'
import { LruMap } from '../../base/runtime/lru-map.js'
import { tables } from '../../ledger/storage/rows/tables.js'
import { TransactionFetcher, type AnnouncedTx } from '../fetch/transaction-fetcher.js'
import type { GossipResult } from '../link.js'
import type { Peer } from '../peers/peer-record.js'
import { poolExchange } from '../wire/pool-message.js'
import { announcedAtOnce, type TransactionName, transactionTopic } from '../wire/transactions-message.js'
import { mayBecomeValid } from './may-become-valid.js'
import type { RelayPeers, RelaySync } from './relay-views.js'

/** Interval (ms) between announcements, in which accepted transactions are batched. */
const announceInterval = 20
/** @tuning count: refused transactions kept by digest until the next block */
const refusedEntries = 20_000
/** @tuning count: transactions of an answer verified at a time */
const acceptedAtOnce = 32
/** Interval (ms) between pool requests, one peer each time: announcements may get lost. */
const poolInterval = 60_000
/** @tuning count: pools requested at a time, those of late peers not counted */
const poolsAtOnce = 2
/** @limit count: pools requested at a time, those of late peers too: each list takes up to 4 MiB */
const poolsAwaited = 10
/** Patience (ms) with the list of a pool before another pool is requested as well. */
const poolPatience = 2_000
/** Time (ms) for queueing the names of one pool before the next pool. */
const poolBudget = 10_000

export interface TransactionRelayOptions extends Env {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly peers: RelayPeers
  readonly sync: Pick<RelaySync, 'events' | 'progress'>
}

/**
 * Exchanges transactions between pools. Accepted ones are announced to all peers; announced ones that the pool lacks are
 * fetched. Nothing is fetched while the chain catches up.
 */
export class TransactionRelay {
  readonly #options: TransactionRelayOptions
  readonly #fetcher: TransactionFetcher
  readonly #orphans: Orphans
  #refused = new LruMap<true>(refusedEntries)
  #announcing: TransactionName[] = []
  /** Set for {@link announceInterval} after an announcement. */
  #cancelAnnouncement: (() => void) | undefined
  /** Peers whose pools are to be requested. */
  readonly #poolsDue = new Set<Peer>()
  /** Peers whose pools are being requested; false: its list is late, and others do not wait for it. */
  readonly #poolsAsked = new Map<Peer, boolean>()
  #cancelPools: (() => void) | undefined
  #caughtUp: boolean
  #stopped = false
  #received = 0
  /** Settles when the orphans due for a retry were tried. */
  #retried: Promise<void> = Promise.resolve()

  constructor(options: TransactionRelayOptions) {
    this.#options = options
    this.#orphans = new Orphans(options.clock)
    this.#caughtUp = !options.sync.progress().catchingUp
    this.#fetcher = new TransactionFetcher({
      timers: options.timers,
      log: options.log,
      paused: () => this.#paused(),
      isUseless: (wanted) => this.#isUseless(wanted),
      unmined: (wanted) => this.#unmined(wanted),
      take: (peer, transactions) => this.#take(peer, transactions),
    })
  }

  /** Number of transactions received from peers. */
  get receivedCount(): number {
    return this.#received
  }

  start(): void {
    const { chain, mempool, peers, sync } = this.#options
    mempool.events.on('accepted', this.#accepted)
    chain.events.on('change', this.#tipMoved)
    sync.events.on('progress', this.#progressed)
    peers.events.on('joined', this.#joined)
    peers.events.on('left', this.#left)
    peers.listen(transactionTopic, async (peer, { names }) => this.#announced(peer, names))
    for (const peer of peers.all()) this.#joined(peer)
    this.#schedulePools()
  }

  async close(): Promise<void> {
    const { chain, mempool, peers, sync } = this.#options
    this.#stopped = true
    mempool.events.off('accepted', this.#accepted)
    chain.events.off('change', this.#tipMoved)
    sync.events.off('progress', this.#progressed)
    peers.events.off('joined', this.#joined)
    peers.events.off('left', this.#left)
    this.#cancelAnnouncement?.()
    this.#cancelPools?.()
    await Promise.all([this.#fetcher.idle(), this.#retried])
  }

  readonly #accepted = ({ transaction }: PoolEntry): void => {
    this.#announcing.push({ txid: transaction.hash, digest: transaction.digest })
    if (this.#cancelAnnouncement === undefined) this.#announce()
    this.#tryAgain(this.#orphans.takeChildren(transaction.hash))
  }

  readonly #tipMoved = (): void => {
    this.#refused = new LruMap<true>(refusedEntries)
    if (!this.#paused()) this.#tryAgain(this.#orphans.takeAll())
  }

  readonly #progressed = (): void => {
    const caughtUp = !this.#options.sync.progress().catchingUp
    if (caughtUp && !this.#caughtUp) for (const peer of this.#options.peers.all()) this.#poolsDue.add(peer)
    this.#caughtUp = caughtUp
    this.#askPools()
  }

  readonly #joined = (peer: Peer): void => {
    this.#poolsDue.add(peer)
    this.#askPools()
  }

  readonly #left = (peer: Peer): void => {
    this.#poolsDue.delete(peer)
    this.#fetcher.drop(peer)
    this.#orphans.forget(peer.id)
  }

  #announce(): void {
    this.#cancelAnnouncement = undefined
    const names = this.#announcing
    if (names.length === 0) return
    this.#announcing = []
    this.#cancelAnnouncement = this.#options.timers.after(announceInterval, () => this.#announce())
    for (let start = 0; start < names.length; start += announcedAtOnce) {
      const salt = asBuffer(this.#options.random.bytes(4)).readUInt32LE()
      this.#options.peers.broadcast(transactionTopic, { salt, names: names.slice(start, start + announcedAtOnce) })
    }
  }

  /** Announcements are never relayed as they are: a node announces what it accepted and can serve. */
  #announced(peer: Peer, names: readonly TransactionName[]): GossipResult {
    if (this.#paused() || !this.#fetcher.want(peer, names)) this.#poolsDue.add(peer)
    return 'ignore'
  }

  #paused(): boolean {
    return this.#stopped || this.#options.sync.progress().catchingUp
  }

  #isUseless({ txid, digest }: AnnouncedTx): boolean {
    if (this.#options.mempool.get(txid) !== undefined) return true
    return digest !== undefined && (this.#refused.get(mapKey(digest)) !== undefined || this.#orphans.has(digest))
  }

  async #unmined(wanted: readonly AnnouncedTx[]): Promise<readonly AnnouncedTx[]> {
    const rows = await this.#options.chain.database.getMany(wanted.map(({ txid }) => tables.location.key(txid)))
    return wanted.filter((_, i) => rows[i] === undefined)
  }

  async #take(peer: Peer, transactions: readonly Uint8Array[]): Promise<void> {
    this.#received += transactions.length
    const early: Uint8Array[] = []
    for (let start = 0; start < transactions.length && !this.#stopped; start += acceptedAtOnce) {
      const some = transactions.slice(start, start + acceptedAtOnce)
      const errors = await Promise.all(some.map((bytes) => this.#submit(bytes)))
      for (const [i, bytes] of some.entries()) {
        const error = errors[i]
        // Its ancestor may have been verified in the same portion.
        if (error === undefined) peer.delivered('transaction')
        else if (mayBecomeValid(bytes, error)) early.push(bytes)
        else this.#refuse(bytes, peer.id, error)
      }
    }
    for (const bytes of early) {
      if (this.#stopped) return
      const error = await this.#submit(bytes)
      if (error !== undefined) await this.#keepOrRefuse(bytes, peer.id, error)
    }
  }

  /** Submits a transaction to the pool; returns the error of a refusal. */
  async #submit(bytes: Uint8Array): Promise<RuleError | undefined> {
    try {
      await this.#options.mempool.accept(bytes, { local: false })
      return undefined
    } catch (error) {
      if (error instanceof RuleError) return error
      throw error
    }
  }

  /** `arrival`: set for an orphan that is retried; its missing parents were requested before. */
  async #keepOrRefuse(bytes: Uint8Array, sender: number, error: RuleError, arrival?: number): Promise<void> {
    if (!mayBecomeValid(bytes, error)) return this.#refuse(bytes, sender, error)
    const transaction = await runCooperatively(Transaction.keptSteps(bytes))
    const parents = await this.#missingParents(transaction)
    // All parents are known, so the spent output will never exist.
    const hopeless = error.code === 'tx-input-unknown' && parents.length === 0
    if (hopeless || !this.#orphans.add(transaction, sender, parents, arrival)) return this.#refuse(bytes, sender, error)
    const peer = this.#peer(sender)
    if (arrival === undefined && peer !== undefined) {
      this.#fetcher.want(
        peer,
        parents.map((txid) => ({ txid, digest: undefined })),
      )
    }
  }

  #refuse(bytes: Uint8Array, sender: number, { code, message }: RuleError): void {
    this.#refused.set(mapKey(sha256d(bytes)), true)
    this.#peer(sender)?.penalise(code, message)
  }

  #peer(id: number): Peer | undefined {
    return this.#options.peers.all().find((peer) => peer.id === id)
  }

  /** Transactions that this one builds on and that neither the pool nor the chain has. */
  async #missingParents(transaction: Transaction): Promise<Hash[]> {
    const { chain, mempool } = this.#options
    const previous = policyOf(transaction).follows?.(transaction.payload)
    const named = [...transaction.inputs.map(({ txid }) => txid), ...(previous === undefined ? [] : [previous])]
    const unpooled = [...new Map(named.map((txid) => [mapKey(txid), txid])).values()].filter(
      (txid) => mempool.get(txid) === undefined,
    )
    const rows = await chain.database.getMany(unpooled.map((txid) => tables.location.key(txid)))
    return unpooled.filter((_, i) => rows[i] === undefined)
  }

  /** Retries orphans one after another, those of earlier calls first. */
  #tryAgain(orphans: readonly Orphan[]): void {
    if (orphans.length === 0) return
    this.#retried = this.#retried
      .then(async () => {
        for (const { transaction, sender, arrival } of orphans) {
          if (this.#stopped) return
          const error = await this.#submit(transaction.bytes)
          if (error !== undefined) await this.#keepOrRefuse(transaction.bytes, sender, error, arrival)
        }
      })
      .catch((error: unknown) => {
        this.#options.log.error({ error: String(error) }, 'transactions that waited could not be tried again')
      })
  }

  #schedulePools(): void {
    let next = 0
    const look = () => {
      const peers = this.#options.peers.all()
      const peer = peers[next++ % Math.max(1, peers.length)]
      if (peer !== undefined) this.#joined(peer)
      this.#cancelPools = this.#options.timers.after(poolInterval, look)
    }
    this.#cancelPools = this.#options.timers.after(poolInterval, look)
  }

  /** Requests the pools that are due, few at a time: such a list is long. */
  #askPools(): void {
    for (const peer of this.#poolsDue) {
      if (!this.#hasPoolPlace() || this.#poolsAsked.size >= poolsAwaited || this.#paused()) return
      if (this.#poolsAsked.has(peer)) continue
      this.#poolsDue.delete(peer)
      if (peer.closed) continue
      this.#poolsAsked.set(peer, true)
      void this.#askPool(peer).finally(() => {
        this.#poolsAsked.delete(peer)
        this.#askPools()
      })
    }
  }

  #hasPoolPlace(): boolean {
    let placed = 0
    for (const inTime of this.#poolsAsked.values()) if (inTime) placed++
    return placed < poolsAtOnce
  }

  /**
   * A pool that exceeds its time budget, or whose list comes late while others are read, moves to the end of the queue. Where its
   * transactions are late it waits for its next turn: asked again at once, it would send its list again and again.
   */
  async #askPool(peer: Peer): Promise<void> {
    try {
      const names = await this.#poolList(peer)
      const queued = names === undefined ? 'spent' : await this.#fetcher.wantAll(peer, names, poolBudget)
      if (queued === 'spent' && !peer.closed) this.#poolsDue.add(peer)
    } catch (error) {
      this.#options.log.debug({ peer: peer.name, error: String(error) }, 'a peer did not tell what is in its pool')
    }
  }

  /** Names of the transactions in a peer's pool. Such lists are large: undefined if this one comes late and no place for one is free. */
  async #poolList(peer: Peer): Promise<readonly TransactionName[] | undefined> {
    const cancel = this.#options.timers.after(poolPatience, () => {
      this.#poolsAsked.set(peer, false)
      this.#askPools()
    })
    const names = await peer.ask(poolExchange, undefined).finally(cancel)
    if (this.#poolsAsked.get(peer) === true) return names
    if (!this.#hasPoolPlace()) return undefined
    this.#poolsAsked.set(peer, true)
    return names
  }
}
