import { type CoinSet, CoinHasher, coinRoot, type RuleRows } from '../consensus/coin-root.js'
import { InvariantError } from '../../base/errors/rule-error.js'
import { equalBytes, mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { nextCoinRoot, type Spec } from '../../base/primitives/spec.js'
import type { Database } from '../storage/database.js'
import { meta, tables, type TipRow } from '../storage/rows/tables.js'
import { coinRowsAfter, coinRowsThrough, sideChainRowsAfter, sideChainRowsThrough } from './coins-after.js'
import type { FrozenRows } from '../storage/stored-rows.js'
import type { Overlay } from '../storage/write/overlay.js'

/** @tuning count: states whose coins are remembered: that of the active chain, and one of a branch that left it */
const remembered = 2

/** The coins after a block, and the root of them that a later block commits to. */
export interface CoinState extends CoinSet, RuleRows {
  readonly root: Hash
}

export interface CoinRootsOptions {
  readonly database: Database
  readonly spec: Spec
  /** Hash of the genesis block. */
  readonly genesis: Hash
  /** Spent coins held at a time; tests need few. */
  readonly spentAtOnce?: number
}

/** The chain closes before the coins of a state are hashed. */
export class ClosedError extends Error {}

/** The hashing of the coins of one state. */
interface Job {
  readonly coins: Promise<CoinState>
  readonly stop: AbortController
}

/**
 * Hashes the coins of the states that blocks commit to. It begins when such a state is on disk, 288 blocks before its root is needed, and
 * works in slices beside everything else; a block or a template that needs the root waits for it.
 */
export class CoinRoots {
  readonly #options: CoinRootsOptions
  /** By {@link mapKey} of the hash of the state's block; the latest last. */
  readonly #jobs = new Map<string, Job>()
  /** Also those that are not remembered any more. */
  readonly #running = new Set<Job>()
  #closed = false

  constructor(options: CoinRootsOptions) {
    this.#options = options
  }

  /** Begins to hash where the state below a new tip is one whose coins a coming block commits to. */
  follow(tip: Header): void {
    const next = nextCoinRoot(this.#options.spec, tip.height + 1)
    if (next === undefined || next.state > tip.height) return
    const hash = this.#options.database.newest.get(tables.active.key(next.state))
    if (hash !== undefined) void this.of({ hash, height: next.state }).catch(() => {})
  }

  /** Whether the rows on disk are those of a branch with this block. */
  covers({ hash, height }: TipRow): boolean {
    const active = this.#options.database.newest.get(tables.active.key(height))
    return active !== undefined && equalBytes(active, hash)
  }

  /** The coins after a block of the branch whose rows are on disk. Rejects when the chain closes. */
  async of(block: TipRow): Promise<CoinState> {
    const job = this.#jobs.get(mapKey(block.hash))
    if (job === undefined && !this.covers(block)) {
      throw new InvariantError(`the rows of block ${block.height} are not on disk`)
    }
    return this.#keep(block, job ?? this.#begin((signal) => this.#hash(block, signal)))
  }

  /** {@link of} a block whose rows are staged in an overlay over those on disk, which stands still until this resolves. */
  async through(block: TipRow, overlay: Overlay): Promise<CoinState> {
    const job = this.#jobs.get(mapKey(block.hash))
    return this.#keep(block, job ?? this.#begin((signal) => this.#hashThrough(block, overlay, signal)))
  }

  #keep({ hash }: TipRow, job: Job): Promise<CoinState> {
    const key = mapKey(hash)
    this.#jobs.delete(key)
    this.#jobs.set(key, job)
    // Where it fails the next one who asks begins anew.
    job.coins.catch(() => {
      if (this.#jobs.get(key) === job) this.#jobs.delete(key)
    })
    for (const [oldest, { stop }] of this.#jobs) {
      if (this.#jobs.size <= remembered) break
      stop.abort(new InvariantError('the coins of later states are hashed'))
      this.#jobs.delete(oldest)
    }
    return job.coins
  }

  /** Ends all work. */
  async close(): Promise<void> {
    this.#closed = true
    const jobs = [...this.#running]
    for (const { stop } of jobs) stop.abort(new ClosedError('the chain is closed'))
    await Promise.allSettled(jobs.map(({ coins }) => coins))
  }

  #begin(hash: (signal: AbortSignal) => Promise<CoinState>): Job {
    if (this.#closed) throw new ClosedError('the chain is closed')
    const stop = new AbortController()
    const job = { coins: hash(stop.signal), stop }
    this.#running.add(job)
    void job.coins.catch(() => {}).finally(() => this.#running.delete(job))
    return job
  }

  async #hash({ height }: TipRow, signal: AbortSignal): Promise<CoinState> {
    return this.#withRows(async (rows) => {
      const { height: tip } = meta.tip.get(rows) as TipRow
      const as = { ...this.#options, height, tip, signal }
      const coins = await hashed(coinRowsAfter(rows, as), signal)
      return this.#stateOf(height, coins, () => sideChainRowsAfter(rows, as))
    })
  }

  async #hashThrough({ height }: TipRow, overlay: Overlay, signal: AbortSignal): Promise<CoinState> {
    return this.#withRows(async (rows) => {
      const coins = await hashed(coinRowsThrough(rows, overlay), signal)
      return this.#stateOf(height, coins, () => sideChainRowsThrough(rows, overlay))
    })
  }

  async #withRows<T>(run: (rows: FrozenRows) => Promise<T>): Promise<T> {
    const rows = this.#options.database.freezeNewest()
    try {
      return await run(rows)
    } finally {
      rows.close()
    }
  }

  async #stateOf(height: number, coins: CoinSet, read: () => Promise<Uint8Array>): Promise<CoinState> {
    const { spec, genesis } = this.#options
    // Without the rule a database of an earlier version may lack rows.
    const set = { ...coins, sideChains: spec.sideChainOrder ? await read() : new Uint8Array(0) }
    return { ...set, root: coinRoot(genesis, height, set) }
  }
}

async function hashed(pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<CoinSet> {
  const hasher = new CoinHasher()
  for await (const piece of pieces) {
    signal.throwIfAborted()
    hasher.add(piece)
  }
  return hasher.finish()
}
