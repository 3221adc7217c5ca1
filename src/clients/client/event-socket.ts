import { UserError } from '../../base/errors/rule-error.js'
import { oneLine } from '../../base/runtime/visible-text.js'
import { NoAnswer } from './http.js'
import { unexpected } from '../../base/primitives/answer-form.js'
import { isObject } from '../../base/primitives/is-object.js'

/** The part of a WebSocket that a follower uses: that of a page, or of the package `ws`. */
export interface WebSocketLike {
  send(text: string): void
  close(): void
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void
  /** Ends the connection at once; of `ws` alone. */
  terminate?(): void
  /** Reads nothing until {@link resume}; of `ws` alone. */
  pause?(): void
  resume?(): void
}

export interface SocketEvent {
  readonly type: string
  readonly data?: unknown
  readonly code?: number
  readonly reason?: string
  readonly message?: string
}

export type WebSocketClass = new (url: string) => WebSocketLike

/** @limit bytes: a message of a node to a follower of events */
export const largestMessage = 1024 * 1024

interface EventSocketOptions {
  readonly WebSocket: WebSocketClass
  readonly url: string
  /** Parameters of the subscription. */
  readonly params: object
  /** Milliseconds without any message after which the node is asked whether it is there, and as many again for its answer. */
  readonly timeout: number
  /** Takes an answer or a notification; what it throws ends the connection. `length`: characters of its text. */
  onMessage(message: Readonly<Record<string, unknown>>, length: number): void
  /** Called once, unless {@link EventSocket.close} was called before. */
  onEnd(error: Error): void
}

/** Milliseconds in which an answer that has arrived is read. */
const lastLook = 100
/** Id of the request that subscribes; any other answers whether the node is there. */
export const subscribeId = 1
const subscribing = (params: object) => JSON.stringify({ jsonrpc: '2.0', id: subscribeId, method: 'subscribe', params })
const areYouThere = '{"jsonrpc":"2.0","id":2,"method":"getblockcount","params":{}}'

/** One connection for events. A connection whose other end is gone shows nothing of that, so it is asked. */
export class EventSocket {
  readonly #options: EventSocketOptions
  readonly #socket: WebSocketLike
  #timer: ReturnType<typeof setTimeout> | undefined
  #heard = performance.now()
  #begun = false
  #asked = false
  #overdue = false
  #paused = false
  #ended = false

  constructor(options: EventSocketOptions) {
    this.#options = options
    const { WebSocket, url, params } = options
    const socket = made(WebSocket, url)
    this.#socket = socket
    socket.addEventListener('open', () => {
      if (!this.#ended) socket.send(subscribing(params))
    })
    socket.addEventListener('message', ({ data }) => this.#receive(data))
    socket.addEventListener('error', ({ message }) => {
      this.#end(lost(`no events from ${url}${message === undefined ? '' : `: ${message}`}`))
    })
    socket.addEventListener('close', ({ code, reason = '' }) => {
      this.#end(lost(`the node at ${url} ended the connection: ${oneLine(reason) || `code ${code}`}`))
    })
    this.#watch(options.timeout)
  }

  /** Has the node wait with more events; false where the connection cannot. */
  pause(): boolean {
    if (this.#socket.pause === undefined || this.#socket.resume === undefined) return false
    this.#paused = true
    this.#socket.pause()
    return true
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#asked = false
    this.#overdue = false
    this.#heard = performance.now()
    this.#socket.resume?.()
  }

  close(): void {
    this.#ended = true
    clearTimeout(this.#timer)
    // The other end of a connection may be gone, and never answer that it closes.
    if (this.#socket.terminate === undefined) this.#socket.close()
    else this.#socket.terminate()
  }

  #end(error: Error): void {
    if (this.#ended) return
    this.close()
    this.#options.onEnd(error)
  }

  #receive(data: unknown): void {
    if (this.#ended) return
    this.#heard = performance.now()
    this.#begun = true
    this.#asked = false
    this.#overdue = false
    try {
      this.#options.onMessage(parsed(data), (data as string).length)
    } catch (error) {
      this.#end(error as Error)
    }
  }

  #watch(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#look(), milliseconds)
  }

  #look(): void {
    const { timeout, url } = this.#options
    const silent = performance.now() - this.#heard
    if (this.#paused || silent < timeout) {
      this.#watch(this.#paused ? timeout : timeout - silent)
    } else if ((!this.#begun || this.#asked) && !this.#overdue) {
      // A process that was busy, or a machine that slept, comes to its timers before it reads what has arrived.
      this.#overdue = true
      this.#watch(lastLook)
    } else if (this.#overdue) {
      this.#end(lost(`the node at ${url} did not answer within ${timeout / 1000} s`))
    } else {
      this.#asked = true
      this.#socket.send(areYouThere)
      this.#watch(timeout)
    }
  }
}

/** A page of HTTPS, for one, may not connect without TLS. */
function made(WebSocket: WebSocketClass, url: string): WebSocketLike {
  try {
    return new WebSocket(url)
  } catch (error) {
    throw new UserError(`no events from ${url}: ${(error as Error).message}`)
  }
}

const lost = (fact: string) => new NoAnswer(fact, { mayHaveArrived: false })

function parsed(data: unknown): Readonly<Record<string, unknown>> {
  if (typeof data !== 'string') throw unexpected('a message that is not text')
  if (data.length > largestMessage) throw unexpected(`a message with more than ${largestMessage} characters`)
  let message: unknown
  try {
    message = JSON.parse(data)
  } catch {
    throw unexpected('a message that is not JSON')
  }
  if (!isObject(message)) throw unexpected('a message that is not an object')
  return message
}
