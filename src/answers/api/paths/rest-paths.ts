/**
 * REST: one row a path, which names its handler, its parameters and the schemas of its pages.
 *
 *   request -> registerRest -> AnswerCache, else the route of restRoutes -> handler in results -> envelope
 *   POST transaction -> send-transaction -> mempool.accept
 *
 * - docs/rest.md, /openapi.json and the checks of parameters come from the rows: there is no second list.
 * - A row that changes the node says so; strangers may not call it.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { brokenRule } from '../../../base/errors/broken-rule.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { Access } from '../http/access.js'
import { AnswerCache } from '../http/answer-cache.js'
import type { ApiContext } from '../api-context.js'
import type { ApiLimits } from '../api-limits.js'
import { type BodyBudget, countBodies, readBodies } from '../http/body-budget.js'
import { frameOf, jsonType } from '../http/answer-forms.js'
import type { Flights } from '../streams/shared-answer.js'
import { isJson } from '../http/origin.js'
import { pathOf } from '../http/request-path.js'
import { sendParts } from '../http/send-parts.js'
import { restPrefix, type RestRequest, type RestRoute, restRoutes } from './rest-routes.js'

export interface RestOptions {
  readonly context: ApiContext
  readonly limits: ApiLimits
  readonly budget: BodyBudget
  readonly flights: Flights
  readonly access: Access
  /** Renews the listeners; called when the answer to `restart` is sent. */
  restart(): void
}

/** Puts the routes of the table into a scope of the app. */
export function registerRest(app: FastifyInstance, options: RestOptions): void {
  const { context, limits, budget } = options
  const cache = new AnswerCache(context.reader, limits.answerCache)
  app.addContentTypeParser('*', readBodies(limits.restBody))
  for (const route of restRoutes) {
    app.route({
      method: [...route.methods],
      url: restPrefix + route.path,
      ...(route.methods.includes('POST') ? { preParsing: countBodies(budget) } : {}),
      handler: (request, reply) => answer(route, request, reply, cache, options),
    })
  }
}

async function answer(
  route: RestRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  cache: AnswerCache,
  options: RestOptions,
): Promise<FastifyReply> {
  const { context, access, restart } = options
  reply.header('content-type', jsonType)
  const path = pathOf(request.url)
  const cached = cache.get(path)
  if (cached !== undefined) return reply.send(cached)
  if (route.control) refuseStrangers(request, access)
  if (route.body !== undefined && !isJson(request.headers)) throw brokenRule('request-media-type')
  const restRequest: RestRequest = {
    context,
    segments: request.params as Record<string, string>,
    body: request.body as Uint8Array | undefined,
  }
  const { tip } = context.reader.chain
  const lasts = route.lasts(restRequest)
  const keep = (body: Buffer) => (lasts ? cache.set(path, body, tip) : undefined)
  const result = await route.run(restRequest)
  const [before, after] = frameOf(route.envelope)
  if (typeof result !== 'string') return sendParts(result, { frame: [before, after], request, reply, keep }, options)
  const body = Buffer.from(before + result + after)
  keep(body)
  if (route.path === 'restart') {
    reply.header('connection', 'close')
    reply.raw.once('finish', () => restart())
  }
  return reply.send(body)
}

function refuseStrangers({ raw }: FastifyRequest, access: Access): void {
  const { method, headers, socket } = raw
  const refusal = access.strangerRefusal({ method, headers, address: socket.remoteAddress })
  if (refusal !== undefined) throw new RuleError('request-forbidden', refusal)
}
