import { createServer, IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { backlog, type BindOptions, bindPort, closeServer } from '../../../base/runtime/bind-port.js'
import { acceptBetweenSlices } from '../../../base/runtime/cooperative.js'
import type { ApiLimits } from '../api-limits.js'
import { jsonType } from './answer-forms.js'
import {
  boundUnread,
  ConnectionShares,
  currentAnswer,
  inTurn,
  owedBefore,
  shareConnections,
  watchBodies,
} from './connections.js'
import { tunnelMethod } from './failures.js'
import { lingeringClose, lingerWhereSending } from './lingering-close.js'
import { anyOrigin, isHostForm } from './origin.js'

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void

/** An answer without a request that a handler could see. */
export interface BareAnswer {
  readonly status: number
  /** JSON of the interfaces if absent. */
  readonly contentType?: string
  readonly body: string
}

/**
 * Makes the answer to input that is no request for a handler; `code` is that of Node's parser, or the method of a request for a
 * tunnel, `url` undefined where no request was read.
 * `target` is what the request line then asks for, where the bytes received last begin with one.
 */
export type ParserAnswer = (code: string | undefined, url: string | undefined, target?: string) => BareAnswer

export interface ListenersOptions extends Pick<BindOptions, 'hosts' | 'port' | 'portFlag'> {
  readonly limits: ApiLimits
  readonly handler: HttpHandler
  readonly parserAnswer: ParserAnswer
  /** Whether an address may have all connections. */
  exempt(address: string | undefined): boolean
  /** The shares in which the connections to a host are counted; absent: each has its own. */
  readonly shares?: (host: string) => ConnectionShares
  /** Takes over connections whose request asks for another protocol; absent: such requests are served like others. */
  readonly upgrade?: UpgradeHandler
}

export interface UpgradeHandler {
  /** Whether a request that asks for another protocol is one for {@link take}; others are served as if they had not asked. */
  wants(request: IncomingMessage): boolean
  /** Takes the connection, which came to `host`, with the first bytes after the request. */
  take(request: IncomingMessage, socket: Socket, head: Buffer, host: string): void
}

/** The HTTP servers of one port: one per address, all with the same limits. */
export class Listeners {
  readonly #options: HostOptions
  /** By address. */
  readonly #servers: Map<string, Server>
  /** Servers that accept nothing more, and answer what they have accepted. */
  readonly #retired = new Set<Server>()
  readonly port: number
  #closing = false

  private constructor(options: HostOptions, servers: Map<string, Server>, port: number) {
    this.#options = options
    this.#servers = servers
    this.port = port
  }

  static async open(given: ListenersOptions): Promise<Listeners> {
    const options = { shares: ownShares(given), ...given }
    const { servers, port } = await bindPort(options, (host) => buildServer(options, host))
    return new Listeners(options, servers, port)
  }

  /** Addresses as bound, for the log. */
  get addresses(): string[] {
    return [...this.#servers.values()].map((server) => {
      const { address, port, family } = server.address() as AddressInfo
      return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`
    })
  }

  /**
   * Puts new servers in the place of those that listen. The sockets that clients connect to stay open, so that none is refused or
   * reset: what waits to be accepted goes to the new servers, what was accepted stays with the old ones, which answer it.
   */
  async renew(): Promise<void> {
    if (this.#closing) return
    await Promise.all(
      [...this.#servers].map(async ([host, old]) => {
        const server = buildServer(this.#options, host)
        this.#servers.set(host, server)
        const listening = new Promise<void>((resolve, reject) => {
          server.once('error', reject).listen(old, backlog, resolve)
        })
        this.#retire(old)
        await listening
        server.removeAllListeners('error')
      }),
    )
  }

  /** Ends a server once its connections are gone, whose limits stay what they are. */
  #retire(server: Server): void {
    this.#retired.add(server)
    // The socket belongs to another server now, and must not be closed with this one.
    Reflect.set(server, '_handle', null)
    // That of HTTP would close connections whose first request is on its way.
    NetServer.prototype.close.call(server, () => {
      this.#retired.delete(server)
      // Ends the timer that looks after the connections.
      server.close()
    })
  }

  /** Accepts nothing more; resolves when requests in progress are answered, at the latest after the grace period. */
  async close(): Promise<void> {
    this.#closing = true
    const servers = [...this.#servers.values(), ...this.#retired]
    const closed = Promise.all(servers.map((server) => closeServer(server)))
    const deadline = setTimeout(() => {
      for (const server of servers) server.closeAllConnections()
    }, this.#options.limits.closeGrace)
    await closed
    clearTimeout(deadline)
  }
}

/** The shares of each host, which outlive its server. */
function ownShares({ limits, exempt }: ListenersOptions): (host: string) => ConnectionShares {
  const made = new Map<string, ConnectionShares>()
  return (host) => {
    const shares = made.get(host) ?? new ConnectionShares({ limits, exempt })
    made.set(host, shares)
    return shares
  }
}

type HostOptions = ListenersOptions & Required<Pick<ListenersOptions, 'shares'>>

function buildServer(options: HostOptions, host: string): Server {
  const { limits, handler, parserAnswer, shares, upgrade } = options
  const server = createServer({
    ...(upgrade === undefined ? {} : { IncomingMessage: upgradingRequest(upgrade) }),
    maxHeaderSize: limits.headers,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    // Checked below, so that the refusal has the form of all others.
    requireHostHeader: false,
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeout, limits.requestTimeout),
  })
  acceptBetweenSlices(server)
  shareConnections(server, shares(host))
  watchBodies(server, limits.bodyTimeout, (socket) => {
    server.emit('clientError', Object.assign(new Error('no progress'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  })
  server.setTimeout(limits.socketTimeout)
  boundUnread(server, limits.unread)
  lingerWhereSending(server)
  const serve = inTurn(limits.pipelined, (request, response) => {
    const fault = hostFault(request)
    if (fault !== undefined) {
      const { status, contentType = jsonType, body } = parserAnswer(fault, request.url)
      const own = { 'content-type': contentType, 'content-length': Buffer.byteLength(body), connection: 'close' }
      response.writeHead(status, { ...anyOrigin, ...own }).end(body)
      return
    }
    handler(request, response)
  })
  server.on('request', serve)
  if (upgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      const socket = stream as Socket
      // Bytes of another protocol would come into the answer under way.
      const fault = hostFault(request)
      if (currentAnswer(socket) !== undefined) socket.destroy()
      else if (fault !== undefined) answerAndClose(socket, parserAnswer(fault, request.url), anyOriginLines)
      else upgrade.take(request, socket, head, host)
    })
  }
  server.on(tunnelMethod.toLowerCase(), ({ url }: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    // Its bytes would come into the answer under way.
    if (currentAnswer(socket as Socket) !== undefined) socket.destroy()
    else answerAndClose(socket, parserAnswer(tunnelMethod, url), [...anyOriginLines, 'Allow: GET, HEAD, POST'])
  })
  // An unknown expectation may be ignored, so it needs no answer of its own form.
  server.on('checkExpectation', serve)
  server.on('clientError', (error: ParserError, socket: Duplex) => {
    // The client is gone.
    if (error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const owed = owedBefore(socket as Socket)
    // It is refused already, and the parser fails at each piece of the rest.
    if (owed === undefined) return
    const { last, broken } = owed
    const refuse = () => {
      // Bytes of its answer are out already: more bytes would become part of it.
      if (!socket.writable || (broken?.headersSent === true && !broken.writableEnded)) socket.destroy()
      else answerAndClose(socket, parserAnswer(error.code, broken?.req.url, targetOf(error.rawPacket)), anyOriginLines)
    }
    if (last === undefined) refuse()
    else last.once('close', refuse)
  })
  return server
}

/** A fault of the host that a request names (RFC 9112 §3.2); undefined: none. */
function hostFault({ headers: { host }, httpVersionMinor, rawHeaders }: IncomingMessage): string | undefined {
  if (host === undefined) return httpVersionMinor > 0 ? 'no Host header' : undefined
  // Of several, Node shows the first.
  let found = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') found++
  }
  if (found > 1) return 'more than one Host header'
  return isHostForm(host) ? undefined : 'a Host header that names no host'
}

const asked = Symbol('asked')

/**
 * The class of requests for a server that upgrades. Node asks the member `upgrade` of a request once its headers are read: for a
 * protocol that is not ours, such as the h2c that some clients offer with every request, the answer is no.
 */
function upgradingRequest({ wants }: UpgradeHandler): typeof IncomingMessage {
  return class extends IncomingMessage {
    // Set by the constructor above, before a private member would exist.
    declare [asked]: unknown

    get upgrade(): boolean {
      // HTTP/1.0 has no upgrade (RFC 9110 §7.8).
      return this[asked] === true && (this.method === 'CONNECT' || (this.httpVersionMinor > 0 && wants(this)))
    }

    set upgrade(value: unknown) {
      this[asked] = value
    }
  }
}

const anyOriginLines = Object.entries(anyOrigin).map(([name, value]) => `${name}: ${value}`)

/** Error of Node for input that it cannot parse. */
interface ParserError extends NodeJS.ErrnoException {
  /** The bytes received last. */
  readonly rawPacket?: Buffer
}

/** The target in a request line at the beginning of bytes. */
function targetOf(bytes: Buffer | undefined): string | undefined {
  return /^[A-Z]+ (\S+) HTTP\/1/.exec(bytes?.toString('latin1') ?? '')?.[1]
}

/** Answers on a bare connection and closes it, whatever else its client sends; `headers` are whole lines. */
export function answerAndClose(
  socket: Duplex,
  { status, contentType = jsonType, body }: BareAnswer,
  headers: readonly string[] = [],
): void {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    'Connection: close',
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  lingeringClose(socket)
}
