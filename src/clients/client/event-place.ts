import type { DocumentSelection, EventData, EventTopic, Numbered } from '../../base/primitives/chain-event.js'
import { asInteger, asText, listOf, optional, type Reader, unexpected } from '../../base/primitives/answer-form.js'

/** Start of a follower: the block of a height, after a block, after the event of a number, or the next event. */
export type EventsFrom = { readonly fromHeight?: number } | { readonly afterBlock: string } | { readonly after: number }

/**
 * Transactions that the pool took were not told: the node was started again, or keeps these events no longer. Events of blocks are
 * complete.
 */
export interface EventGap {
  readonly topic: 'gap'
  readonly missed: 'transaction'
}

export type FollowedEvent = Numbered<EventData> | EventGap

/** Position of the event log when a subscription began. */
export interface EventsBegin {
  /** Number of the last event. */
  readonly number: number
  /** The block to which the events so far led. */
  readonly height: number
  readonly hash: string
}

/** An event with the length of its message. */
export interface ToldEvent {
  readonly event: FollowedEvent
  readonly length: number
}

/**
 * A block has 8 MB and 10 000 transactions at most, and each makes one event.
 * @limit characters: events of one block that a follower collects
 */
export const largestBlock = 16 * 1024 * 1024

/**
 * How far events were followed, over connections that end. Events of a block are held until the last of them, that of the block itself,
 * is there: so only whole blocks are told, and a connection that ends within one leaves nothing to take back.
 */
export class EventPlace {
  readonly #topics: ReadonlySet<string>
  readonly #documents: DocumentSelection
  #from: EventsFrom
  /** Number of the last event of this run of the node. */
  #number: number | undefined
  #held: ToldEvent[] = []
  #heldLength = 0

  constructor(topics: readonly EventTopic[], from: EventsFrom, documents: DocumentSelection = {}) {
    this.#topics = new Set(topics)
    this.#documents = documents
    this.#from = from
    if ('after' in from) this.#number = from.after
  }

  /** Parameters of the next subscription. */
  get request(): object {
    // Only the event of a block says that all of its events have come.
    const topics = [...new Set([...this.#topics, 'block'])]
    return { topics, ...this.#documents, ...(this.#number === undefined ? this.#from : { after: this.#number }) }
  }

  /** The node begins to send. */
  begin({ number, hash }: EventsBegin): void {
    if (this.#number !== undefined) {
      // Events about documents have no numbers, and are sent again with their block.
      const rest = this.#held.filter(({ event: { topic } }) => topic !== 'documents')
      this.#forgetHeld()
      for (const told of rest) this.#hold(told)
      return
    }
    this.#forgetHeld()
    if (Object.values(this.#from).some((value) => value !== undefined)) return
    this.#from = { afterBlock: hash }
    this.#number = number
  }

  /**
   * Continues after the last block, once the node refused the number of an event; false if no block is known. Returns the events to
   * tell of that.
   */
  renumber(): readonly ToldEvent[] | false {
    if (this.#number === undefined || 'after' in this.#from) return false
    this.#number = undefined
    this.#forgetHeld()
    return this.#topics.has('transaction') ? [{ event: { topic: 'gap', missed: 'transaction' }, length: 0 }] : []
  }

  /** Takes an event; returns those that can be told now. */
  take({ subscription: _, ...told }: Readonly<Record<string, unknown>>, length: number): readonly ToldEvent[] {
    const event = requireEvent(told)
    if (event.number !== null) this.#number = event.number
    const whole = { event, length }
    if (event.topic === 'transaction') return this.#topics.has('transaction') ? [whole] : []
    if (event.topic !== 'block') {
      this.#hold(whole)
      return []
    }
    this.#from = { afterBlock: event.action === 'apply' ? event.hash : event.previousblockhash }
    const all = [...this.#held, whole].filter(({ event: { topic } }) => this.#topics.has(topic))
    this.#forgetHeld()
    return all
  }

  #hold(told: ToldEvent): void {
    this.#heldLength += told.length
    if (this.#heldLength > largestBlock) {
      throw unexpected(`events of one block with more than ${largestBlock} characters`)
    }
    this.#held.push(told)
  }

  #forgetHeld(): void {
    this.#held = []
    this.#heldLength = 0
  }
}

/** Members of an event by topic, beside topic, action and number. */
const membersOf: Readonly<Record<EventTopic, Readonly<Record<string, Reader<unknown>>>>> = {
  block: { height: asInteger, hash: asText, previousblockhash: asText, time: asInteger, transactions: asInteger },
  did: { did: asText, operation: asText, txid: asText, height: asInteger, blockhash: asText },
  credential: { id: asText, operation: asText, signer: asText, txid: asText, height: asInteger, blockhash: asText },
  documents: {
    change: asText,
    height: asInteger,
    blockhash: asText,
    did: optional(asText),
    operation: optional(asText),
    txid: optional(asText),
  },
  transaction: { txid: asText, type: asInteger, size: asInteger, fee: asText, replaces: optional(listOf(asText)) },
}

/** The event of a notification; members that a later version adds are kept. */
function requireEvent(told: Readonly<Record<string, unknown>>): Numbered<EventData> {
  const { topic, action, number } = told
  if (typeof topic !== 'string' || !Object.hasOwn(membersOf, topic)) throw unexpected('an event of an unknown topic')
  if (action !== 'apply' && action !== 'revert') throw unexpected(`action of a ${topic} event`)
  if (number !== null) asInteger(number, `number of a ${topic} event`)
  for (const [name, read] of Object.entries(membersOf[topic as EventTopic]))
    read(told[name], `${name} of a ${topic} event`)
  return told as unknown as Numbered<EventData>
}
