import { once } from 'node:events'
import { readBlock, sideBodyRow } from '../chain/read-body.js'
import { RuleError } from '../errors/rule-error.js'
import { Block } from '../primitives/block.js'
import { displayHash, equalBytes } from '../primitives/bytes.js'
import { type Hash, zeroHash } from '../primitives/hash.js'
import { nextTurn, runCooperatively } from '../runtime/cooperative.js'
import type { EventLog, BlockPosition } from './event-log.js'
import { type Action, eventsOf, LedgerEvent, type EventTopic } from './ledger-event.js'

/** Where somebody begins to listen. */
export type StartPoint =
  /** With what comes next. */
  | { readonly kind: 'now' }
  /** After the event of this number. */
  | { readonly kind: 'event'; readonly number: number }
  /** With the block of this height on the active chain. */
  | { readonly kind: 'height'; readonly height: number }
  /** After this block: if it has left the chain meanwhile, with taking it back. */
  | { readonly kind: 'block'; readonly hash: Hash }

/**
 * What one listener is told, each event once and in order. A feed that begins with a block first walks from there to the
 * tip of the log, back along a branch that was left and then up the active chain, whatever the chain does meanwhile;
 * where both meet it goes on with the log.
 */
export class EventCursor {
  readonly #log: EventLog
  readonly #topics: ReadonlySet<EventTopic>
  /** The last block told, until the feed has reached the log. */
  #position: BlockPosition | undefined
  /** The number of the next event to look at. */
  #next = NaN

  /** A beginning that is not there any more, or not yet, is `event-gone` or `unknown-block`. */
  constructor(log: EventLog, topics: Iterable<EventTopic>, beginning: StartPoint) {
    this.#log = log
    this.#topics = new Set(topics)
    if (beginning.kind === 'now') this.#next = log.last + 1
    else if (beginning.kind === 'event') this.#next = numberAfter(log, beginning.number)
    else
      this.#position =
        beginning.kind === 'height' ? positionBelow(log, beginning.height) : positionOf(log, beginning.hash)
  }

  /** Whether {@link replay} has to be called until it says undefined. */
  get replaying(): boolean {
    return this.#position !== undefined
  }

  /** Throws `event-gone` when the next event of the log is not kept any more. */
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
   * The events of the next block on the way to the log, never none; undefined when it is reached. `event-gone` when a
   * block that should be taken back is not held any more.
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
      this.#position = step.place
      const wanted = await this.#eventsOf(step)
      if (wanted.length > 0) return wanted
    }
    return undefined
  }

  /** Up to the next block of the active chain; undefined when the chain has to be looked at again. */
  async #forward({ height, hash }: BlockPosition): Promise<Step | undefined> {
    const { chain, database, events, reorganisations } = this.#log
    const next = chain.headers.activeHash(height + 1)
    if (next === undefined) {
      // The chain ends here, and the log is about to say how it came to.
      await once(events, 'appended')
      return undefined
    }
    const known = chain.headers.get(next)
    // Rows of one look may be before a batch and those of another after it.
    const fits = known !== undefined && equalBytes(known.header.previous, hash)
    const place = { height: height + 1, hash: next }
    const unmoved = () => this.#isActive(place) && this.#log.reorganisations === reorganisations
    try {
      const block = fits ? await readBlock(database, known) : undefined
      if (block !== undefined && unmoved()) return { block, action: 'apply', place }
    } catch (error) {
      if (unmoved()) throw error
    }
    await nextTurn()
    return undefined
  }

  /** Down from a block that has left the active chain. */
  async #back(place: BlockPosition): Promise<Step | undefined> {
    const bytes = sideBodyRow(this.#log.database, place.hash)
    if (bytes !== undefined) {
      const block = await runCooperatively(Block.fromBytesSteps(bytes))
      return { block, action: 'revert', place: { height: place.height - 1, hash: block.header.previous } }
    }
    await nextTurn()
    if (this.#isActive(place)) return undefined
    const what = `block ${displayHash(place.hash)}`
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
  /** Where the feed stands afterwards. */
  readonly place: BlockPosition
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
