import { once } from 'node:events'
import { readBlock, sideBodyRow } from '../chain/read-body.js'
import { RuleError } from '../errors/rule-error.js'
import { Block } from '../primitives/block.js'
import { displayHash, equalBytes } from '../primitives/bytes.js'
import { type Hash, zeroHash } from '../primitives/hash.js'
import { nextTurn, runCooperatively } from '../runtime/cooperative.js'
import { requireUnpruned } from '../storage/prune-rows.js'
import type { EventLog, BlockPosition } from './event-log.js'
import { type Action, eventsOf, LedgerEvent, type EventTopic } from './ledger-event.js'

/** Where a reader of events begins. */
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
  /** Block of the last events delivered, until the cursor has reached the log. */
  #position: BlockPosition | undefined
  /** Number of the next event to read. */
  #next = NaN

  /** A start point that is gone, or that does not exist yet, is `event-gone`, `pruned` or `unknown-block`. */
  constructor(log: EventLog, topics: Iterable<EventTopic>, start: StartPoint) {
    this.#log = log
    this.#topics = new Set(topics)
    if (start.kind === 'now') this.#next = log.last + 1
    else if (start.kind === 'event') this.#next = numberAfter(log, start.number)
    else this.#position = start.kind === 'height' ? positionBelow(log, start.height) : positionOf(log, start.hash)
    if (this.#position !== undefined) requireUnpruned(log.database, this.#position.height + 1)
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

  /** The next event, or undefined while there is none; `event-gone` as {@link checkKept}. */
  take(): LedgerEvent | undefined {
    this.checkKept()
    while (this.#next <= this.#log.last) {
      const event = this.#log.at(this.#next++)
      if (this.#topics.has(event.data.topic)) return event
    }
    return undefined
  }

  /**
   * Events of the next block on the way to the log, at least one; undefined once the log is reached. `event-gone` when a block to
   * take back is no longer stored.
   */
  async replay(): Promise<readonly LedgerEvent[] | undefined> {
    while (this.#position !== undefined) {
      if (equalBytes(this.#position.hash, this.#log.tip.hash)) {
        this.#position = undefined
        this.#next = this.#log.last + 1
        break
      }
      const step = this.#isActive(this.#position)
        ? await this.#forward(this.#position)
        : await this.#back(this.#position)
      if (step === undefined) continue
      this.#position = step.position
      const wanted = await this.#eventsOf(step)
      if (wanted.length > 0) return wanted
    }
    return undefined
  }

  /** One block up the active chain; undefined when the chain has to be read again. */
  async #forward({ height, hash }: BlockPosition): Promise<Step | undefined> {
    const { chain, database, events, reorganisations } = this.#log
    const next = chain.headers.activeHash(height + 1)
    if (next === undefined) {
      // The chain ends here; the log is about to append the events that led to it.
      await once(events, 'appended')
      return undefined
    }
    const known = chain.headers.get(next)
    // One read may see the rows before a batch, and another one those after it.
    const fits = known !== undefined && equalBytes(known.header.previous, hash)
    const position = { height: height + 1, hash: next }
    const unmoved = () => this.#isActive(position) && this.#log.reorganisations === reorganisations
    try {
      const block = fits ? await readBlock(database, known) : undefined
      if (block !== undefined && unmoved()) return { block, action: 'apply', position }
    } catch (error) {
      if (unmoved()) throw error
    }
    await nextTurn()
    return undefined
  }

  /** One block down from a block that has left the active chain. */
  async #back(position: BlockPosition): Promise<Step | undefined> {
    const bytes = sideBodyRow(this.#log.database, position.hash)
    if (bytes !== undefined) {
      const block = await runCooperatively(Block.fromBytesSteps(bytes))
      return { block, action: 'revert', position: { height: position.height - 1, hash: block.header.previous } }
    }
    await nextTurn()
    if (this.#isActive(position)) return undefined
    const what = `block ${displayHash(position.hash)}`
    throw new RuleError('event-gone', `${what} left the chain and is gone; go on with fromHeight`)
  }

  #isActive({ height, hash }: BlockPosition): boolean {
    if (height < 0) return true
    const active = this.#log.chain.headers.activeHash(height)
    return active !== undefined && equalBytes(active, hash)
  }

  async #eventsOf({ block, action }: Step): Promise<LedgerEvent[]> {
    const all = await eventsOf(block, action)
    return all.filter(({ topic }) => this.#topics.has(topic)).map((data) => new LedgerEvent(null, data))
  }
}

interface Step {
  readonly block: Block
  readonly action: Action
  /** Position of the cursor afterwards. */
  readonly position: BlockPosition
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
