/**
 * WebSocket: JSON-RPC by rpc/rpc-core, and the events of subscriptions.
 *
 *   upgrade, of either port -> ConnectionShares, Access -> WsConnection -> rate -> RpcCore -> answer
 *   EventSource -> ConnectionEvents of each connection: the event log of a node (log-events), or a node of a gateway (passed-events)
 *
 * - A connection that reads too slowly is closed; others continue.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { RuleError } from '../../../base/errors/rule-error.js'
import { Access } from '../http/access.js'
import { accessDefaults } from '../http/access-options.js'
import { shareOf } from '../http/client-share.js'
import { AnswerAdmission } from '../streams/admission.js'
import type { ApiContext } from '../api-context.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import { failure } from '../http/answer-forms.js'
import { SharedAnswers } from '../streams/shared-answer.js'
import { ConnectionShares, upgraded } from '../http/connections.js'
import { statusOf } from '../http/failures.js'
import { answerAndClose, type UpgradeHandler } from '../http/listeners.js'
import type { ServerMetrics } from '../metrics/server-metrics.js'
import { loopbackHosts } from '../http/origin.js'
import { originForm, pathOf } from '../http/request-path.js'
import { rpcMethods } from '../rpc/all-methods.js'
import { HeightGate } from '../http/height-gate.js'
import { RpcCore } from '../rpc/rpc-core.js'
import { placeOf } from '../http/token-proof.js'
import { rpcPaths } from '../rpc/rpc-paths.js'
import { RequestRate } from '../http/request-rate.js'
import type { EventSource } from './event-source.js'
import { closeCode, WsConnection, type Shared } from './ws-connection.js'

/** The path on the port of REST that is for WebSockets alone. */
export const webSocketPath = '/ws'
/** Paths of WebSockets on the port of REST. */
const webSocketPaths: readonly string[] = ['/', webSocketPath]

/** The WebSockets of a node or gateway, whatever port they came to: JSON-RPC as over HTTP, and events. */
export class WebSockets {
  readonly #limits: ApiLimits
  readonly #events: EventSource
  readonly #access: Access
  readonly #shared: Shared
  readonly #protocol: WebSocketServer
  readonly #metrics: Pick<ServerMetrics, 'webSocketConnections'>
  readonly #connections = new Set<WsConnection>()
  readonly #pings: NodeJS.Timeout
  readonly #shares = new Map<string, ConnectionShares>()
  #closing: Promise<void> | undefined
  #gone: () => void = () => {}

  /** `hosts`: addresses listened on. */
  constructor(context: ApiContext, events: EventSource, hosts: readonly string[] = loopbackHosts) {
    this.#limits = { ...apiLimits, ...context.limits }
    this.#events = events
    this.#access = new Access(
      { ...accessDefaults, ...context.access },
      context.adminToken,
      hosts,
      context.allowedOrigins,
    )
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
    const sharedAnswers = context.sharedAnswers ?? new SharedAnswers(new AnswerAdmission(this.#limits))
    this.#shared = {
      core: new RpcCore(context, rpcMethods(context), sharedAnswers, {
        carrier: 'websocket',
        kept: context.kept,
      }),
      events,
      limits: this.#limits,
      heights: context.heights ?? new HeightGate(context.reader.chain, this.#limits),
      log: context.log,
      rate: new RequestRate(this.#limits),
      held: { bytes: 0 },
      makeRoom: () => this.#makeRoom(),
    }
    this.#pings = setInterval(() => {
      for (const connection of this.#connections) connection.ping()
      events.look()
    }, this.#limits.wsPing)
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#connections.size
  }

  /** The shares in which all WebSockets of a host are counted. */
  sharesOf(host: string): ConnectionShares {
    const made = this.#shares.get(host)
    if (made !== undefined) return made
    const { wsConnections: connections, connectionsPerAddress } = this.#limits
    const shares = new ConnectionShares({ limits: { connections, connectionsPerAddress }, exempt: this.exempt })
    this.#shares.set(host, shares)
    return shares
  }

  /** Whether an address may have all connections. */
  readonly exempt = (address: string | undefined): boolean => this.#access.isProxy(address)

  /** Takes the requests for WebSockets to a port of REST, at their paths alone; others stay requests of REST. */
  get onRestPort(): UpgradeHandler {
    return {
      wants: ({ method, url = '/', headers }) =>
        method === 'GET' && asksWebSocket(headers) && webSocketPaths.includes(pathOf(originForm(url))),
      take: (request, socket, head, host) => {
        // From here on it counts as a WebSocket, and no longer as a connection of REST.
        if (this.sharesOf(host).admit(socket)) this.#upgrade(request, socket, head)
        else refuse(socket, new RuleError('busy', 'too many WebSocket connections; try again'))
      },
    }
  }

  /** Takes every connection to a port of their own. */
  get onOwnPort(): UpgradeHandler {
    return {
      wants: () => true,
      take: (request, socket, head) => {
        const path = pathOf(originForm(request.url ?? '/'))
        // The path of REST too: addresses and proxies keep it when the port changes.
        if (path === webSocketPath || rpcPaths.includes(path)) this.#upgrade(request, socket, head)
        else refuse(socket, new RuleError('request-path', `nothing is at ${path.slice(0, 200)}`))
      },
    }
  }

  /** Closes all connections; resolves when they are gone, at the latest after the grace period for closing. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#events.close()
    clearInterval(this.#pings)
    for (const connection of this.#connections) connection.close(closeCode.goingAway, 'the node is stopping')
    const deadline = setTimeout(() => {
      for (const connection of this.#connections) connection.terminate()
    }, this.#limits.closeGrace)
    if (this.#connections.size > 0) await new Promise<void>((resolve) => (this.#gone = resolve))
    clearTimeout(deadline)
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const { refusal } = this.#events
    if (this.#closing !== undefined) refuse(socket, new RuleError('busy', 'the node is stopping'))
    else if (refusal !== undefined) refuse(socket, refusal)
    else this.#handshake(request, socket, head)
  }

  #handshake(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // The library takes no list of protocols.
    if (asksWebSocket(request.headers)) request.headers.upgrade = webSocket
    this.#protocol.handleUpgrade(request, socket, head, (ws) => this.#accept(ws, socket, request))
  }

  #accept(ws: WebSocket, socket: Duplex, request: IncomingMessage): void {
    const { headers } = request
    const { remoteAddress: address } = request.socket
    // A page cannot choose the content type of WebSocket messages: its origin alone decides.
    const access = Object.assign(this.#access.refusalsOf({ headers, address }), { place: placeOf(request.socket) })
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
      if (this.#connections.size === 0) this.#gone()
      this.#metrics.webSocketConnections.dec()
    })
  }

  /** Drops connections that leave messages unread, the one that holds most first, until all hold little enough; false if they cannot. */
  #makeRoom(): boolean {
    while (this.#shared.held.bytes > this.#limits.wsHeld) {
      const unread = [...this.#connections].filter(({ full, held }) => full && held > 0)
      if (unread.length === 0) return false
      unread.reduce((most, one) => (one.held > most.held ? one : most)).drop()
    }
    return true
  }
}

const webSocket = 'websocket'

/** Whether WebSocket is one of the protocols that a request asks for. */
function asksWebSocket({ upgrade }: IncomingHttpHeaders): boolean {
  return upgrade?.split(',').some((one) => one.trim().toLowerCase() === webSocket) === true
}

/** The answer to a request that is refused before it has a WebSocket. */
export function answerOf(error: RuleError): { status: number; body: string } {
  return { status: statusOf(error), body: failure('rpc', error) }
}

function refuse(socket: Duplex, error: RuleError): void {
  answerAndClose(socket, answerOf(error), upgradeLines)
}

/** Refuses a request that asks for no WebSocket, or not properly. */
export function upgradeError(reason: string): RuleError {
  return new RuleError('request-upgrade', `WebSocket version 13 is spoken here: ${reason}`)
}

const upgradeLines = ['Upgrade: websocket', 'Connection: upgrade', 'Sec-WebSocket-Version: 13']
