import type { Duplex } from 'node:stream'
import { WebSocket, type RawData } from 'ws'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { DocumentCondition } from '../../../ledger/events/document-conditions.js'
import type { StartPoint } from '../../../ledger/events/event-cursor.js'
import type { EventTopic } from '../../../base/primitives/chain-event.js'
import type { Log } from '../../../base/runtime/env.js'
import type { ApiLimits } from '../api-limits.js'
import { withoutMark } from '../http/body-budget.js'
import { idleRanks } from '../http/connections.js'
import { ruleErrorOf } from '../http/failures.js'
import type { HeightGate } from '../http/height-gate.js'
import type { RpcCaller, Subscriber, SubscriptionStart } from '../rpc/method.js'
import type { RpcCore } from '../rpc/rpc-core.js'
import { type AnswerStream, beginningOf } from '../streams/answer-stream.js'
import type { RequestRate } from '../http/request-rate.js'
import type { ConnectionEvents, EventConnection, EventSource } from './event-source.js'

/** Close codes of a connection. */
export const closeCode = { goingAway: 1001, unsupported: 1003, tryLater: 1013, badGateway: 1014 } as const

/** Objects that all connections of a server share. */
export interface Shared {
  readonly core: RpcCore
  readonly events: Pick<EventSource, 'of'>
  readonly limits: ApiLimits
  readonly heights: HeightGate
  readonly log: Log
  readonly rate: RequestRate
  /** Bytes of messages and answers in memory. */
  readonly held: { bytes: number }
  /** Ends connections whose clients do not read until these bytes are within their bound; whether they are. */
  makeRoom(): boolean
}

/** The client of a connection. */
export interface WsClient {
  /** Share under which its requests and connections are counted. */
  readonly share: string
  /** Whether it is on this machine. */
  readonly local: boolean
  readonly access: Omit<RpcCaller, 'subscriber' | 'client'>
}

/** One WebSocket: requests answered one after another, and events. */
export class WsConnection implements Subscriber, EventConnection {
  readonly #ws: WebSocket
  readonly #socket: Duplex
  readonly #shared: Shared
  readonly share: string
  readonly #local: boolean
  readonly #caller: RpcCaller
  readonly #messages: Buffer[] = []
  readonly #events: ConnectionEvents
  #answering = false
  #lastMessage = performance.now()
  /** Whether anything was received since the last ping. */
  #alive = true
  /** Bytes received since the last whole message. */
  #unfinished = 0
  /** Bytes of unanswered messages, and of unsent answers. */
  #waiting = 0
  /** The part of these that is counted in the total of all connections. */
  #counted = 0
  #dropped = false
  #waitForRoom: Promise<void> | undefined
  /** The same at the last ping, and at how many pings in a row it has been that one. */
  #waitAtPing: { readonly wait: Promise<void>; readonly pings: number } | undefined
  #corked = false
  /** Settles when the answer whose first parts are sent is complete: no other message may come between. */
  #parts: Promise<void> | undefined
  readonly #gone = new AbortController()

  constructor(ws: WebSocket, socket: Duplex, peer: WsClient, shared: Shared) {
    this.#ws = ws
    this.#socket = socket
    this.#shared = shared
    this.share = peer.share
    this.#local = peer.local
    this.#events = shared.events.of(this)
    const client = { share: peer.share, signal: this.#gone.signal }
    // A copy would ask for each refusal, which reports it.
    this.#caller = Object.assign(peer.access, {
      ...{ client, subscriber: this },
      awaitHeight: async (height: number, held: number) => shared.heights.wait(height, () => client, held),
    })
    ws.on('message', (data, isBinary) => this.#receive(data, isBinary))
    ws.on('pong', () => (this.#alive = true))
    ws.on('ping', () => (this.#alive = true))
    ws.on('error', (error) => shared.log.debug({ error: error.message }, 'a WebSocket was closed for what it sent'))
    ws.on('close', () => this.#closed())
    socket.on('data', (chunk: Buffer) => this.#count(chunk.length))
  }

  get open(): boolean {
    return this.#ws.readyState === WebSocket.OPEN
  }

  /** How expendable it is: whether it receives events, and when its last request arrived. */
  get idle(): { readonly rank: number; readonly since: number } {
    const { told, untold } = idleRanks
    return { rank: this.#events.size > 0 || this.#answering ? told : untold, since: this.#lastMessage }
  }

  get full(): boolean {
    return this.#parts !== undefined || this.#congested
  }

  async room(): Promise<void> {
    while (this.open && this.full) await (this.#parts ?? this.#drained())
  }

  /** Events of one moment leave in one write: each write takes memory beside its bytes. */
  notify(message: Buffer): void {
    if (!this.#corked) {
      this.#corked = true
      this.#socket.cork()
      process.nextTick(() => {
        this.#corked = false
        this.#socket.uncork()
      })
    }
    this.#ws.send(message, { binary: false })
  }

  fail(error: unknown): void {
    const { log } = this.#shared
    if (error instanceof RuleError) {
      this.close(closeCode.tryLater, `${error.code}: ${error.message}`)
      return
    }
    log.error({ error: String(error) }, 'events cannot be told')
    this.close(closeCode.tryLater, 'the node cannot tell more events; its log says why')
  }

  subscribe(topics: readonly EventTopic[], start: StartPoint, condition?: DocumentCondition): SubscriptionStart {
    const { limits } = this.#shared
    if (this.#events.size >= limits.wsSubscriptions) {
      throw new RuleError('subscription-limit', `${limits.wsSubscriptions} subscriptions; end one of them first`)
    }
    return this.#events.subscribe(topics, start, condition)
  }

  unsubscribe(id: number): boolean {
    return this.#events.unsubscribe(id)
  }

  /** Sends a ping; closes a connection from which nothing was received since the last one, or that takes nothing of what it is sent. */
  ping(): void {
    // A connection paused until its requests are answered is not read.
    const paused = this.#ws.isPaused && !this.full
    if ((!this.#alive && !paused) || this.#isStuck()) {
      this.#ws.terminate()
      return
    }
    this.#alive = false
    if (this.open) this.#ws.ping()
  }

  /** Whether the client has taken nothing between this ping and the last but one, however much it has sent itself. */
  #isStuck(): boolean {
    const wait = this.#waitForRoom
    const before = this.#waitAtPing?.wait === wait ? this.#waitAtPing : undefined
    this.#waitAtPing = wait && { wait, pings: (before?.pings ?? 0) + 1 }
    return (this.#waitAtPing?.pings ?? 0) > 2
  }

  /** Closes with a reason, cut to the length that the protocol allows. */
  close(code: number, reason: string): void {
    if (!this.open) return
    this.#ws.close(code, Buffer.from(reason).subarray(0, reasonSize))
    this.#messages.length = 0
  }

  terminate(): void {
    this.#ws.terminate()
  }

  /** Bytes counted among those of all connections. */
  get held(): number {
    return this.#counted
  }

  /** Ends it at once for what it holds, which counts no longer. */
  drop(): void {
    this.#dropped = true
    this.#recount()
    this.#ws.terminate()
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#lastMessage = performance.now()
    this.#alive = true
    this.#unfinished = 0
    if (!this.open) return
    if (isBinary) {
      this.close(closeCode.unsupported, 'messages are text')
      return
    }
    const message = withoutMark(data as Buffer)
    this.#waiting += message.length
    this.#messages.push(message)
    if (this.#messages.length >= this.#shared.limits.wsWaiting) this.#ws.pause()
    if (!this.#answering) void this.#answerAll()
  }

  async #answerAll(): Promise<void> {
    this.#answering = true
    for (let message = this.#messages.shift(); message !== undefined && this.open; message = this.#messages.shift()) {
      await this.#answer(message)
      this.#events.begin()
      if (this.#ws.isPaused && this.#messages.length < this.#shared.limits.wsWaiting) this.#ws.resume()
      await this.room()
    }
    this.#answering = false
  }

  async #answer(message: Buffer): Promise<void> {
    const refusal = this.#refusal()
    if (refusal !== undefined && message.length > longestRefused) {
      this.close(closeCode.tryLater, refusal.message)
      this.#hold(-message.length)
      return
    }
    const answer = await this.#shared.core.handle(message, this.#caller, refusal)
    const isWhole = typeof answer === 'string' || Buffer.isBuffer(answer)
    const sending = isWhole ? this.#send(Buffer.from(answer as string)) : answer && this.#stream(answer)
    this.#hold(-message.length)
    await sending
  }

  #send(bytes: Buffer, fin = true): void {
    if (!this.open) return
    this.#hold(bytes.length)
    this.#ws.send(bytes, { binary: false, fin }, () => this.#hold(-bytes.length))
  }

  /** Sends a long answer in fragments, as fast as the client reads them. */
  async #stream(answer: AnswerStream): Promise<void> {
    const { answerPart } = this.#shared.limits
    try {
      const { parts, whole } = await beginningOf(answer, answerPart)
      if (whole) {
        if (parts.length > 0) this.#send(Buffer.concat(parts))
        return
      }
      this.#parts = this.#sendParts(parts, answer).finally(() => (this.#parts = undefined))
      await this.#parts
    } catch (error) {
      if (!this.open) return
      const { message } = ruleErrorOf(error, this.#shared.log)
      this.close(closeCode.tryLater, `an answer could not be finished: ${message}`)
    } finally {
      await answer.return().catch(() => {})
    }
  }

  async #sendParts(first: readonly Buffer[], rest: AnswerStream): Promise<void> {
    for (const part of first) this.#send(part, false)
    for await (const part of rest) {
      while (this.open && this.#congested) await this.#drained()
      if (!this.open) return
      this.#send(Buffer.from(part as string), false)
    }
    this.#send(Buffer.alloc(0))
  }

  get #congested(): boolean {
    return this.#ws.bufferedAmount >= this.#shared.limits.wsSendQueue && this.#socket.writableNeedDrain
  }

  #drained(): Promise<void> {
    this.#waitForRoom ??= new Promise((resolve) => {
      const done = () => {
        this.#socket.off('drain', done).off('close', done)
        this.#waitForRoom = undefined
        resolve()
      }
      this.#socket.on('drain', done).on('close', done)
    })
    return this.#waitForRoom
  }

  /** Reason to run nothing of a message. */
  #refusal(): RuleError | undefined {
    const { held, limits, rate, makeRoom } = this.#shared
    const spared = limits.rateSparesLoopback && this.#local
    if (!spared && rate.take(this.share, performance.now()).exceeded) {
      return new RuleError('request-rate', `more than ${limits.rateRequests} requests in ${limits.rateWindow} ms`)
    }
    if (held.bytes <= limits.wsHeld || makeRoom()) return undefined
    return new RuleError('busy', 'too many large messages at once; try again')
  }

  #hold(bytes: number): void {
    this.#waiting += bytes
    this.#recount()
  }

  /** Counts received bytes. Whole messages are counted already, so this counts a little too much until the next one. */
  #count(bytes: number): void {
    const { held, limits, makeRoom } = this.#shared
    this.#unfinished += bytes
    this.#recount()
    if (this.#unfinished <= limits.wsUncounted || held.bytes <= limits.wsHeld || makeRoom()) return
    this.close(closeCode.tryLater, 'too many large messages at once; try again')
    // No wait for the closing handshake: what the client has sent so far must be freed at once.
    this.#socket.end(() => this.#socket.destroy())
  }

  #recount(): void {
    const { held, limits } = this.#shared
    const count =
      this.#closedDown || this.#dropped ? 0 : this.#waiting + Math.max(0, this.#unfinished - limits.wsUncounted)
    held.bytes += count - this.#counted
    this.#counted = count
  }

  get #closedDown(): boolean {
    return this.#ws.readyState === WebSocket.CLOSED
  }

  #closed(): void {
    this.#gone.abort(new RuleError('request-timeout', 'the connection is closed'))
    this.#events.close()
    this.#messages.length = 0
    this.#recount()
  }
}

/**
 * A refused message is read for the ids of its calls: clients find their calls by these. For a longer one the connection ends, which
 * all calls of a client learn of.
 * @tuning bytes: longest message that is read although none of its calls is run
 */
const longestRefused = 16 * 1024

/** Bytes of a reason in a close frame. */
const reasonSize = 123
