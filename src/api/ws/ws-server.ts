/**
 * WebSocket: JSON-RPC by rpc/rpc-core, and the events of subscriptions.
 *
 *   upgrade -> Access, Listeners -> WsConnection -> rate, semaphore -> RpcCore -> answer
 *   event log -> #distribute -> Subscription of each connection, in order of its numbers
 *
 * - A connection that reads too slowly is closed; others go on.
 * - A notification is serialized once for all its subscribers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { RuleError } from '../../errors/rule-error.js'
import type { EventLog } from '../../events/event-log.js'
import type { LedgerEvent } from '../../events/ledger-event.js'
import { forEachCooperatively, nextTurn } from '../../runtime/cooperative.js'
import { Access } from '../access.js'
import { accessDefaults } from '../access-options.js'
import { shareOf } from '../address-share.js'
import { AnswerGate } from '../answer-gate.js'
import type { ApiContext } from '../api-context.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import { failure, jsonType } from '../envelopes.js'
import { Flights } from '../flight.js'
import { upgraded } from '../http-connections.js'
import { parserFailure, statusOf } from '../http-failures.js'
import { answerAndClose, Listeners } from '../listeners.js'
import type { NodeMetrics } from '../metrics.js'
import { loopbackHosts } from '../origin.js'
import { pathOf } from '../request-path.js'
import { rpcMethods } from '../rpc/all-methods.js'
import { RpcCore } from '../rpc/rpc-core.js'
import { rpcPaths } from '../rpc/rpc-plugin.js'
import { RequestRate } from './rate.js'
import { Semaphore } from './semaphore.js'
import type { Subscription } from './subscription.js'
import { closeCode, WsConnection, type Shared } from './ws-connection.js'

export interface WsServerOptions {
  readonly events: EventLog
  readonly hosts?: readonly string[]
  /** 0: any free port. */
  readonly port: number
}

/** The port for WebSockets: JSON-RPC as over HTTP, and events. */
export class WsServer {
  readonly #limits: ApiLimits
  readonly #events: EventLog
  readonly #access: Access
  readonly #shared: Shared
  readonly #protocol: WebSocketServer
  readonly #metrics: NodeMetrics
  readonly #connections = new Set<WsConnection>()
  readonly #subscriptions = new Set<Subscription>()
  readonly #distribute = () => this.#distributeSoon()
  readonly #pings: NodeJS.Timeout
  #notifications = new Map<string, Buffer>()
  #distributing = false
  #moreToDistribute = false
  #closed = false
  #listeners!: Listeners

  private constructor(context: ApiContext, events: EventLog, hosts: readonly string[]) {
    this.#limits = { ...apiLimits, ...context.limits }
    this.#events = events
    this.#access = new Access({ ...accessDefaults, ...context.access }, context.adminToken, hosts)
    this.#metrics = context.metrics
    this.#protocol = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: this.#limits.wsMessage,
      maxFragments: this.#limits.wsFragments,
      // Milliseconds; the typings lack this option.
      ...{ closeTimeout: this.#limits.closeGrace },
    })
    this.#protocol.on('wsClientError', (error, socket) => refuse(socket, upgradeError(error.message)))
    const flights = context.flights ?? new Flights(new AnswerGate(this.#limits))
    this.#shared = {
      core: new RpcCore(context, rpcMethods(context), flights, 'websocket'),
      events,
      limits: this.#limits,
      log: context.log,
      rate: new RequestRate(this.#limits),
      replays: new Semaphore(this.#limits.wsReplays),
      subscriptions: this.#subscriptions,
      held: { bytes: 0 },
      notification: (event, subscription) => this.#notification(event, subscription),
    }
    events.events.on('appended', this.#distribute)
    this.#pings = setInterval(() => {
      for (const connection of this.#connections) connection.ping()
    }, this.#limits.wsPing)
  }

  /** Listens. A port in use is a UserError. */
  static async open(context: ApiContext, { events, hosts = loopbackHosts, port }: WsServerOptions): Promise<WsServer> {
    const server = new WsServer(context, events, hosts)
    try {
      server.#listeners = await Listeners.open({
        hosts,
        port,
        limits: { ...server.#limits, connections: server.#limits.wsConnections },
        handler: answerRequest,
        exempt: (address) => server.#access.isProxy(address),
        parserAnswer: (code) => answerOf(parserFailure(code)),
        upgrade: (request, socket, head) => server.#upgrade(request, socket, head),
      })
    } catch (error) {
      server.#stop()
      throw error
    }
    return server
  }

  get port(): number {
    return this.#listeners.port
  }

  /** Addresses as bound, `host:port`. */
  get addresses(): string[] {
    return this.#listeners.addresses
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#connections.size
  }

  /** Closes all connections; resolves when they are gone, at the latest after the grace period for closing. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stop()
    const closed = this.#listeners.close()
    for (const connection of this.#connections) connection.close(closeCode.goingAway, 'the node is stopping')
    const deadline = setTimeout(() => {
      for (const connection of this.#connections) connection.terminate()
    }, this.#limits.closeGrace)
    await closed
    clearTimeout(deadline)
  }

  #stop(): void {
    this.#events.events.off('appended', this.#distribute)
    clearInterval(this.#pings)
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const { url = '/' } = request
    if (this.#closed) refuse(socket, new RuleError('busy', 'the node is stopping'))
    else if (!rpcPaths.includes(pathOf(url))) {
      refuse(socket, new RuleError('request-path', `nothing is at ${pathOf(url).slice(0, 200)}`))
    } else this.#protocol.handleUpgrade(request, socket, head, (ws) => this.#accept(ws, socket, request))
  }

  #accept(ws: WebSocket, socket: Duplex, request: IncomingMessage): void {
    const { headers } = request
    const { remoteAddress: address } = request.socket
    const accessRequest = { headers, address }
    const access = {
      // A page cannot choose the content type of WebSocket messages: its origin alone decides.
      controlRefusal: this.#access.controlRefusal(accessRequest),
      adminRefusal: this.#access.adminRefusal(accessRequest),
      strangerRefusal: this.#access.strangerRefusal(accessRequest),
    }
    const share = shareOf(this.#access.clientAddress(request))
    const connection = new WsConnection(
      ws,
      socket,
      { share, local: this.#access.isLocal(address), access },
      this.#shared,
    )
    upgraded(request.socket, () => connection.idle)
    this.#connections.add(connection)
    this.#metrics.webSocketConnections.inc()
    ws.on('close', () => {
      this.#connections.delete(connection)
      this.#metrics.webSocketConnections.dec()
    })
  }

  #distributeSoon(): void {
    this.#moreToDistribute = true
    if (!this.#distributing) void this.#distributeAll()
  }

  /** Sends new events to all subscriptions, a turn later: the chain goes on first, and events of one moment are sent together. */
  async #distributeAll(): Promise<void> {
    this.#distributing = true
    while (this.#moreToDistribute) {
      await nextTurn()
      this.#moreToDistribute = false
      await forEachCooperatively(this.#subscriptions, (subscription) => subscription.pump())
      this.#notifications = new Map()
    }
    this.#distributing = false
  }

  /** Most subscriptions are the first of their connection, so one message serves them all. */
  #notification(event: LedgerEvent, subscription: number): Buffer {
    const key = `${event.number} ${subscription}`
    const made = event.number === null ? undefined : this.#notifications.get(key)
    if (made !== undefined) return made
    const params = `{"subscription":${subscription},${event.text.slice(1)}`
    const message = Buffer.from(`{"jsonrpc":"2.0","method":"event","params":${params}}`)
    if (event.number !== null && this.#distributing) this.#notifications.set(key, message)
    return message
  }
}

function answerOf(error: RuleError): { status: number; body: string } {
  return { status: statusOf(error), body: failure('rpc', error) }
}

function refuse(socket: Duplex, error: RuleError): void {
  answerAndClose(socket, answerOf(error), upgradeLines)
}

function upgradeError(reason: string): RuleError {
  return new RuleError('request-upgrade', `this port speaks WebSocket version 13: ${reason}`)
}

const upgradeLines = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13']

/** Answers plain HTTP requests. */
function answerRequest(_: IncomingMessage, response: ServerResponse): void {
  const { status, body } = answerOf(upgradeError('the request does not ask for it'))
  const headers = { 'content-type': jsonType, 'content-length': Buffer.byteLength(body), connection: 'close' }
  response.writeHead(status, { ...headers, upgrade: 'websocket' }).end(body)
}
