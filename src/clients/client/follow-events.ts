/**
 * Follows the events of a node over connections that end: each once, in order, as fast as they are read.
 *
 *   next() -> EventSocket: subscribe from EventPlace -> EventPlace.take -> queue -> next()
 *   connection ends -> queue is read -> wait -> EventSocket anew, from where EventPlace is
 *   queue full -> connection pauses, or ends where it cannot (a page), until the queue is read
 */
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import type { Code } from '../../base/errors/error-codes.js'
import {
  type DocumentSelection,
  type EventTopic,
  eventTopics,
  subscribedTopics,
} from '../../base/primitives/chain-event.js'
import { requireKnown } from '../../base/primitives/known-members.js'
import { nodeCrypto } from '../../base/runtime/node-crypto.js'
import { oneLine } from '../../base/runtime/visible-text.js'
import { longestTimer, optional, requireObject, requireWhole } from './arguments.js'
import { EventPlace, type EventsBegin, type EventsFrom, type FollowedEvent, type ToldEvent } from './event-place.js'
import { EventSocket, largestMessage, subscribeId, type WebSocketClass } from './event-socket.js'
import { NoAnswer } from './http.js'
import { webSocketUrl } from './node-url.js'
import { asInteger, asText, objectOf } from '../../base/primitives/answer-form.js'
import { isObject } from '../../base/primitives/is-object.js'

export interface FollowOptions {
  /** Address of the WebSocket interface: `ws://127.0.0.1:20335`, or `ws://127.0.0.1:20334/ws` of the REST port. */
  readonly url: string
  /** Topics to tell; all that are told without a condition when absent, and `documents` where they are selected. */
  readonly topics?: readonly EventTopic[]
  /** The documents that the topic `documents` is about. */
  readonly documents?: DocumentSelection
  /** Start point; the next event when absent. */
  readonly from?: EventsFrom
  /** Ends it at once: the iteration is done then. */
  readonly signal?: AbortSignal
  /** Milliseconds without a message after which the node is asked whether it is there, and as many for its answer; 30 000 by default. */
  readonly timeout?: number
  /** Called each time the node begins to send, the first time and after each loss. */
  onBegin?(at: EventsBegin): void
  /** Called when a connection ended that had begun, before the first attempt to make another. */
  onLost?(error: UserError): void
  /** Makes connections; by default the class of the page, under Node that of the package `ws`. */
  readonly WebSocket?: WebSocketClass
}

/** @tuning ms: silence after which a follower asks the node whether it is there */
const silence = 30_000
/** @tuning characters: messages that wait for the reader; then the node has to wait */
export const mostWaiting = 1024 * 1024
/** Milliseconds before the first attempt after a loss, and the longest wait: each attempt doubles it. */
const [firstPause, longestPause] = [250, 15_000]

/** Codes of this package by the code of a refusal. */
const codeOf: Readonly<Record<number, Code>> = {
  [-32602]: 'request-parameter',
  [-32004]: 'unknown-block',
  [-32005]: 'busy',
  [-32006]: 'event-gone',
  [-32021]: 'pruned',
  [-32024]: 'overloaded',
}

const optionNames: Readonly<Record<keyof FollowOptions, true>> = {
  url: true,
  topics: true,
  documents: true,
  from: true,
  signal: true,
  timeout: true,
  onBegin: true,
  onLost: true,
  WebSocket: true,
}

/**
 * The events of a node, one by one, for as long as they are read. It connects when it is first read, and again after each loss, with the
 * event after the last one. Next throws a {@link UserError} if the node is not reached at first, and the RuleError of a node that
 * refuses; `unknown-block` and `event-gone` where it no longer has the block or event to begin after.
 */
export function followEvents(options: FollowOptions): AsyncGenerator<FollowedEvent, void, undefined> {
  return new Follower(checked(options)).events()
}

type CheckedOptions = FollowOptions & Required<Pick<FollowOptions, 'topics' | 'from' | 'timeout'>>

class Follower {
  readonly #options: CheckedOptions
  readonly #place: EventPlace
  readonly #queue: ToldEvent[] = []
  #waiting = 0
  #socket: EventSocket | undefined
  #hasBegun = false
  /** Ends of connections since one began. */
  #losses = 0
  #lost: UserError | undefined
  #failure: Error | undefined
  #wake: () => void = () => {}

  constructor(options: CheckedOptions) {
    this.#options = options
    this.#place = new EventPlace(options.topics, options.from, options.documents)
  }

  async *events(): AsyncGenerator<FollowedEvent, void, undefined> {
    const { signal } = this.#options
    const leave = () => {
      this.#leave()
      this.#wake()
    }
    signal?.addEventListener('abort', leave, { once: true })
    try {
      while (signal?.aborted !== true) {
        const told = this.#queue.shift()
        if (told !== undefined) {
          this.#waiting -= told.length
          if (this.#waiting * 2 < mostWaiting) this.#socket?.resume()
          yield told.event
        } else if (this.#failure !== undefined) throw this.#failure
        else if (this.#socket === undefined) await this.#connect()
        else await this.#news()
      }
    } finally {
      signal?.removeEventListener('abort', leave)
      this.#leave()
    }
  }

  /** Connects, after a pause if a connection was lost. */
  async #connect(): Promise<void> {
    const { signal, url, timeout, onLost } = this.#options
    const lost = this.#lost
    if (lost !== undefined) {
      if (this.#losses === 1) onLost?.(lost)
      await this.#news(pauseAfter(this.#losses))
    }
    const WebSocket = this.#options.WebSocket ?? (await usualWebSocket())
    if (signal?.aborted === true) return
    this.#socket = new EventSocket({
      ...{ WebSocket, url, timeout, params: this.#place.request },
      onMessage: (message, length) => this.#take(message, length),
      onEnd: (error) => {
        this.#socket = undefined
        this.#note(error)
        this.#wake()
      },
    })
  }

  /** Resolves when something has changed, or after so many milliseconds. */
  async #news(milliseconds?: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (milliseconds !== undefined) timer = setTimeout(resolve, milliseconds)
    })
    clearTimeout(timer)
  }

  #leave(): void {
    this.#socket?.close()
    this.#socket = undefined
  }

  /** Notes why a connection ended: a loss that another connection may make good, or the end of all. */
  #note(error: Error): void {
    const passes = error instanceof NoAnswer || (error instanceof RuleError && error.code === 'busy')
    if (!passes || !this.#hasBegun) {
      this.#failure = error
      return
    }
    this.#lost = error as UserError
    this.#losses++
  }

  #take({ id, result, error, method, params }: Readonly<Record<string, unknown>>, length: number): void {
    if (id === subscribeId && isObject(error)) {
      if (error['code'] === -32006) return this.#renumber(error)
      throw refusal(error)
    }
    if (id === subscribeId) return this.#begin(beginOf(result, 'the answer to subscribe'))
    if (method !== 'event' || !isObject(params)) return
    this.#give(this.#place.take(params, length))
    if (this.#waiting <= mostWaiting || this.#socket?.pause() !== false) return
    // Nothing is lost: what was read so far is told first, and then the node is asked for the next.
    this.#leave()
  }

  #begin(at: EventsBegin): void {
    this.#place.begin(at)
    this.#hasBegun = true
    this.#losses = 0
    this.#lost = undefined
    this.#options.onBegin?.(at)
  }

  /** The node does not keep the number: the next connection begins after the last block. */
  #renumber(error: Readonly<Record<string, unknown>>): void {
    const told = this.#place.renumber()
    if (told === false) throw refusal(error)
    this.#leave()
    this.#lost = undefined
    this.#give(told)
    this.#wake()
  }

  #give(told: readonly ToldEvent[]): void {
    for (const one of told) {
      this.#queue.push(one)
      this.#waiting += one.length
    }
    if (told.length > 0) this.#wake()
  }
}

/** Milliseconds before another attempt; not the same for all who lost a node at the same moment. */
function pauseAfter(losses: number): number {
  return Math.min(longestPause, firstPause * 2 ** (losses - 1)) * (0.5 + Math.random() / 2)
}

const beginOf = objectOf<EventsBegin>({ number: asInteger, height: asInteger, hash: asText })

function refusal({ code, message, data }: Readonly<Record<string, unknown>>): RuleError {
  const [reason = 'no reason is given'] = [data, message].filter((text) => typeof text === 'string' && text !== '')
  return new RuleError(codeOf[Number(code)] ?? 'internal', oneLine(reason as string))
}

/** The class of WebSockets here: that of the package `ws` under Node, else that of the page. */
async function usualWebSocket(): Promise<WebSocketClass> {
  const own = (globalThis as { readonly WebSocket?: WebSocketClass }).WebSocket
  // A name in a variable: bundlers for pages would look for the package.
  const name = 'ws'
  const loaded =
    nodeCrypto &&
    ((await import(/* webpackIgnore: true */ /* @vite-ignore */ name).catch(() => undefined)) as
      | { readonly WebSocket: new (url: string, options: object) => InstanceType<WebSocketClass> }
      | undefined)
  if (loaded !== undefined) {
    return class extends loaded.WebSocket {
      constructor(url: string) {
        super(url, { maxPayload: largestMessage, perMessageDeflate: false })
      }
    }
  }
  if (own !== undefined) return own
  throw new UserError('there is no WebSocket here: install the package ws, or give a class as the option WebSocket')
}

function checked(options: FollowOptions): CheckedOptions {
  const given = requireObject('followEvents: an object with url and other options is needed', options)
  requireKnown('followEvents', given, Object.keys(optionNames))
  const { url, documents, from = {}, signal, timeout = silence, onBegin, onLost, WebSocket } = given
  const { topics = documents === undefined ? eventTopics : [...eventTopics, 'documents' as const] } = given
  requireTopics(topics)
  requireSelection(topics, documents)
  requireStart(from)
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new UserError('signal: an AbortSignal is needed')
  for (const [name, value] of Object.entries({ onBegin, onLost, WebSocket })) {
    if (value !== undefined && typeof value !== 'function') throw new UserError(`${name}: a function is needed`)
  }
  requireWhole('timeout', timeout, [1, longestTimer])
  return { ...given, url: webSocketUrl('url', url), topics, from, timeout }
}

function requireTopics(topics: readonly EventTopic[]): void {
  const known: readonly unknown[] = subscribedTopics
  if (Array.isArray(topics) && topics.length > 0 && topics.every((topic) => known.includes(topic))) return
  throw new UserError(`topics: a list of ${subscribedTopics.join(', ')} is needed`)
}

/** The node judges the condition; here only that there is one, and for this topic. */
function requireSelection(topics: readonly EventTopic[], documents: DocumentSelection | undefined): void {
  if (documents === undefined && !topics.includes('documents')) return
  const names = ['query', 'service', 'credential', 'dids']
  if (documents === undefined) throw new UserError(`documents: an object with one of ${names.join(', ')} is needed`)
  const given = requireObject('documents: an object is needed', documents)
  requireKnown('documents', given, names)
  if (!topics.includes('documents')) throw new UserError('documents: only with the topic documents')
}

function requireStart(from: EventsFrom): void {
  requireObject('from: an object with fromHeight, afterBlock or after is needed', from)
  requireKnown('from', from, ['fromHeight', 'afterBlock', 'after'])
  const { fromHeight, afterBlock, after }: Partial<Record<string, unknown>> = { ...from }
  if ([fromHeight, afterBlock, after].filter((value) => value !== undefined).length > 1) {
    throw new UserError('from: only one of fromHeight, afterBlock and after can be followed')
  }
  optional(fromHeight as number | undefined, (height) => requireWhole('from.fromHeight', height, [0, 2 ** 32 - 1]))
  optional(after as number | undefined, (number) => requireWhole('from.after', number, [0, Number.MAX_SAFE_INTEGER]))
  if (afterBlock !== undefined && (typeof afterBlock !== 'string' || !/^[0-9a-f]{64}$/.test(afterBlock))) {
    throw new UserError('from.afterBlock: the hash of a block is needed, 64 lowercase hex digits')
  }
}
