/**
 * Events of a node, passed on to the clients of a gateway: it has no pool, and no log of its own.
 *
 *   subscribe -> NodesBehind.first -> NodeFeed to that node, one for each client that subscribes
 *   NodeFeed -> queue -> answer is sent, client has room, ShownBlocks -> the client, byte for byte
 *   NodeFeed ends -> the client's connection ends: it subscribes anew, at another node, from where it was
 *
 * - While a client is waited for nothing more is read of its node: what waits here is what one read of the socket brought. Only while a
 *   question is under way is it read on, up to a bound, for its answer comes after the events.
 * - Calls are answered by the gateway; only subscribe and unsubscribe go to the node.
 */
import { RuleError } from '../../../base/errors/rule-error.js'
import { brokenRule } from '../../../base/errors/broken-rule.js'
import { isObject } from '../../../base/primitives/is-object.js'
import { interfaceErrors } from '../http/error-mapping.js'
import type { HeightGate } from '../http/height-gate.js'
import { NeedsNode } from '../http/needs-node.js'
import { PassedError } from '../http/passed-on.js'
import { unanswered } from '../http/unanswered.js'
import type { NodesBehind } from '../node-handles.js'
import type { ConnectionEvents, EventConnection, EventSource } from './event-source.js'
import { type FedEvent, NodeFeed } from './node-feed.js'
import { markOf, markOfStart, type ShownBlocks } from './shown-blocks.js'
import { closeCode } from './ws-connection.js'

export interface PassedEventsOptions {
  readonly nodes: Pick<NodesBehind, 'first' | 'refusal'>
  /** The height below which a node is passed over. */
  readonly heights: Pick<HeightGate, 'height'>
  /** Closed with this. */
  readonly shown: ShownBlocks
}

/** Refusals of a node after which another one may begin. */
const passing: readonly number[] = [interfaceErrors['behind-height'].rpc, interfaceErrors['busy'].rpc]
/** Closings of a node that its clients are told as they stand; all others say that it is gone. */
const toldCodes: readonly number[] = [closeCode.goingAway, closeCode.tryLater]

/** @tuning bytes: events that wait behind the answer to a question; more end the connection of the client */
const mostQueued = 4 * 1024 * 1024

/** The events of the nodes behind a gateway. */
export class PassedEvents implements EventSource {
  readonly #options: PassedEventsOptions
  readonly #subscriptions = new Set<PassedSubscriptions>()

  constructor(options: PassedEventsOptions) {
    this.#options = options
  }

  get refusal(): RuleError | undefined {
    return this.#options.nodes.refusal
  }

  of(connection: EventConnection): ConnectionEvents {
    const made = new PassedSubscriptions(connection, this.#options, () => this.#subscriptions.delete(made))
    this.#subscriptions.add(made)
    return made
  }

  look(): void {
    for (const one of this.#subscriptions) one.ping()
  }

  close(): void {
    this.#options.shown.close()
  }
}

/** The subscriptions of one client, at one node. */
class PassedSubscriptions implements ConnectionEvents {
  readonly #connection: EventConnection
  readonly #options: PassedEventsOptions
  readonly #left: () => void
  /** Numbers at the node, which the client is told as they are. */
  readonly #numbers = new Set<number>()
  readonly #queue: FedEvent[] = []
  #queued = 0
  #feed: NodeFeed | undefined
  #passing = false
  /** Whether the node is asked, and whether an event waits. */
  #asking = false
  #waiting = false
  /** Whether an answer is on its way to the client, before which no event of its subscription may come. */
  #answering = false
  /** The greatest number whose answer was sent, and that of the last answer. */
  #begun = 0
  #last = 0
  #closed = false
  #answered: () => void = () => {}

  constructor(connection: EventConnection, options: PassedEventsOptions, left: () => void) {
    this.#connection = connection
    this.#options = options
    this.#left = left
  }

  get size(): number {
    return this.#numbers.size
  }

  /** A node does it, and not where the gateway runs work again that missed a row. */
  subscribe(): never {
    throw new NeedsNode((params) => this.#subscribe(params))
  }

  unsubscribe(number: number): never {
    throw new NeedsNode((params) => this.#unsubscribe(number, params))
  }

  begin(): void {
    this.#begun = this.#last
    this.#answering = false
    this.#answered()
  }

  ping(): void {
    this.#feed?.ping()
  }

  close(): void {
    this.#closed = true
    this.#numbers.clear()
    this.#queue.length = 0
    this.#queued = 0
    this.#feed?.close()
    this.#answered()
    this.#left()
  }

  /** Ends the connection where no node begins: an error would end a client that follows events, and a lost connection does not. */
  async #subscribe(params: unknown): Promise<unknown> {
    this.#answering = true
    try {
      const feed = this.#feed
      const result = await (feed === undefined ? this.#atFirst(params) : this.#begin(feed, params))
      const mark = markOfStart(result)
      if (mark !== undefined) await this.#options.shown.until(mark)
      return result
    } catch (error) {
      if (error instanceof RuleError) this.#connection.fail(error)
      throw error
    }
  }

  async #unsubscribe(number: number, params: unknown): Promise<unknown> {
    if (this.#feed === undefined) return false
    const existed = await this.#ask(this.#feed, 'unsubscribe', params)
    // No event of it follows the answer, also none that waits here.
    this.#numbers.delete(number)
    return existed
  }

  /** Subscribes at the first node that takes it. */
  #atFirst(params: unknown): Promise<unknown> {
    return this.#options.nodes.first(async (url) => {
      if (this.#closed) throw brokenRule('request-timeout')
      const feed: NodeFeed = new NodeFeed(url, {
        event: (event) => this.#take(event),
        ended: (code, reason) => this.#ended(feed, code, reason),
      })
      this.#feed = feed
      try {
        await feed.opened()
        return await this.#begin(feed, params)
      } catch (error) {
        feed.close()
        this.#feed = undefined
        throw error instanceof PassedError && passing.includes(error.code)
          ? unanswered('it is behind, or busy', 'none')
          : error
      }
    })
  }

  async #begin(feed: NodeFeed, params: unknown): Promise<unknown> {
    const result = await this.#ask(feed, 'subscribe', params, this.#options.heights.height)
    const number = isObject(result) ? result['subscription'] : undefined
    if (typeof number !== 'number') throw unanswered('its answer is none of subscribe', 'none')
    this.#last = number
    if (!this.#closed) this.#numbers.add(number)
    return result
  }

  async #ask(feed: NodeFeed, method: string, params: unknown, minHeight?: number): Promise<unknown> {
    this.#asking = true
    this.#flow()
    try {
      return await feed.ask(method, params, minHeight)
    } finally {
      this.#asking = false
      this.#flow()
    }
  }

  /** Reads of the node while no event waits, or an answer that comes after them is wanted. */
  #flow(): void {
    if (this.#waiting && !this.#asking) this.#feed?.pause()
    else this.#feed?.resume()
  }

  #take(event: FedEvent): void {
    this.#queue.push(event)
    this.#queued += event.message.length
    if (this.#queued > mostQueued)
      this.#connection.fail(new RuleError('busy', 'too many events at once; connect again'))
    else if (!this.#passing) void this.#passAll()
  }

  #next(): FedEvent | undefined {
    const event = this.#queue.shift()
    this.#queued -= event?.message.length ?? 0
    return event
  }

  /** Passes on what has come, each event when it may be told. */
  async #passAll(): Promise<void> {
    this.#passing = true
    try {
      for (let event = this.#next(); event !== undefined; event = this.#next()) {
        for (let wait = this.#waitFor(event); wait !== undefined; wait = this.#waitFor(event)) {
          this.#waiting = true
          this.#flow()
          await wait
        }
        if (this.#isWanted(event)) this.#connection.notify(event.message)
      }
    } catch (error) {
      this.#connection.fail(error)
    }
    this.#passing = false
    this.#waiting = false
    this.#flow()
  }

  /** Why an event has to wait; undefined: it may be told. */
  #waitFor(event: FedEvent): Promise<void> | undefined {
    if (!this.#isWanted(event)) return undefined
    if (numberOf(event) > this.#begun) return new Promise((resolve) => (this.#answered = resolve))
    if (this.#connection.full) return this.#connection.room()
    const mark = markOf(event.params)
    return mark && this.#options.shown.until(mark)
  }

  /** Whether it is of a subscription that there is, or that is being answered: numbers rise, and an event may come with the answer. */
  #isWanted(event: FedEvent): boolean {
    const number = numberOf(event)
    if (this.#closed || !this.#connection.open) return false
    return number > this.#begun ? this.#answering : this.#numbers.has(number)
  }

  #ended(feed: NodeFeed, code: number, reason: string): void {
    if (this.#feed !== feed) return
    this.#feed = undefined
    if (this.#numbers.size === 0) return
    if (toldCodes.includes(code)) this.#connection.close(code, reason)
    else this.#connection.close(closeCode.badGateway, 'the node of these events is gone; connect again')
  }
}

function numberOf({ params: { subscription } }: FedEvent): number {
  return typeof subscription === 'number' ? subscription : 0
}
