/**
 * Serves a node over HTTP: REST and JSON-RPC here, events over WebSocket in ws/.
 *
 *   connection -> Listeners -> quickCalls: short calls of JSON-RPC whose answer is kept
 *                           -> app: rate limit, Access, BodyBudget
 *     /api/v1  -> registerRest -> RestRoute.run -> results/ -> envelope     long answers by Flights and AnswerGate
 *     /1.0/identifiers -> registerIdentifiers -> answerIdentifier           the HTTP binding of DID Resolution
 *     /light/1 -> registerLight -> LightRoute.run -> resolver.proofs        proofs, and what light resolvers follow
 *     /rpc, /  -> registerRpc -> RpcCore -> methods -> JSON-RPC frame      on its own port at every path
 *     GET / and its files -> registerPages: the explorer of src/explorer, as built
 *     others   -> plain routes: health, metrics; the latter on a port of their own where it is asked for
 *   RuleError  -> error-mapping -> status, envelope with code
 *   WebSocket  -> WebSockets, by WsServer or here -> WsConnection -> EventCursor -> events
 *
 * Imports chain, consensus, did, did-index, errors, events, identifiers, light, mempool, network, primitives, production, proofs, prover, resolver, runtime, storage, voting,
 * wallet; used by node, library, cli.
 * - Holds no state of the chain: caches end with the tip.
 * - Bounded before work: connections, headers, bodies, requests of an address, bytes that wait for slow readers.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { defined } from '../../../base/primitives/defined.js'
import { Access } from '../http/access.js'
import { accessDefaults } from '../http/access-options.js'
import { AnswerGate } from '../streams/admission.js'
import type { ApiContext } from '../api-context.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import { BodyBudget } from '../http/body-budget.js'
import { countAnswers } from '../http/count-answers.js'
import { type Envelope, failure, jsonType } from '../http/answer-forms.js'
import { Flights } from '../streams/shared-answer.js'
import { createApp, limitsRate, registerRateLimit } from '../http/http-app.js'
import { parserFailure, retryAfter, ruleErrorOf, statusOf } from '../http/failures.js'
import { Listeners } from '../http/listeners.js'
import {
  bareRefusal,
  identifiersMethods,
  isIdentifierUrl,
  registerIdentifiers,
  sendRefusal,
} from '../paths/identifiers-path.js'
import { loopbackHosts } from '../http/origin.js'
import { lightMethods, registerLight } from '../paths/light-paths.js'
import { lightPrefix } from '../paths/light-routes.js'
import { isPagePath, registerPages } from '../paths/page-paths.js'
import type { PlainRoute } from '../paths/plain-route.js'
import { plainRoutesOf, registerPlainRoutes } from '../paths/plain-routes.js'
import { originForm, pathOf } from '../http/request-path.js'
import { registerRest } from '../paths/rest-paths.js'
import { restPrefix, restRoutes } from '../paths/rest-routes.js'
import { rpcPaths } from '../rpc/rpc-paths.js'
import { quickCalls } from '../paths/quick-calls.js'
import { registerRpc } from '../paths/rpc-path.js'
import { upgradeError, webSocketPath, type WebSockets } from '../ws/web-sockets.js'

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
  readonly #app: FastifyInstance
  readonly #context: ApiContext
  readonly #listeners: Listeners
  #restarting: Promise<void> | undefined
  #closed = false

  private constructor(app: FastifyInstance, context: ApiContext, listeners: Listeners) {
    this.#app = app
    this.#context = context
    this.#listeners = listeners
  }

  /** Builds the app and listens. A port in use is a UserError. */
  static async open(context: ApiContext, options: ApiServerOptions): Promise<ApiServer> {
    const limits: ApiLimits = { ...apiLimits, ...context.limits }
    const hosts = options.hosts ?? loopbackHosts
    const onlyRpc = options.serves === 'rpc'
    const access = new Access({ ...accessDefaults, ...context.access }, context.adminToken, hosts)
    const opened: { server?: ApiServer } = {}
    const limitRate = limitsRate(hosts, limits, access)
    const { app, rpc } = await buildApp(context, limits, onlyRpc, {
      access,
      takesWebSockets: options.sockets !== undefined,
      limitRate,
      restart: () => void opened.server?.restart(),
    })
    const listeners = await Listeners.open({
      hosts,
      port: options.port,
      limits,
      // What limits the rate of an address is in the framework.
      handler: limitRate ? app.routing : quickCalls({ ...rpc, ...context, pathOf: callPath(onlyRpc) }, app.routing),
      exempt: (address) => access.isProxy(address),
      ...defined({ upgrade: options.sockets?.onRestPort }),
      parserAnswer: (code, url, target) => {
        const error = parserFailure(code)
        const asked = originForm(url ?? target ?? '')
        if (!onlyRpc && isIdentifierUrl(asked)) return bareRefusal(asked, error)
        return { status: statusOf(error), body: failure(envelopeOf(asked, onlyRpc), error) }
      },
    })
    opened.server = new ApiServer(app, context, listeners)
    return opened.server
  }

  get port(): number {
    return this.#listeners.port
  }

  /** Addresses as bound, `host:port`. */
  get addresses(): string[] {
    return this.#listeners.addresses
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
    await this.#listeners.close()
    await this.#app.close()
  }

  async #restart(): Promise<void> {
    if (this.#closed) return
    const { port } = this
    try {
      await this.#listeners.renew()
      this.#context.log.info({ port }, 'the HTTP listener was restarted')
    } catch (error) {
      this.#context.log.error({ port, error: String(error) }, 'the HTTP listener could not be restarted')
    }
  }
}

interface AppOptions {
  readonly access: Access
  /** Whether the port takes WebSockets. */
  readonly takesWebSockets: boolean
  readonly limitRate: boolean
  restart(): void
}

async function buildApp(
  context: ApiContext,
  limits: ApiLimits,
  onlyRpc: boolean,
  { access, takesWebSockets, limitRate, restart }: AppOptions,
): Promise<{ readonly app: FastifyInstance; readonly rpc: ReturnType<typeof registerRpc> }> {
  const fail = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const rule = ruleErrorOf(error, context.log)
    request.failure = rule
    if (!onlyRpc && isIdentifierUrl(request.url)) return sendRefusal(request, reply, rule)
    void reply.code(statusOf(rule)).header('content-type', jsonType)
    if (rule.code === 'busy' || rule.code === 'resolver-behind') void reply.header('retry-after', retryAfter)
    return reply.send(failure(envelopeOf(request.url, onlyRpc), rule))
  }
  const pages = !onlyRpc && context.pages !== undefined
  const routes = onlyRpc ? [] : plainRoutesOf(context)
  const app = await createApp(limits, {
    fail,
    methodsAt: (url) => (takesWebSockets && pathOf(url) === webSocketPath ? ['GET'] : methodsOf(url, routes, pages)),
    first: (created) => countAnswers(created, context.metrics, context.log.live),
    // Clients of the family are given an endpoint with a path, such as `/eid`.
    onePath: onlyRpc,
  })
  if (limitRate) await registerRateLimit(app, limits, access)
  const budget = context.bodies ?? new BodyBudget(limits)
  const flights = context.flights ?? new Flights(new AnswerGate(limits))
  if (!onlyRpc) {
    registerPlainRoutes(app, context, { routes, access })
    registerLight(app, context, { limits, flights, access })
  }
  if (takesWebSockets) {
    app.get(webSocketPath, (_, reply) => {
      void reply.header('upgrade', 'websocket')
      throw upgradeError('the request does not ask for it')
    })
  }
  if (!onlyRpc && context.pages !== undefined) registerPages(app, context.pages)
  let rpc!: ReturnType<typeof registerRpc>
  await app.register(async (scope) => {
    rpc = registerRpc(scope, { context, limits, budget, flights, access })
  })
  if (!onlyRpc)
    await app.register(async (scope) => registerRest(scope, { context, limits, budget, flights, access, restart }))
  if (!onlyRpc) {
    const { resolver: source, log, dereference } = context
    const now = () => source.now()
    await app.register(async (scope) => registerIdentifiers(scope, { source, now, dereference, log, limits, budget }))
  }
  await app.ready()
  return { app, rpc }
}

/** The path under which a call is counted, by its URL; undefined where calls are not taken. */
function callPath(onlyRpc: boolean): (url: string) => string | undefined {
  return (url) => (onlyRpc ? '/' : rpcPaths.find((path) => path === url))
}

const restPatterns = restRoutes.map(({ path, methods, envelope }) => ({
  methods,
  envelope,
  pattern: new RegExp(`^${restPrefix}${path.replace(/:\w+/g, '[^/]+')}$`),
}))

/** Methods that a path accepts; empty for an unknown path. */
function methodsOf(url: string, routes: readonly PlainRoute[], pages: boolean): string[] {
  const path = pathOf(url)
  const page = pages && isPagePath(path) ? ['GET'] : []
  if (rpcPaths.includes(path)) return [...page, 'POST']
  if (page.length > 0) return page
  if (isIdentifierUrl(path)) return identifiersMethods
  if (path.startsWith(lightPrefix)) return lightMethods(path)
  if (routes.some((route) => route.path === path)) return ['GET']
  return restPatterns.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods])
}

/** Envelope of the answers at a path. */
function envelopeOf(url: string, onlyRpc: boolean): Envelope {
  const path = pathOf(url)
  if (onlyRpc || rpcPaths.includes(path) || path === webSocketPath) return 'rpc'
  if (path.startsWith(lightPrefix)) return 'light'
  return restPatterns.find(({ pattern }) => pattern.test(path))?.envelope ?? 'standard'
}
