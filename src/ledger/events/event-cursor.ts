import { once } from 'node:events'
import { sideBodyRow } from '../chain/read-body.js'
import { InvariantError, RuleError } from '../../base/errors/rule-error.js'
import { displayHash, equalBytes, hex, reversed } from '../../base/primitives/bytes.js'
import { type Hash, zeroHash } from '../../base/primitives/hash.js'
import { nextTurn } from '../../base/runtime/cooperative.js'
import { requireAbove } from '../storage/rows/prune-rows.js'
import { type BlockPosition, isActive } from './block-events.js'
import type { DocumentFollower, ToldBlock } from './document-events.js'
import type { EventLog } from './event-log.js'
import type { LedgerEvent } from './ledger-event.js'
import type { Action, EventTopic } from '../../base/primitives/chain-event.js'

/** Place from which a reader of events begins. */
export type StartPoint =
  /** At the next event. */
  | { readonly kind: 'now' }
  /** After the event of this number. */
  | { readonly kind: 'event'; readonly number: number }
  /** At the block of this height on the active chain. */
  | { readonly kind: 'height'; readonly height: number }
  /** After this block; if it has left the chain, with taking it back. */
  | { readonly kind: 'block'; readonly hash: Hash }

/**
 * Events for one reader, each once and in order. A cursor that begins at a block first walks from there to the tip of the log:
 * back along a branch that was left, then up the active chain, even while the chain changes. Where both meet it continues with
 * the log.
 */
export class EventCursor {
  readonly #log: EventLog
  readonly #topics: ReadonlySet<EventTopic>
  /** Block of the last events given, until the cursor has reached the log. */
  #position: BlockPosition | undefined
  /** The block of these events, and the one of which more are to be given. */
  #given: Step | undefined
  #rest: Step | undefined
  /** Number of the next event to read. */
  #next = NaN
  /** The condition whose documents are told before the event of each block. */
  readonly #documents: DocumentFollower | undefined
  /** Events about documents of the next block that were told. */
  #told = 0
  /** Those of the next block, where they were worked out for this cursor alone. */
  #own: readonly LedgerEvent[] | undefined
  /** The next block, where its events about documents are not known yet. */
  #lacking: ToldBlock | undefined

  /**
   * A start point that is gone, or that does not exist yet, is `event-gone`, `pruned` or `unknown-block`. With `documents` the caller ends
   * what it follows.
   */
  constructor(log: EventLog, topics: Iterable<EventTopic>, start: StartPoint, documents?: DocumentFollower) {
    this.#log = log
    this.#topics = new Set(topics)
    this.#documents = documents
    if (start.kind === 'now') this.#next = log.last + 1
    else if (start.kind === 'event') this.#next = numberAfter(log, start.number)
    else this.#position = start.kind === 'height' ? positionBelow(log, start.height) : positionOf(log, start.hash)
    if (this.#position !== undefined) requireAbove(log.database, this.#position.height)
  }

  /** Whether {@link replay} has to be called until it returns undefined. */
  get replaying(): boolean {
    return this.#position !== undefined
  }

  /** Throws `event-gone` when the next event of the log is no longer kept. */
  checkKept(): void {
    if (this.#next >= this.#log.oldest) return
    throw new RuleError('event-gone', 'read too slowly: the next event is not kept any more; go on with afterBlock')
  }

  /** The next event, or undefined while there is none, or while it is {@link lacking}; `event-gone` as {@link checkKept}. */
  take(): LedgerEvent | undefined {
    this.checkKept()
    while (this.#next <= this.#log.last) {
      const event = this.#log.at(this.#next)
      const before = this.#takeDocument(event)
      if (before === 'lacking') return undefined
      if (before !== undefined) return before
      this.#next++
      if (this.#topics.has(event.data.topic)) return event
    }
    return undefined
  }

  /** Whether {@link load} has to be called before {@link take} gives more. */
  get lacking(): boolean {
    return this.#lacking !== undefined
  }

  /** Works out what {@link take} lacks; `event-gone` or `pruned` where that is not possible any more. */
  async load(): Promise<void> {
    const block = this.#lacking
    if (block === undefined) return
    this.#own = await this.#documents?.look(block)
    // The chain changed meanwhile: take asks again.
    if (this.#own === undefined) await nextTurn()
    this.#lacking = undefined
  }

  /** Frees what waits for the reader; it is worked out again by {@link load}. */
  release(): void {
    this.#own = undefined
  }

  /** The next event about documents that comes before an event of the log. */
  #takeDocument({ data }: LedgerEvent): LedgerEvent | 'lacking' | undefined {
    if (this.#documents === undefined || data.topic !== 'block') return undefined
    const block = { hash: reversed(hex(data.hash)), action: data.action }
    const found = this.#own ?? this.#documents.found(block)
    if (found === undefined) {
      this.#lacking = block
      return 'lacking'
    }
    const event = found[this.#told++]
    if (event !== undefined) return event
    this.#told = 0
    this.#own = undefined
    return undefined
  }

  /**
   * Events of the next block on the way to the log, or the rest of the last one's, or none where it has none of the topics or the chain
   * changes; undefined once the log is reached. `event-gone` when a block to take back is no longer stored.
   */
  async replay(): Promise<readonly LedgerEvent[] | undefined> {
    const position = this.#position
    if (position === undefined || (this.#rest === undefined && this.#reached(position))) return undefined
    const step = this.#rest ?? (await this.#stepFrom(position))
    const block = step && (await this.#log.blocks.of(step.hash, step.action))
    const documents = block && (await this.#documentsOf(step))
    if (step === undefined || block === undefined || documents === undefined) {
      await this.#missed(step)
      return []
    }
    this.#position = step.action === 'apply' ? step : block.below
    const last = block.events.length - 1
    const events = [...block.events.slice(0, last), ...documents, ...block.events.slice(last)]
    const wanted = events.filter(({ data }) => this.#topics.has(data.topic)).slice(step.told)
    this.#given = { ...step, told: step.told + wanted.length }
    this.#rest = undefined
    return wanted
  }

  /** Events of a block about documents; none without a condition. */
  async #documentsOf(block: ToldBlock): Promise<readonly LedgerEvent[] | undefined> {
    return this.#documents === undefined ? [] : this.#documents.look(block)
  }

  /** Has the last `count` events of {@link replay} given again by its next call, so that its caller need not keep them. */
  putBack(count: number): void {
    if (this.#given === undefined) throw new InvariantError('no events were given')
    this.#rest = { ...this.#given, told: this.#given.told - count }
  }

  /** Continues with the log once it has come to this block. */
  #reached({ hash }: BlockPosition): boolean {
    if (!equalBytes(hash, this.#log.tip.hash)) return false
    this.#position = undefined
    this.#next = this.#log.last + 1
    return true
  }

  /** Up the active chain, or down from a block that has left it; undefined when the chain has to be looked at again. */
  async #stepFrom(position: BlockPosition): Promise<Step | undefined> {
    if (!isActive(this.#log, position)) return { ...position, action: 'revert', told: 0 }
    const { headers } = this.#log.chain
    const height = position.height + 1
    const hash = headers.activeHash(height)
    if (hash === undefined) {
      // The chain ends here; the log is about to append the events that led to it.
      await once(this.#log.events, 'appended')
      return undefined
    }
    // One read may see the rows before a batch, and another one those after it.
    const fits = equalBytes(headers.get(hash)?.header.previous ?? hash, position.hash)
    return fits ? { height, hash, action: 'apply', told: 0 } : undefined
  }

  /** Waits where the chain has changed; `event-gone` where events are due of a block that is not stored any more. */
  async #missed(step: Step | undefined): Promise<void> {
    await nextTurn()
    if (step === undefined || (step.action === 'apply' && step.told === 0)) return
    if (isActive(this.#log, step) || sideBodyRow(this.#log.database, step.hash) !== undefined) return
    throw new RuleError(
      'event-gone',
      `block ${displayHash(step.hash)} left the chain and is gone; go on with fromHeight`,
    )
  }
}

/** A block on the way of a cursor. */
interface Step extends BlockPosition {
  readonly action: Action
  /** Number of its events, of the topics of the cursor, already delivered. */
  readonly told: number
}

function numberAfter(log: EventLog, number: number): number {
  if (number >= log.oldest - 1 && number <= log.last) return number + 1
  const kept = `kept are those from ${log.oldest} to ${log.last}`
  throw new RuleError('event-gone', `event ${number}: ${kept}; go on with afterBlock or fromHeight`)
}

function positionBelow(log: EventLog, height: number): BlockPosition {
  const below = height - 1
  if (below < 0) return { height: below, hash: zeroHash }
  const hash = log.chain.headers.activeHash(below)
  if (hash !== undefined) return { height: below, hash }
  throw new RuleError('unknown-block', `no block can follow at height ${height}: the tip is at ${log.tip.height}`)
}

function positionOf(log: EventLog, hash: Hash): BlockPosition {
  const known = log.chain.headers.get(hash)
  if (known?.status === 'active' || known?.status === 'side') return { height: known.header.height, hash }
  throw new RuleError('unknown-block', `there is no block ${displayHash(hash)}; go on with fromHeight`)
}
