/**
 * Numbers the events of chain and pool, and keeps the last ones for readers that come back.
 *
 *   ChainChange  -> follow -> #record -> eventsOf         revert and apply, block by block
 *   `accepted`   -> acceptedEvent
 *                     -> #append -> ring of LedgerEvent -> `appended` event
 *   start point  -> EventCursor.replay, next -> api (WebSocket), library
 *                     blocks first, by BlockEvents; from the log's block on the ring
 *                     of topic `documents` by DocumentEvents, before the event of their block
 *
 * Imports chain, did, did-index, did-query, errors, mempool, primitives, runtime, storage; used by resolver, api, node, library, console.
 * - Events exist after their change is on disk and before the next change.
 * - A slow reader costs one position: the log keeps no list of readers and waits for none.
 * - Numbers rise, also over restarts; a run reserves its numbers on disk before it uses one.
 */
import { EventEmitter } from 'node:events'
import type { Chain, ChainChange, ChainIndexer } from '../chain/chain.js'
import type { Mempool } from '../mempool/mempool.js'
import type { Block } from '../../base/primitives/block.js'
import type { Clock } from '../../base/runtime/env.js'
import type { Database } from '../storage/database.js'
import { Overlay } from '../storage/write/overlay.js'
import { meta } from '../storage/rows/tables.js'
import { BlockEvents, type BlockPosition } from './block-events.js'
import { type ConditionBounds, DocumentConditions } from './document-conditions.js'
import { DocumentEvents } from './document-events.js'
import type { DocumentWork } from './evaluate-block.js'
import { acceptedEvent, eventsOf, LedgerEvent } from './ledger-event.js'
import { type Action, type ChainEventData } from '../../base/primitives/chain-event.js'

/**
 * About 400 bytes each.
 * @tuning count: events kept for slow or returning clients
 */
export const keptEvents = 32_768

/** The first number of a run is this times the seconds since 1970, so that another database has other numbers. */
const numbersPerSecond = 2 ** 20
/** Least distance to the run before, so that a clock set back repeats no number. */
const numbersPerRun = 2 ** 32
/** Latest Unix time that is trusted: numbers stay below 2^53. */
const latestSecond = 2 ** 32

export interface EventLogOptions {
  readonly chain: Chain
  readonly mempool: Pick<Mempool, 'events'>
  readonly clock: Clock
  /** Overrides {@link keptEvents}. */
  readonly kept?: number
  /** Overrides the blocks decoded at once. */
  readonly replays?: number
  /** Overrides the constant of this name. */
  readonly keptForReplays?: number
  /** Overrides bounds of conditions on documents, and of the work that they make. */
  readonly documents?: Partial<ConditionBounds & { readonly work: Partial<DocumentWork> }>
}

interface LogEvents {
  /** New events were appended. */
  appended: []
}

/** Numbers the events of chain and pool, and keeps the last ones. */
export class EventLog implements ChainIndexer {
  readonly events = new EventEmitter<LogEvents>()
  readonly chain: Chain
  /** Events of stored blocks, for replays. */
  readonly blocks: BlockEvents
  /** Events about documents that meet conditions. */
  readonly documents: DocumentEvents
  /** Number before the first event of this run. */
  readonly start: number
  readonly #kept: number
  readonly #ring: LedgerEvent[] = []
  #last: number
  #tip: BlockPosition
  #reorganisations = 0

  private constructor(
    { chain, kept = keptEvents, replays, keptForReplays, documents = {} }: EventLogOptions,
    start: number,
  ) {
    this.chain = chain
    this.blocks = new BlockEvents(this, replays, keptForReplays)
    this.start = start
    this.#kept = kept
    this.#last = start
    this.#tip = chain.tip.header
    this.documents = new DocumentEvents(this, documents.work, new DocumentConditions(documents))
    // Many readers may wait for the next event.
    this.events.setMaxListeners(0)
  }

  /** Begins to follow chain and pool, with numbers that no earlier run on this database used. */
  static async open(options: EventLogOptions): Promise<EventLog> {
    const { chain, mempool, clock } = options
    return chain.exclusive(async () => {
      const log = new EventLog(options, await takeNumbers(chain, clock))
      chain.addIndexer(log)
      mempool.events.on('accepted', (entry, replaced) => log.#append([acceptedEvent(entry, replaced)]))
      return log
    })
  }

  get database(): Database {
    return this.chain.database
  }

  /** The number of the newest event. */
  get last(): number {
    return this.#last
  }

  /** The number of the oldest event that is kept; above {@link last} when there is none. */
  get oldest(): number {
    return Math.max(this.start, this.#last - this.#kept) + 1
  }

  /** The block to which the events so far lead; briefly behind the tip of the chain. */
  get tip(): BlockPosition {
    return this.#tip
  }

  /** Reorganisations in this run: equal twice, no block left the chain and came back in between. */
  get reorganisations(): number {
    return this.#reorganisations
  }

  /** A kept event by its number. */
  at(number: number): LedgerEvent {
    return this.#ring[(number - this.start) % this.#kept] as LedgerEvent
  }

  stage(overlay: Overlay, { disconnected, connected }: ChainChange): void {
    const [block] = connected
    // A row has the state before all blocks of a batch.
    if (block === undefined || connected.length > 1 || disconnected.length > 0) return
    if (this.documents.conditions.reads) this.documents.operations.stage(overlay, block)
  }

  async follow({ disconnected, connected }: ChainChange): Promise<void> {
    if (disconnected.length > 0) this.#reorganisations++
    for (const event of disconnected) {
      const { height, previous } = event.header
      const block = await event.read()
      // A devnet that is taken back keeps no block of it.
      if (this.documents.conditions.size > 0) await this.documents.operations.remember(block)
      await this.#record(block, 'revert', { height: height - 1, hash: previous })
    }
    for (const event of connected) {
      if (this.documents.conditions.size > 0 && event.block) await this.documents.operations.remember(event.block)
      await this.#record(await event.read(), 'apply', event.header)
    }
  }

  async #record(block: Block, action: Action, { height, hash }: BlockPosition): Promise<void> {
    const events = await eventsOf(block, action)
    this.#tip = { height, hash }
    this.#append(events)
  }

  #append(events: readonly ChainEventData[]): void {
    for (const data of events) {
      this.#last++
      this.#ring[(this.#last - this.start) % this.#kept] = new LedgerEvent(this.#last, data)
    }
    this.events.emit('appended')
  }
}

/** Reserves the numbers of a run on disk; returns the number before them. */
async function takeNumbers(chain: Chain, clock: Clock): Promise<number> {
  const last = meta.events.get(chain.database)
  const before = last === undefined ? 0 : last + numbersPerRun
  const start = Math.max(before, Math.min(Math.floor(clock.now() / 1000), latestSecond) * numbersPerSecond)
  const overlay = new Overlay(chain.database)
  meta.events.put(overlay, start)
  const { height, hash } = chain.tip.header
  await overlay.commit({ kind: 'header', height, hash }, { sync: true })
  return start
}
