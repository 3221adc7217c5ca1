import type { DocumentFollower } from '../../../ledger/events/document-events.js'
import type { EventCursor } from '../../../ledger/events/event-cursor.js'
import type { LedgerEvent } from '../../../ledger/events/ledger-event.js'
import type { Yielder } from '../../../base/runtime/cooperative.js'

/** A connection, as its subscriptions use it. */
export interface EventSink {
  readonly open: boolean
  /** Whether so much waits to be sent that events have to wait too. */
  readonly full: boolean
  /** Resolves when it is not full any more, or not open. */
  room(): Promise<void>
  tell(event: LedgerEvent, subscription: number): void
  /** Ends the connection because a subscription cannot continue. */
  fail(error: unknown): void
}

/** Sends the events of a cursor, as fast as the client reads them. */
export class Subscription {
  readonly id: number
  readonly #cursor: EventCursor
  readonly #outlet: EventSink
  readonly #documents: DocumentFollower | undefined
  #stage: 'waiting' | 'replaying' | 'live' | 'ended' = 'waiting'
  /** For room, or for events about documents. */
  #waits = false

  /** `documents`: the condition that the cursor follows; left at the end. */
  constructor(id: number, cursor: EventCursor, outlet: EventSink, documents?: DocumentFollower) {
    this.id = id
    this.#cursor = cursor
    this.#outlet = outlet
    this.#documents = documents
  }

  /** Whether events of stored blocks come first. */
  get replaying(): boolean {
    return this.#stage === 'replaying' && this.#outlet.open
  }

  /** Begins once the answer with the number of the subscription is on its way. */
  begin(): void {
    if (this.#stage !== 'waiting') return
    this.#stage = this.#cursor.replaying ? 'replaying' : 'live'
    this.pump()
  }

  /** Sends events of stored blocks for the rest of a slice, or as many as the client has room for; the others are read again later. */
  async replay(yielder: Yielder): Promise<void> {
    // A client that has left while it waited for its turn needs none.
    while (this.replaying) {
      const events = await this.#cursor.replay()
      if (!this.replaying) return
      if (events === undefined) {
        this.#stage = 'live'
        return this.pump()
      }
      await this.#sendSome(events, yielder)
      if (this.#outlet.full || yielder.over) return
    }
  }

  /** Sends new events while there is room; fails the connection of a reader that is too slow. */
  pump(): void {
    if (this.#stage !== 'live') return
    try {
      this.#cursor.checkKept()
      while (this.#outlet.open && !this.#waits) {
        if (this.#outlet.full) {
          this.#pumpLater()
          return
        }
        const event = this.#cursor.take()
        if (event === undefined) {
          if (this.#cursor.lacking) this.#pumpAfter(this.#cursor.load())
          return
        }
        this.#outlet.tell(event, this.id)
      }
    } catch (error) {
      this.#outlet.fail(error)
    }
  }

  end(): void {
    this.#stage = 'ended'
    this.#documents?.leave()
  }

  async #sendSome(events: readonly LedgerEvent[], yielder: Yielder): Promise<void> {
    for (const [at, event] of events.entries()) {
      if (!this.replaying) return
      // While the client is waited for, nothing of the block is held.
      if (this.#outlet.full) return this.#cursor.putBack(events.length - at)
      this.#outlet.tell(event, this.id)
      if (yielder.over) await yielder.next()
    }
  }

  #pumpLater(): void {
    // While the client is waited for, nothing of a block is held.
    this.#cursor.release()
    this.#pumpAfter(this.#outlet.room())
  }

  #pumpAfter(ready: Promise<void>): void {
    this.#waits = true
    const goOn = () => {
      this.#waits = false
      this.pump()
    }
    void ready.then(goOn, (error: unknown) => {
      if (this.#stage === 'live') this.#outlet.fail(error)
    })
  }
}
