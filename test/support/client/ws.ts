import { once } from 'node:events'
import { type ClientOptions, WebSocket } from 'ws'
import type { ToldEvent } from '../assert/chain-view.js'
import { Deadline } from '../process/patience.js'

export interface RpcAnswer {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data: string }
}

export interface Notification {
  readonly method: 'event'
  readonly params: ToldEvent & { readonly subscription: number }
}

/** The other side of a WebSocket: asks, and keeps what it is told. */
export class WsClient {
  readonly ws: WebSocket
  /** Whatever came that answers no question of {@link call}, in order. */
  readonly told: (Notification | RpcAnswer | RpcAnswer[])[] = []
  /** Resolves when the connection ends. */
  readonly closed: Promise<{ code: number; reason: string }>
  onEvent: (event: ToldEvent) => void = () => {}
  readonly #waiting = new Map<unknown, { resolve(answer: RpcAnswer): void; reject(error: Error): void }>()
  #changed: () => void = () => {}
  #lastId = 0
  #end: Error | undefined

  private constructor(ws: WebSocket) {
    this.ws = ws
    this.closed = new Promise((resolve) => {
      ws.once('close', (code, reason) => {
        resolve({ code, reason: reason.toString() })
        this.#end = new Error(`closed with ${code}: ${reason.toString()}`)
        for (const { reject } of this.#waiting.values()) reject(this.#end)
        this.#waiting.clear()
        this.#changed()
      })
    })
    ws.on('error', () => {})
    ws.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Notification | RpcAnswer))
  }

  static async open(url: string | number, options: ClientOptions = {}): Promise<WsClient> {
    const ws = new WebSocket(typeof url === 'number' ? `ws://127.0.0.1:${url}` : url, options)
    const client = new WsClient(ws)
    await once(ws, 'open')
    return client
  }

  /** The events so far, as they came. */
  get events(): Notification['params'][] {
    return this.told.flatMap((message) => ('method' in message ? [message.params] : []))
  }

  call(method: string, params?: unknown): Promise<RpcAnswer> {
    if (this.#end !== undefined) return Promise.reject(this.#end)
    const id = ++this.#lastId
    const answer = new Promise<RpcAnswer>((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    this.ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return answer
  }

  /** The result of a call that must succeed. */
  async result<T = unknown>(method: string, params?: unknown): Promise<T> {
    const { result, error } = await this.call(method, params)
    if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.data}`)
    return result as T
  }

  /** Waits until what was told fits; an error when it never does, or the connection ends before. */
  async until(fits: () => boolean): Promise<void> {
    const deadline = new Deadline()
    while (!fits()) {
      if (deadline.over || this.ws.readyState === WebSocket.CLOSED) {
        throw new Error(`still not after ${this.told.length} messages: ${fits.toString()}`)
      }
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        this.#changed = resolve
        timer = setTimeout(resolve, 100)
      })
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    this.ws.close()
    await this.closed
  }

  #take(message: Notification | RpcAnswer): void {
    const waiting = 'id' in message ? this.#waiting.get(message.id) : undefined
    if (waiting === undefined) this.told.push(message)
    else {
      this.#waiting.delete((message as RpcAnswer).id)
      waiting.resolve(message as RpcAnswer)
    }
    if ('method' in message) this.onEvent(message.params)
    this.#changed()
  }
}
