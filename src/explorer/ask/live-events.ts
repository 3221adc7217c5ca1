import type { EventData } from '../../base/primitives/chain-event.js'
import { ask, nodeUrl } from './node-rpc.js'
import { Refusal } from './refusal.js'

/** Follows the chain over WebSocket; without one, because a proxy passes none, by asking for the tip. */

/** Source of news for the page: events arrive; it polls; or the node does not answer. */
export type LiveState = 'connecting' | 'live' | 'asking' | 'gone'

export interface LiveView {
  readonly state: LiveState
  /** Rises when answers may have changed. */
  readonly version: number
  readonly height: number | undefined
}

/** Milliseconds between two rises of the version: a thousand blocks of a devnet are one change. */
const restBetween = 400
/** Milliseconds between two questions for the tip, and the longest wait before the next connection. */
const pause = 3000
/** Milliseconds without an event after which the tip is asked for: a browser does not notice that a connection has silently ended. */
const silence = 30_000
/** Milliseconds that a question for the tip may take: a node that hangs takes connections, and answers none. */
const patience = 10_000

export class LiveEvents {
  #view: LiveView = { state: 'connecting', version: 0, height: undefined }
  #tip: string | undefined
  #socket: WebSocket | undefined
  #failures = 0
  /** Unix milliseconds of the last message of the connection, or of an answer that shows that none is missed. */
  #heard = 0
  #isChecking = false
  #rising: ReturnType<typeof setTimeout> | undefined
  #risen = 0
  readonly #watchers = new Set<() => void>()
  readonly #listeners = new Set<(event: EventData) => void>()

  get view(): LiveView {
    return this.#view
  }

  start(): void {
    this.#connect()
    // A browser stops timers of a page that is not seen: it asks as soon as it is seen again.
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible' && this.#view.state !== 'live') void this.#askTip()
    })
    setInterval(() => void (this.#view.state === 'live' ? this.#check() : this.#askTip()), pause)
  }

  /** Calls back on each change of the view; returns what ends that. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Calls back with each event; returns what ends that. */
  listen(listener: (event: EventData) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** To be called when a question found that the node does not answer. */
  reportGone(): void {
    if (this.#view.state === 'asking') this.#set({ state: 'gone' })
  }

  #connect(): void {
    const url = nodeUrl('ws')
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    const socket = opened(url)
    this.#socket = socket
    if (socket === undefined) return void this.#askTip()
    socket.onopen = () => {
      const params = { topics: ['block', 'transaction', 'did', 'credential'] }
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }))
    }
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(String(data)) as Message)
    socket.onclose = () => {
      if (this.#socket !== socket) return
      this.#failures++
      if (this.#view.state === 'live') this.#set({ state: 'asking' })
      void this.#askTip()
      setTimeout(() => this.#connect(), Math.min(pause, 250 * 2 ** this.#failures))
    }
  }

  /** Begins anew where a connection was silent while the chain moved on, or the node hangs. */
  async #check(): Promise<void> {
    const heard = this.#heard
    if (this.#isChecking || Date.now() - heard < silence) return
    this.#isChecking = true
    const state = await askPatiently<string>('getbestblockhash').then(
      (hash) => (hash === this.#tip ? 'live' : 'asking'),
      (error: unknown) => (error instanceof Refusal ? 'live' : 'gone'),
    )
    this.#isChecking = false
    if (this.#heard !== heard || this.#view.state !== 'live') return
    this.#heard = Date.now()
    if (state === 'live') return
    const silent = this.#socket
    this.#socket = undefined
    silent?.close()
    this.#set({ state })
    void this.#askTip()
    this.#connect()
  }

  #receive({ result, params }: Message): void {
    this.#heard = Date.now()
    if (result !== undefined) {
      this.#failures = 0
      this.#tip = result.hash
      this.#set({ state: 'live', height: result.height })
      // What happened while there was no connection is not known: everything may have changed.
      this.#rise()
    }
    if (params === undefined) return
    if (params.topic === 'block') {
      const height = params.action === 'apply' ? params.height : params.height - 1
      this.#tip = params.hash
      this.#view = { ...this.#view, height }
    }
    for (const listener of this.#listeners) listener(params)
    this.#rise()
  }

  async #askTip(): Promise<void> {
    try {
      const [height, hash] = await Promise.all([
        askPatiently<number>('getcurrentheight'),
        askPatiently<string>('getbestblockhash'),
      ])
      if (this.#view.state === 'live') return
      const changed = hash !== this.#tip || this.#view.state !== 'asking'
      this.#tip = hash
      this.#set({ state: 'asking', height })
      if (changed) this.#rise()
    } catch {
      if (this.#view.state !== 'live') this.#set({ state: 'gone' })
    }
  }

  /** Raises the version at once, or when the last rise is long enough ago. */
  #rise(): void {
    if (this.#rising !== undefined) return
    const wait = Math.max(0, this.#risen + restBetween - Date.now())
    this.#rising = setTimeout(() => {
      this.#rising = undefined
      this.#risen = Date.now()
      this.#set({ version: this.#view.version + 1 })
    }, wait)
  }

  #set(change: Partial<LiveView>): void {
    this.#view = { ...this.#view, ...change }
    for (const watcher of this.#watchers) watcher()
  }
}

/** A connection; undefined where the browser has none, or an extension or a policy forbids them. */
function opened(url: URL): WebSocket | undefined {
  try {
    return new WebSocket(url)
  } catch {
    return undefined
  }
}

function askPatiently<T>(method: string): Promise<T> {
  const aborter = new AbortController()
  const timer = setTimeout(() => aborter.abort(), patience)
  return ask<T>(method, {}, aborter.signal).finally(() => clearTimeout(timer))
}

interface Message {
  readonly result?: { readonly height: number; readonly hash: string }
  readonly params?: EventData
}

export const live = new LiveEvents()
