import { WebSocket, type RawData } from 'ws'
import { isObject } from '../../../base/primitives/is-object.js'
import { defined } from '../../../base/primitives/defined.js'
import { nodePatience, PassedError } from '../http/passed-on.js'
import { unanswered } from '../http/unanswered.js'

/** @tuning bytes: a message of a node: an event, or the answer to a subscription */
const largestMessage = 256 * 1024

/** A notification of a node, as it came. */
export interface FedEvent {
  readonly message: Buffer
  readonly params: Readonly<Record<string, unknown>>
}

/** Receiver of what a node sends. */
export interface FeedListener {
  event(event: FedEvent): void
  /** Called once, after which nothing follows; not after {@link NodeFeed.close}. */
  ended(code: number, reason: string): void
}

/** A question under way. */
interface Asked {
  readonly id: number
  resolve(result: unknown): void
  reject(error: Error): void
}

/** A WebSocket to a node, for the subscriptions of one client. Questions follow one another: one is under way at most. */
export class NodeFeed {
  readonly #ws: WebSocket
  readonly #listener: FeedListener
  #asked: Asked | undefined
  #lastId = 0
  /** Whether anything was received since the last ping. */
  #alive = true
  #paused = false
  #closed = false

  /** `url`: base URL of the REST port of the node. */
  constructor(url: string, listener: FeedListener) {
    this.#listener = listener
    this.#ws = new WebSocket(`${url.replace(/^http/i, 'ws')}/ws`, {
      handshakeTimeout: nodePatience,
      maxPayload: largestMessage,
      perMessageDeflate: false,
    })
    this.#ws.on('message', (data, isBinary) => this.#receive(data, isBinary))
    this.#ws.on('ping', () => (this.#alive = true))
    this.#ws.on('pong', () => (this.#alive = true))
    // Followed by a close.
    this.#ws.on('error', () => {})
    this.#ws.on('close', (code, reason) => this.#end(code, reason.toString()))
  }

  /** Resolves once the node has taken the connection; rejects with `followed-unreachable`. */
  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#ws.once('open', resolve)
      this.#ws.once('close', () => reject(unanswered('it does not answer', 'none')))
    })
  }

  /**
   * Result of a call at a height or above; rejects with the PassedError of the node, or `followed-unreachable` where there is no answer, after
   * which the connection is over.
   */
  ask(method: string, params: unknown, minHeight?: number): Promise<unknown> {
    const id = ++this.#lastId
    const answer = new Promise<unknown>((resolve, reject) => (this.#asked = { id, resolve, reject }))
    this.#ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params, ...defined({ minHeight }) }))
    const overdue = setTimeout(() => this.#ws.terminate(), nodePatience)
    return answer.finally(() => clearTimeout(overdue))
  }

  /** Has the node wait with more events. What has arrived by now is still told. */
  pause(): void {
    if (this.#paused) return
    this.#paused = true
    this.#ws.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#alive = true
    this.#ws.resume()
  }

  /** Sends a ping, which keeps the node from ending a connection that is paused; ends one on which nothing came since the last. */
  ping(): void {
    if (this.#ws.readyState !== WebSocket.OPEN) return
    if (!this.#alive && !this.#paused) {
      this.#ws.terminate()
      return
    }
    this.#alive = false
    this.#ws.ping()
  }

  /** Ends it at once. */
  close(): void {
    this.#closed = true
    this.#ws.terminate()
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#alive = true
    const message = data as Buffer
    const content = isBinary ? undefined : parsed(message)
    if (isObject(content) && content['method'] === 'event' && isObject(content['params'])) {
      if (!this.#closed) this.#listener.event({ message, params: content['params'] })
    } else if (isObject(content) && this.#asked !== undefined && content['id'] === this.#asked.id) {
      const { resolve, reject } = this.#asked
      this.#asked = undefined
      if (isObject(content['error'])) reject(new PassedError(content['error']))
      else resolve(content['result'])
    } else this.#ws.terminate()
  }

  #end(code: number, reason: string): void {
    this.#asked?.reject(unanswered('it does not answer', 'none'))
    this.#asked = undefined
    if (this.#closed) return
    this.#closed = true
    this.#listener.ended(code, reason)
  }
}

function parsed(message: Buffer): unknown {
  try {
    return JSON.parse(message.toString())
  } catch {
    return undefined
  }
}
