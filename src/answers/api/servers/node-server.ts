import { defined } from '../../../base/primitives/defined.js'
import type { ApiContext } from '../api-context.js'
import { apiLimits } from '../api-limits.js'
import { Access } from '../http/access.js'
import { accessDefaults } from '../http/access-options.js'
import { jsonForm } from '../http/answer-forms.js'
import { HeightGate } from '../http/height-gate.js'
import { HttpPort } from '../http/http-port.js'
import { KeptAnswers } from '../http/kept-answers.js'
import { loopbackHosts } from '../http/origin.js'
import { nodePaths } from '../paths/node-paths.js'
import { nodeRpcPaths } from '../paths/rpc-path.js'
import { AnswerAdmission } from '../streams/admission.js'
import { SharedAnswers } from '../streams/shared-answer.js'
import type { WebSockets } from '../ws/web-sockets.js'

export interface ApiServerOptions {
  /** `rest` serves REST and JSON-RPC on one port, `rpc` JSON-RPC alone. */
  readonly serves: 'rest' | 'rpc'
  readonly hosts?: readonly string[]
  /** 0: any free port. */
  readonly port: number
  /** WebSockets that the port takes as well, at paths of their own; only where it serves REST. */
  readonly sockets?: WebSockets
}

/** One port of the node's HTTP interfaces. */
export class ApiServer {
  readonly #context: ApiContext
  #http!: HttpPort
  #restarting: Promise<void> | undefined
  #closed = false

  private constructor(context: ApiContext) {
    this.#context = context
  }

  /** Listens. A port in use is a UserError. */
  static async open(context: ApiContext, options: ApiServerOptions): Promise<ApiServer> {
    const { serves, hosts = loopbackHosts, port, sockets } = options
    const { metrics, bodies, log } = context
    const limits = { ...apiLimits, ...context.limits }
    const access = new Access(
      { ...accessDefaults, ...context.access },
      context.adminToken,
      hosts,
      context.allowedOrigins,
    )
    const sharedAnswers = context.sharedAnswers ?? new SharedAnswers(new AnswerAdmission(limits))
    const heights = context.heights ?? new HeightGate(context.reader.chain, limits)
    const kept =
      context.kept ?? new KeptAnswers({ chain: context.reader.chain, resolver: context.resolver }, limits.answerCache)
    const server = new ApiServer(context)
    const node = { context, limits, access, sharedAnswers, heights, kept, restart: () => void server.restart() }
    server.#http = await HttpPort.open({
      ...{ hosts, port, limits, access, log, ...defined({ bodies, upgrade: sockets?.onRestPort }) },
      tallyOf: (path) => metrics.requests(path),
      // Clients of the family are given an endpoint with a path, such as `/eid`.
      ...(serves === 'rpc'
        ? { rows: nodeRpcPaths(node, ['/']), onePath: true, elsewhere: jsonForm('rpc') }
        : { rows: nodePaths(node, { webSockets: sockets !== undefined }) }),
    })
    return server
  }

  get port(): number {
    return this.#http.port
  }

  /** Addresses as bound, `host:port`. */
  get addresses(): string[] {
    return this.#http.addresses
  }

  /** Puts new listeners in the place of the old ones on the same port; what was accepted is still answered. */
  restart(): Promise<void> {
    this.#restarting ??= this.#restart().finally(() => (this.#restarting = undefined))
    return this.#restarting
  }

  /** Stops listening; resolves when no request is in progress, at the latest after the grace period for closing. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#restarting
    await this.#http.close()
  }

  async #restart(): Promise<void> {
    if (this.#closed) return
    const { port } = this
    try {
      await this.#http.renew()
      this.#context.log.info({ port }, 'the HTTP listener was restarted')
    } catch (error) {
      this.#context.log.error({ port, error: String(error) }, 'the HTTP listener could not be restarted')
    }
  }
}
