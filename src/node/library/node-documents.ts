import { documentCondition } from '../../answers/resolver/document-condition.js'
import { defined } from '../../base/primitives/defined.js'
import { requireOptions } from '../../base/primitives/known-members.js'
import type { DocumentSelection } from '../../base/primitives/chain-event.js'
import { nextTurn } from '../../base/runtime/cooperative.js'
import { EventCursor } from '../../ledger/events/event-cursor.js'
import type { DocumentFollower } from '../../ledger/events/document-events.js'
import type { EventLog } from '../../ledger/events/event-log.js'
import type { DocumentEvent } from './node-types.js'

/** Share of the program around a node, beside those of client addresses. */
const ownShare = 'program'

/** Calls a listener with the events about some documents from now on; the returned function ends that. */
export function listenToDocuments(
  log: EventLog,
  selection: DocumentSelection,
  { call, fail }: { call(event: DocumentEvent): void; fail(error: unknown): void },
): () => void {
  requireOptions('documents', selection, ['query', 'service', 'credential', 'dids'])
  const { query, service, credential, dids } = selection
  const condition = documentCondition(true, defined({ query, service, credential, dids }))
  const follower = condition && log.documents.follow(condition, ownShare)
  if (follower === undefined) return () => {}
  return new DocumentListener(log, follower, call, fail).begin()
}

/** Passes the events of a cursor on, as they come. */
class DocumentListener {
  readonly #log: EventLog
  readonly #follower: DocumentFollower
  readonly #cursor: EventCursor
  readonly #call: (event: DocumentEvent) => void
  readonly #fail: (error: unknown) => void
  readonly #wake = () => void this.#pump()
  #pumping = false
  #more = false
  #ended = false

  constructor(
    log: EventLog,
    follower: DocumentFollower,
    call: (event: DocumentEvent) => void,
    fail: (error: unknown) => void,
  ) {
    this.#log = log
    this.#follower = follower
    this.#cursor = new EventCursor(log, ['documents'], { kind: 'now' }, follower)
    this.#call = call
    this.#fail = fail
  }

  begin(): () => void {
    this.#log.events.on('appended', this.#wake)
    return () => this.#end()
  }

  #end(): void {
    this.#ended = true
    this.#log.events.off('appended', this.#wake)
    this.#follower.leave()
  }

  async #pump(): Promise<void> {
    this.#more = true
    if (this.#pumping) return
    this.#pumping = true
    try {
      while (this.#more && !this.#ended) {
        this.#more = false
        await nextTurn()
        await this.#log.documents.settle()
        await this.#passOn()
      }
    } catch (error) {
      // The events after a gap would be misread.
      this.#end()
      this.#fail(error)
    }
    this.#pumping = false
  }

  async #passOn(): Promise<void> {
    while (!this.#ended) {
      const event = this.#cursor.take()
      if (event?.data.topic === 'documents') this.#call({ number: null, ...event.data })
      else if (!this.#cursor.lacking) return
      else await this.#cursor.load()
    }
  }
}
