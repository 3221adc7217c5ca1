import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EventSource } from './event-source.js'
import type { ApiContext } from '../api-context.js'
import { apiLimits } from '../api-limits.js'
import { jsonType } from '../http/answer-forms.js'
import { parserFailure } from '../http/failures.js'
import { Listeners } from '../http/listeners.js'
import { warnOfBlocked } from '../http/blocked-port.js'
import { loopbackHosts } from '../http/origin.js'
import { answerOf, upgradeError, WebSockets } from './web-sockets.js'

/** `sockets`: those that the port of REST takes too; `events`: those of this port alone. */
export type WsServerOptions = PortOptions & ({ readonly sockets: WebSockets } | { readonly events: EventSource })

interface PortOptions {
  readonly hosts?: readonly string[]
  /** 0: any free port. */
  readonly port: number
}

/** The port for WebSockets alone. */
export class WsServer {
  readonly #sockets: WebSockets
  readonly #listeners: Listeners

  private constructor(sockets: WebSockets, listeners: Listeners) {
    this.#sockets = sockets
    this.#listeners = listeners
  }

  /** Listens. A port in use is a UserError. */
  static async open(context: ApiContext, options: WsServerOptions): Promise<WsServer> {
    const { hosts = loopbackHosts, port } = options
    const sockets = 'sockets' in options ? options.sockets : new WebSockets(context, options.events, hosts)
    try {
      const listeners = await Listeners.open({
        hosts,
        port,
        limits: { ...apiLimits, ...context.limits },
        handler: answerRequest,
        exempt: sockets.exempt,
        shares: (host) => sockets.sharesOf(host),
        parserAnswer: (code) => answerOf(parserFailure(code)),
        upgrade: sockets.onOwnPort,
      })
      warnOfBlocked(listeners.port, context.log)
      return new WsServer(sockets, listeners)
    } catch (error) {
      await sockets.close()
      throw error
    }
  }

  get port(): number {
    return this.#listeners.port
  }

  /** Addresses as bound, `host:port`. */
  get addresses(): string[] {
    return this.#listeners.addresses
  }

  /** WebSockets that are open, whatever port they came to. */
  get connections(): number {
    return this.#sockets.connections
  }

  /** Closes the port and all WebSockets; resolves when they are gone, at the latest after the grace period for closing. */
  async close(): Promise<void> {
    await Promise.all([this.#listeners.close(), this.#sockets.close()])
  }
}

/** Answers plain HTTP requests. */
function answerRequest(_: IncomingMessage, response: ServerResponse): void {
  const { status, body } = answerOf(upgradeError('the request does not ask for it'))
  const headers = { 'content-type': jsonType, 'content-length': Buffer.byteLength(body), connection: 'close' }
  response.writeHead(status, { ...headers, upgrade: 'websocket' }).end(body)
}
