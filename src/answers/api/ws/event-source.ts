import type { RuleError } from '../../../base/errors/rule-error.js'
import type { Subscriber } from '../rpc/method.js'

/** A connection, as events are sent over it. */
export interface EventConnection {
  readonly open: boolean
  /** Whether so much waits to be sent that events have to wait too. */
  readonly full: boolean
  /** Share under which its client is counted. */
  readonly share: string
  /** Resolves when it is not full any more, or not open. */
  room(): Promise<void>
  /** Sends a whole message. */
  notify(message: Buffer): void
  /** Ends it because a subscription cannot continue. */
  fail(error: unknown): void
  close(code: number, reason: string): void
}

/** The subscriptions of one connection. */
export interface ConnectionEvents extends Subscriber {
  /** How many there are. */
  readonly size: number
  /** Begins to send the events of those whose answers are on their way; called after each answer. */
  begin(): void
  /** Ends all; called once, when the connection is gone. */
  close(): void
}

/** Source of the events of all connections. */
export interface EventSource {
  /** Why no connection is taken; undefined: they are. */
  readonly refusal?: RuleError | undefined
  of(connection: EventConnection): ConnectionEvents
  /** Called each time the connections are pinged. */
  look(): void
  /** Ends all work; the connections are closed by then, or will be. */
  close(): void
}
