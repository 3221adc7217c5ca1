import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RuleError } from '../../errors.js'
import { strangerRefusal } from '../admin-token.js'
import { AnswerCache } from '../answer-cache.js'
import { jsonType, success } from '../answer.js'
import { type BodyBudget, countBodies } from '../body-budget.js'
import type { ApiContext } from '../context.js'
import type { ApiLimits } from '../limits.js'
import { isJson } from '../origin.js'
import { pathOf } from '../path.js'
import { restPrefix, type RestRequest, type RestRoute, restRoutes } from './routes.js'

export interface RestOptions {
  readonly context: ApiContext
  readonly limits: ApiLimits
  readonly budget: BodyBudget
  /** Closes the listeners and opens them again; called when the answer to `restart` is out. */
  restart(): void
}

/** Puts the routes of the table into a scope of the app. */
export function registerRest(app: FastifyInstance, options: RestOptions): void {
  const { context, limits, budget } = options
  const cache = new AnswerCache(context.reader, limits.answerCache)
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: limits.restBody }, (_, body, done) => done(null, body))
  for (const route of restRoutes) {
    app.route({
      method: [...route.methods],
      url: restPrefix + route.path,
      ...(route.methods.includes('POST') ? { preParsing: countBodies(budget, limits.restBody) } : {}),
      handler: (request, reply) => answer(route, request, reply, cache, options),
    })
  }
}

async function answer(
  route: RestRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  cache: AnswerCache,
  { context, restart }: RestOptions,
): Promise<FastifyReply> {
  reply.header('content-type', jsonType)
  const path = pathOf(request.url)
  const cached = cache.get(path)
  if (cached !== undefined) return reply.send(cached)
  if (route.control) refuseStrangers(request, context)
  if (route.body !== undefined && !isJson(request.headers)) throw new RuleError('request-media-type')
  const asked: RestRequest = {
    context,
    segments: request.params as Record<string, string>,
    body: request.body as Uint8Array | undefined,
  }
  const { tip } = context.reader.chain
  const lasts = route.lasts(asked)
  const body = Buffer.from(success(route.envelope, await route.run(asked)))
  if (lasts) cache.set(path, body, tip)
  if (route.path === 'restart') {
    reply.header('connection', 'close')
    reply.raw.once('finish', () => restart())
  }
  return reply.send(body)
}

function refuseStrangers({ raw }: FastifyRequest, { adminToken }: ApiContext): void {
  const refusal = strangerRefusal(adminToken, { headers: raw.headers, address: raw.socket.remoteAddress })
  if (refusal !== undefined) throw new RuleError('request-forbidden', refusal)
}
