import type { EventCursor } from '../../events/event-cursor.js'
import type { LedgerEvent } from '../../events/ledger-event.js'
import type { Semaphore } from './semaphore.js'

/** A connection, as its subscriptions use it. */
export interface EventSink {
  readonly open: boolean
  /** Whether so much waits to be sent that events have to wait too. */
  readonly full: boolean
  /** Resolves when it is not full any more, or not open. */
  room(): Promise<void>
  tell(event: LedgerEvent, subscription: number): void
  /** Ends the connection because a subscription cannot go on. */
  fail(error: unknown): void
}

/** Sends the events of a cursor, as fast as the client reads them. */
export class Subscription {
  readonly id: number
  readonly #cursor: EventCursor
  readonly #outlet: EventSink
  readonly #replays: Semaphore
  #stage: 'waiting' | 'replaying' | 'live' | 'ended' = 'waiting'
  #waitsForRoom = false

  constructor(id: number, cursor: EventCursor, outlet: EventSink, replays: Semaphore) {
    this.id = id
    this.#cursor = cursor
    this.#outlet = outlet
    this.#replays = replays
  }

  /** Begins once the answer with the number of the subscription is on its way. */
  begin(): void {
    if (this.#stage !== 'waiting') return
    this.#stage = 'replaying'
    this.#replay().catch((error: unknown) => this.#outlet.fail(error))
  }

  /** Sends new events while there is room; fails the connection of a reader that is too slow. */
  pump(): void {
    if (this.#stage !== 'live') return
    try {
      this.#cursor.checkKept()
      while (this.#outlet.open && !this.#waitsForRoom) {
        if (this.#outlet.full) {
          this.#pumpLater()
          return
        }
        const event = this.#cursor.take()
        if (event === undefined) return
        this.#outlet.tell(event, this.id)
      }
    } catch (error) {
      this.#outlet.fail(error)
    }
  }

  end(): void {
    this.#stage = 'ended'
  }

  async #replay(): Promise<void> {
    while (this.#cursor.replaying && this.#active) {
      await this.#outlet.room()
      await this.#replays.run(() => this.#replayBlock())
    }
    if (!this.#active) return
    this.#stage = 'live'
    this.pump()
  }

  async #replayBlock(): Promise<void> {
    if (!this.#active) return
    for (const event of (await this.#cursor.replay()) ?? []) {
      if (this.#outlet.full) await this.#outlet.room()
      if (!this.#active) return
      this.#outlet.tell(event, this.id)
    }
  }

  get #active(): boolean {
    return this.#stage !== 'ended' && this.#outlet.open
  }

  #pumpLater(): void {
    this.#waitsForRoom = true
    void this.#outlet.room().then(() => {
      this.#waitsForRoom = false
      this.pump()
    })
  }
}
