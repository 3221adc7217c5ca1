import type { EventTopic } from '../../../base/primitives/chain-event.js'
import { displayHash } from '../../../base/primitives/bytes.js'
import { forEachCooperatively, nextTurn } from '../../../base/runtime/cooperative.js'
import type { DocumentCondition } from '../../../ledger/events/document-conditions.js'
import type { DocumentFollower } from '../../../ledger/events/document-events.js'
import { EventCursor, type StartPoint } from '../../../ledger/events/event-cursor.js'
import type { EventLog } from '../../../ledger/events/event-log.js'
import type { LedgerEvent } from '../../../ledger/events/ledger-event.js'
import type { SubscriptionStart } from '../rpc/method.js'
import type { ConnectionEvents, EventConnection, EventSource } from './event-source.js'
import { type EventSink, Subscription } from './subscription.js'

/** The events of the log of a node. A notification is serialized once for all its subscribers. */
export class LogEvents implements EventSource {
  readonly #log: EventLog
  readonly #subscriptions = new Set<Subscription>()
  readonly #distribute = () => this.#distributeSoon()
  #notifications = new Map<string, Buffer>()
  #distributing = false
  #moreToDistribute = false

  constructor(log: EventLog) {
    this.#log = log
    log.events.on('appended', this.#distribute)
  }

  of(connection: EventConnection): ConnectionEvents {
    return new LogSubscriptions(connection, {
      log: this.#log,
      subscriptions: this.#subscriptions,
      notification: (event, subscription) => this.#notification(event, subscription),
    })
  }

  look(): void {
    if (![...this.#subscriptions].some(({ replaying }) => replaying)) this.#log.blocks.clear()
  }

  close(): void {
    this.#log.events.off('appended', this.#distribute)
  }

  #distributeSoon(): void {
    this.#moreToDistribute = true
    if (!this.#distributing) void this.#distributeAll()
  }

  /** Sends new events to all subscriptions, a turn later: the chain has priority, and events of one moment are sent together. */
  async #distributeAll(): Promise<void> {
    this.#distributing = true
    while (this.#moreToDistribute) {
      await nextTurn()
      this.#moreToDistribute = false
      // Conditions on documents are held against a block together.
      await this.#log.documents.settle()
      await forEachCooperatively(this.#subscriptions, (subscription) => subscription.pump())
      this.#notifications = new Map()
    }
    this.#distributing = false
  }

  /** Most subscriptions are the first of their connection, so one message serves them all. */
  #notification(event: LedgerEvent, subscription: number): Buffer {
    const key = `${event.number} ${subscription}`
    const made = event.number === null ? undefined : this.#notifications.get(key)
    if (made !== undefined) return made
    const params = `{"subscription":${subscription},${event.text.slice(1)}`
    const message = Buffer.from(`{"jsonrpc":"2.0","method":"event","params":${params}}`)
    if (event.number !== null && this.#distributing) this.#notifications.set(key, message)
    return message
  }
}

/** Objects that the subscriptions of all connections share. */
interface SharedLog {
  readonly log: EventLog
  /** Those that receive new events. */
  readonly subscriptions: Set<Subscription>
  /** The message for an event. */
  notification(event: LedgerEvent, subscription: number): Buffer
}

/** Subscriptions of one connection to the log of a node. */
class LogSubscriptions implements ConnectionEvents, EventSink {
  readonly #connection: EventConnection
  readonly #shared: SharedLog
  readonly #subscriptions = new Map<number, Subscription>()
  readonly #new: Subscription[] = []
  #last = 0
  #replaying = false

  constructor(connection: EventConnection, shared: SharedLog) {
    this.#connection = connection
    this.#shared = shared
  }

  get size(): number {
    return this.#subscriptions.size
  }

  get open(): boolean {
    return this.#connection.open
  }

  get full(): boolean {
    return this.#connection.full
  }

  room(): Promise<void> {
    return this.#connection.room()
  }

  tell(event: LedgerEvent, subscription: number): void {
    this.#connection.notify(this.#shared.notification(event, subscription))
  }

  fail(error: unknown): void {
    this.#connection.fail(error)
  }

  subscribe(topics: readonly EventTopic[], start: StartPoint, condition?: DocumentCondition): SubscriptionStart {
    const { log } = this.#shared
    const documents = condition && log.documents.follow(condition, this.#connection.share)
    const cursor = cursorOf(log, topics, start, documents)
    const subscription = new Subscription(this.#last + 1, cursor, this, documents)
    this.#last++
    this.#subscriptions.set(subscription.id, subscription)
    this.#new.push(subscription)
    const { height, hash } = log.tip
    return { subscription: subscription.id, number: log.last, height, hash: displayHash(hash) }
  }

  unsubscribe(id: number): boolean {
    const subscription = this.#subscriptions.get(id)
    if (subscription === undefined) return false
    this.#subscriptions.delete(id)
    this.#end(subscription)
    return true
  }

  begin(): void {
    for (const subscription of this.#new.splice(0)) {
      // Ended in the same batch, or connection gone → no start.
      if (!this.open || !this.#subscriptions.has(subscription.id)) continue
      this.#shared.subscriptions.add(subscription)
      subscription.begin()
    }
    if (!this.#replaying) void this.#replayAll()
  }

  close(): void {
    for (const subscription of this.#subscriptions.values()) this.#end(subscription)
    this.#subscriptions.clear()
  }

  /**
   * Replays blocks of one subscription after the other. The client is waited for in between, where nothing is held that others need.
   */
  async #replayAll(): Promise<void> {
    this.#replaying = true
    const { blocks } = this.#shared.log
    try {
      for (let due = this.#due(); due.length > 0; due = this.#due()) {
        for (const subscription of due) {
          await this.room()
          if (!subscription.replaying) continue
          await blocks.inTurn(this.#connection.share, (yielder) => subscription.replay(yielder))
        }
      }
    } catch (error) {
      this.fail(error)
    }
    this.#replaying = false
  }

  #due(): Subscription[] {
    return [...this.#subscriptions.values()].filter(({ replaying }) => replaying)
  }

  #end(subscription: Subscription): void {
    subscription.end()
    this.#shared.subscriptions.delete(subscription)
  }
}

/** A cursor; one that has no start point follows no documents. */
function cursorOf(
  log: EventLog,
  topics: readonly EventTopic[],
  start: StartPoint,
  documents: DocumentFollower | undefined,
): EventCursor {
  try {
    return new EventCursor(log, topics, start, documents)
  } catch (error) {
    documents?.leave()
    throw error
  }
}
