import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { Dereference } from '../../identifiers/answer.js'
import type { IdentifierSource } from '../../identifiers/identifiers.js'
import { absentDid } from '../../../identity/did/absent-did.js'
import type { Log } from '../../../base/runtime/env.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import { BodyBudget, countBodies, readBodies } from '../http/body-budget.js'
import { type Envelope, failure, jsonType } from '../http/answer-forms.js'
import { createApp } from '../http/http-app.js'
import { signalOf } from '../http/http-client.js'
import { parserFailure, retryAfter, ruleErrorOf, statusOf } from '../http/failures.js'
import {
  bareRefusal,
  identifiersMethods,
  isIdentifierUrl,
  registerIdentifiers,
  sendRefusal,
} from '../paths/identifiers-path.js'
import { Listeners } from '../http/listeners.js'
import { originForm, pathOf } from '../http/request-path.js'
import type { RpcCore } from '../rpc/rpc-core.js'
import { rpcPaths } from '../rpc/rpc-paths.js'
import { sendRpc } from '../paths/rpc-path.js'
import { SharedSource } from './shared-source.js'

/**
 * A driver of the Universal Resolver: DID Resolution over a node elsewhere, without a database. A light resolver adds JSON-RPC.
 *
 *   connection -> Listeners -> app: /1.0/identifiers/ -> registerIdentifiers -> SharedSource -> source, over a network
 *                                   /healthz, /readyz -> #ready -> source
 *                                   /, /rpc -> RpcCore, where there is one
 */
export interface DriverOptions {
  /** Asks the node; the caller bounds the time of a request, and {@link SharedSource} their number. */
  readonly source: IdentifierSource
  /** Absent: there is no JSON-RPC. */
  readonly rpc?: Pick<RpcCore, 'handle'>
  readonly hosts: readonly string[]
  /** 0: any free port. */
  readonly port: number
  readonly log: Log
  /** How the address of a service is answered; absent: by a redirect. */
  readonly dereference?: Dereference
  /** Overrides of {@link apiLimits}. */
  readonly limits?: Partial<ApiLimits>
}

/** State of the node, as `/readyz` shows it. */
interface Readiness {
  readonly status: 'ready' | 'out of step' | 'unproved' | 'unreachable'
  readonly reason?: string
}

const healthPaths = ['/healthz', '/readyz']

/** The HTTP port of a driver. */
export class DriverServer {
  readonly #app: FastifyInstance
  readonly #listeners: Listeners

  private constructor(app: FastifyInstance, listeners: Listeners) {
    this.#app = app
    this.#listeners = listeners
  }

  /** Listens. A port in use is a UserError. */
  static async open({
    source,
    rpc,
    hosts,
    port,
    log,
    dereference,
    limits: changes,
  }: DriverOptions): Promise<DriverServer> {
    const limits: ApiLimits = { ...apiLimits, ...changes }
    const paths = rpc === undefined ? [] : rpcPaths
    const app = await createApp(limits, {
      fail: (error, request, reply) => fail(ruleErrorOf(error, log), request, reply, paths),
      methodsAt: (url) => methodsOf(url, paths),
    })
    registerHealth(app, source)
    const budget = new BodyBudget(limits)
    if (rpc !== undefined) await app.register(async (scope) => registerRpcOnly(scope, { rpc, limits, budget }))
    // The node says of the last version whether it has expired; of others its answer has the time of the tip.
    const options = {
      source: new SharedSource(source),
      now: () => Date.now(),
      dereference,
      log,
      limits,
      budget,
    }
    await app.register(async (scope) => registerIdentifiers(scope, options))
    await app.ready()
    const listeners = await Listeners.open({
      hosts,
      port,
      portFlag: '--port N',
      limits,
      handler: app.routing,
      // Behind a resolver for all methods, every request comes from one address.
      exempt: () => true,
      parserAnswer: (code, url, target) => {
        const rule = parserFailure(code)
        const asked = originForm(url ?? target ?? '')
        if (isIdentifierUrl(asked)) return bareRefusal(asked, rule)
        return { status: statusOf(rule), body: failure(envelopeOf(asked, paths), rule) }
      },
    })
    return new DriverServer(app, listeners)
  }

  get port(): number {
    return this.#listeners.port
  }

  /** Addresses as bound, `host:port`. */
  get addresses(): string[] {
    return this.#listeners.addresses
  }

  /** Stops listening; resolves when no request is in progress, at the latest after the grace period for closing. */
  async close(): Promise<void> {
    await this.#listeners.close()
    await this.#app.close()
  }
}

function fail(rule: RuleError, request: FastifyRequest, reply: FastifyReply, rpc: readonly string[]): FastifyReply {
  if (isIdentifierUrl(request.url)) return sendRefusal(request, reply, rule)
  const envelope = envelopeOf(request.url, rpc)
  return reply.code(statusOf(rule)).header('content-type', jsonType).send(failure(envelope, rule))
}

function envelopeOf(url: string, rpc: readonly string[]): Envelope {
  return rpc.includes(pathOf(url)) ? 'rpc' : 'standard'
}

function methodsOf(url: string, rpc: readonly string[]): readonly string[] {
  if (isIdentifierUrl(url)) return identifiersMethods
  if (rpc.includes(pathOf(url))) return ['POST']
  return healthPaths.includes(pathOf(url)) ? ['GET', 'HEAD'] : []
}

/** Methods that are open to all, and change nothing. */
function registerRpcOnly(
  app: FastifyInstance,
  { rpc, limits, budget }: Required<Pick<DriverOptions, 'rpc'>> & { limits: ApiLimits; budget: BodyBudget },
): void {
  app.addContentTypeParser('*', readBodies(limits.identifierOptions))
  for (const url of rpcPaths) {
    app.post(url, { preParsing: countBodies(budget) }, async (request, reply): Promise<FastifyReply> => {
      const client = { share: '', signal: signalOf(request, reply) }
      const caller = { ...publicCaller, client, refusedBusy: () => void reply.header('retry-after', retryAfter) }
      return sendRpc(reply, await rpc.handle(request.body as Uint8Array | undefined, caller), limits)
    })
  }
}

const noOwner = 'there is no owner here'
const publicCaller = {
  controlRefusal: noOwner,
  adminRefusal: noOwner,
  strangerRefusal: noOwner,
  elsewhereRefusal: noOwner,
  place: '',
}

/** `/healthz`: the process answers. `/readyz`: the node answers, and knows the chain. */
function registerHealth(app: FastifyInstance, source: IdentifierSource): void {
  let asked: Promise<Readiness> | undefined
  // One question for all who ask meanwhile.
  const readiness = () => (asked ??= readinessOf(source).finally(() => (asked = undefined)))
  const send = (reply: FastifyReply, status: number, body: unknown) =>
    reply.code(status).header('content-type', jsonType).header('cache-control', 'no-store').send(JSON.stringify(body))
  app.get('/healthz', async (_, reply): Promise<FastifyReply> => send(reply, 200, { status: 'ok' }))
  app.get('/readyz', async (_, reply): Promise<FastifyReply> => {
    const state = await readiness()
    return send(reply, state.status === 'ready' ? 200 : 503, state)
  })
}

async function readinessOf(source: IdentifierSource): Promise<Readiness> {
  try {
    const { outOfStep } = await source.resolve(absentDid, { all: false, context: true }, {})
    if (outOfStep === undefined) return { status: 'ready' }
    const { height, age } = outOfStep
    return { status: 'out of step', reason: `at height ${height}, whose block is ${age} s old` }
  } catch (error) {
    if (error instanceof RuleError && error.code === 'resolver-behind') {
      return { status: 'out of step', reason: error.message }
    }
    if (error instanceof RuleError && error.code === 'answer-unproved') {
      return { status: 'unproved', reason: error.message.slice(0, error.message.indexOf(':')) }
    }
    // The address of the node is none of the client's business; the log has it.
    return { status: 'unreachable', reason: 'the node does not answer' }
  }
}
