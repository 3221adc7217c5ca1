import type { Chain } from '../chain/chain.js'
import { eachTransaction, sideBodyRow } from '../chain/read-body.js'
import { Block } from '../../base/primitives/block.js'
import { equalBytes, mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { nextTurn, runCooperatively, Yielder } from '../../base/runtime/cooperative.js'
import { WorkSlots } from '../../base/runtime/work-slots.js'
import type { Database } from '../storage/database.js'
import { EventMaker, eventsOf, LedgerEvent } from './ledger-event.js'
import { type Action, type ChainEventData } from '../../base/primitives/chain-event.js'

/** @tuning count: addresses that replay events at the same time */
const replaysAtOnce = 8
/**
 * Those of the newest block are kept, however large they are.
 * @tuning bytes: events of decoded blocks kept for the replays that need them next
 */
const keptForReplays = 8 * 1024 * 1024
/** Bytes of an event beside the ids in it, which a transaction may make long. */
const eventOverhead = 1000

/** A position on the chain, given by a block. */
export interface BlockPosition {
  /** -1 below genesis. */
  readonly height: number
  readonly hash: Hash
}

/** The part of a log that replays need. */
export interface ReplayedLog {
  readonly chain: Pick<Chain, 'headers'>
  readonly database: Database
  /** Reorganisations so far. */
  readonly reorganisations: number
}

/** A block whose events are made. */
export interface MadeBlock {
  readonly events: readonly LedgerEvent[]
  /** Position below the block. */
  readonly below: BlockPosition
  /** Memory of its events, about. */
  readonly bytes: number
}

/**
 * Makes the events of stored blocks for replays, each block once for all readers that stand at it. Replays take turns in few slots, of
 * which an address has one: then the time that it gets does not depend on how many readers others have.
 */
export class BlockEvents {
  readonly #log: ReplayedLog
  readonly #slots: WorkSlots
  readonly #underWay = new Map<string, Promise<MadeBlock | undefined>>()
  /** The least recently used first. */
  readonly #kept = new Map<string, MadeBlock>()
  readonly #most: number
  #keptBytes = 0
  #decoded = 0

  constructor(log: ReplayedLog, atOnce = replaysAtOnce, most = keptForReplays) {
    this.#log = log
    this.#most = most
    // Every connection has one reader that waits at most.
    this.#slots = new WorkSlots(atOnce, Infinity, 'replays of events', 1)
  }

  /** Blocks decoded so far. */
  get decoded(): number {
    return this.#decoded
  }

  /**
   * Reads and sends some blocks for a reader of a share: an address, or a network. The job waits for no client and ends with its slice.
   * The next one gets the slot in another turn of the event loop, so that all shares get as much of it.
   */
  inTurn(share: string, job: (yielder: Yielder) => Promise<void>): Promise<void> {
    const turn = async () => {
      const yielder = new Yielder()
      if (yielder.over) await yielder.next()
      await job(yielder)
      await nextTurn()
    }
    return this.#slots.run(turn, { share })
  }

  /** The block, applied or taken back. Undefined when it is not stored, and when the chain changed while it was read. */
  async of(hash: Hash, action: Action): Promise<MadeBlock | undefined> {
    const key = `${action} ${mapKey(hash)}`
    return this.#used(key) ?? this.#underWay.get(key) ?? this.#begin(key, hash, action)
  }

  /** Drops the events that are kept: no reader replays. */
  clear(): void {
    this.#kept.clear()
    this.#keptBytes = 0
  }

  #used(key: string): MadeBlock | undefined {
    const made = this.#kept.get(key)
    if (made === undefined) return undefined
    this.#kept.delete(key)
    this.#kept.set(key, made)
    return made
  }

  #begin(key: string, hash: Hash, action: Action): Promise<MadeBlock | undefined> {
    const making = this.#make(hash, action)
      .then((made) => this.#keep(key, made))
      .finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, making)
    return making
  }

  #keep(key: string, made: MadeBlock | undefined): MadeBlock | undefined {
    if (made === undefined) return undefined
    this.#kept.set(key, made)
    this.#keptBytes += made.bytes
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#keptBytes <= this.#most || oldest === key) break
      this.#kept.delete(oldest)
      this.#keptBytes -= bytes
    }
    return made
  }

  async #make(hash: Hash, action: Action): Promise<MadeBlock | undefined> {
    const { chain, database, reorganisations } = this.#log
    this.#decoded++
    const bytes = sideBodyRow(database, hash)
    if (bytes !== undefined) {
      const block = await runCooperatively(Block.fromBytesSteps(bytes))
      return madeOf(block.header, await eventsOf(block, action))
    }
    const known = chain.headers.get(hash)
    if (known?.status !== 'active') return undefined
    const unmoved = () => isActive(this.#log, known.header) && this.#log.reorganisations === reorganisations
    const maker = new EventMaker(known.header, action)
    try {
      await eachTransaction(database, known, (transaction) => maker.add(transaction))
    } catch (error) {
      if (unmoved()) throw error
    }
    // One read may see the rows before a batch, and another one those after it.
    return unmoved() ? madeOf(known.header, maker.finish()) : undefined
  }
}

/** Whether a block is on the active chain; all chains have the position below genesis. */
export function isActive({ chain }: Pick<ReplayedLog, 'chain'>, { height, hash }: BlockPosition): boolean {
  if (height < 0) return true
  const active = chain.headers.activeHash(height)
  return active !== undefined && equalBytes(active, hash)
}

function madeOf({ height, previous }: Header, events: readonly ChainEventData[]): MadeBlock {
  return {
    events: events.map((data) => new LedgerEvent(null, data)),
    below: { height: height - 1, hash: previous },
    bytes: events.reduce((sum, data) => sum + eventOverhead + ('id' in data ? data.id.length : 0), 0),
  }
}
