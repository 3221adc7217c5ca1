import { SignatureCache } from '../base/crypto/signature-cache.js'
import type { Verifier } from '../base/crypto/verifier.js'
import { RuleError } from '../base/errors/rule-error.js'
import { coinDepth } from '../base/primitives/coin-depth.js'
import { Transaction } from '../base/primitives/transaction.js'
import type { Env } from '../base/runtime/env.js'
import { Chain } from '../ledger/chain/chain.js'
import { checkCoinRoot } from '../ledger/consensus/commitment.js'
import { checkRecentBlocks } from '../ledger/chain/check-recent-blocks.js'
import { HistoryDownload, HistoryError } from '../network/join/history-download.js'
import { TimeoutsClosed } from '../network/fetch/timeouts.js'
import type { Network } from '../network/network.js'
import { checkJournal } from '../ledger/storage/care/check-journal.js'
import { type DiskFiles, diskFiles } from '../ledger/storage/disk-files.js'
import { present } from '../ledger/storage/rows/row-reader.js'
import { tables } from '../ledger/storage/rows/tables.js'
import { StorageError } from '../ledger/storage/failure.js'

/** @tuning bytes: cache of the database of the history */
const historyCache = 8 * 1024 * 1024

export interface BackfillOptions extends Pick<Env, 'clock' | 'timers' | 'log'> {
  /** The chain that began with a state. */
  readonly chain: Chain
  /** Directory for the database of the history, until it is whole. */
  readonly directory: string
  readonly verifier: Verifier
  readonly network: Pick<Network, 'peers' | 'sync'>
  /** Those of the system if absent. */
  readonly files?: Pick<DiskFiles, 'openDatabase' | 'remove'>
  /** Bytes of rows that move over in one batch; tests need few. */
  readonly bytesAtOnce?: number
}

/**
 * Fills in what a node that began with a state has not: a second chain, beside that of the node, verifies all blocks up to the state; then
 * its rows move over. What it finds wrong stops the node: a quorum signed a state that no block leads to.
 */
export class Backfill {
  readonly #options: BackfillOptions
  readonly #files: Pick<DiskFiles, 'openDatabase' | 'remove'>
  #download: HistoryDownload | undefined
  #running: Promise<void> | undefined
  readonly #stop = new AbortController()

  constructor(options: BackfillOptions) {
    this.#options = options
    this.#files = options.files ?? diskFiles
  }

  /** Begins, where the chain began with a state. */
  start(): void {
    const { chain, directory } = this.#options
    // A kill may have come when all of it was there.
    this.#running = chain.joinedHeight > 0 ? this.#run() : this.#files.remove(directory)
    this.#running.catch(() => {})
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#download?.close()
    await this.#running?.catch(() => {})
  }

  async #run(): Promise<void> {
    const { chain, log } = this.#options
    try {
      await this.#fill()
    } catch (error) {
      if (error instanceof TimeoutsClosed || this.#stop.signal.aborted) return
      if (error instanceof HistoryError) {
        chain.fail(new Error(`the state of height ${chain.joinedHeight} was taken, and is wrong: ${error.message}`))
        return
      }
      log.error({ error: String(error) }, 'the history cannot be filled in; the next start tries again')
    }
  }

  async #fill(): Promise<void> {
    const { chain, directory, log, bytesAtOnce } = this.#options
    const last = chain.joinedHeight
    const history = await this.#open()
    const { database } = history
    try {
      const started = history.tip.header.height
      if (started < last) log.info({ height: started, last }, 'the history before the state is being verified')
      history.events.on('change', () => chain.noteVerified(history.tip.header.height))
      chain.noteVerified(started)
      await this.#verify(history, last)
      await this.#compare(history, last)
      await chain.takeHistory(database, this.#stop.signal, bytesAtOnce)
      log.info({ height: last }, 'the history before the state was verified: the node has all of its chain')
    } finally {
      await history.close()
      await database.close()
    }
    await this.#files.remove(directory)
  }

  /** Opens the chain of the history; a damaged one is begun anew. */
  async #open(): Promise<Chain> {
    const { directory, log } = this.#options
    try {
      return await this.#openAt(directory)
    } catch (error) {
      if (!(error instanceof StorageError) || error.kind === 'environment') throw error
      log.warn({ error: error.message }, 'the history is damaged, and is begun anew')
      await this.#files.remove(directory)
      return this.#openAt(directory)
    }
  }

  async #openAt(directory: string): Promise<Chain> {
    const { chain, verifier, clock, log } = this.#options
    const database = await this.#files.openDatabase(directory, historyCache)
    try {
      const span = await checkJournal(database)
      const { spec } = chain
      const history = await Chain.open({ spec, database, verifier, signatures: new SignatureCache(), clock, log })
      await checkRecentBlocks(history, span)
      return history
    } catch (error) {
      await database.close()
      throw error
    }
  }

  async #verify(history: Chain, last: number): Promise<void> {
    const { chain, clock, timers, log, network } = this.#options
    const hashAt = (height: number) => chain.headers.activeAt(height).header.hash
    const { peers, sync } = network
    const busy = () => sync.progress().catchingUp || chain.tip.header.height < last + coinDepth
    this.#download = new HistoryDownload({ chain: history, last, hashAt, peers, busy, clock, timers, log })
    if (this.#stop.signal.aborted) this.#download.close()
    await this.#download.run()
  }

  /** The blocks commit to the map of each state; to the coins of this one a block that the node connected itself. */
  async #compare(history: Chain, last: number): Promise<void> {
    const { database } = this.#options.chain
    const committing = last + coinDepth
    const coinbase = present(tables.transaction.get(database, committing, 0), `the coinbase of height ${committing}`)
    const { root } = await history.coinRoots.of(history.tip.header)
    try {
      checkCoinRoot(Transaction.fromBytes(coinbase), root)
    } catch (error) {
      throw error instanceof RuleError ? new HistoryError(committing, error) : error
    }
  }
}
