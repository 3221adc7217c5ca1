import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { Access } from '../http/access.js'
import type { ApiContext } from '../api-context.js'
import { healthRoutes } from './health.js'
import { metricsRoute } from './metrics-route.js'
import { openApiRoute } from './openapi.js'
import type { PlainRoute } from './plain-route.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False: no headers of CORS, and no answer to a preflight. */
    cors?: false
  }
}

export const plainRoutes: readonly PlainRoute[] = [...healthRoutes, metricsRoute, openApiRoute(plainRoutesOf)]

/** The routes of the table that the REST port of a node has. */
export function plainRoutesOf({ metricsApart = false }: Pick<ApiContext, 'metricsApart'>): readonly PlainRoute[] {
  return metricsApart ? plainRoutes.filter((route) => route !== metricsRoute) : plainRoutes
}

/** Puts routes into a scope of the app. */
export function registerPlainRoutes(
  app: FastifyInstance,
  context: ApiContext,
  { routes, access }: { readonly routes: readonly PlainRoute[]; readonly access: Access },
): void {
  for (const route of routes) {
    const ofOwnSite = requireOwnSite(access)
    const closed: RouteShorthandOptions = route.ownSite === true ? { ...withoutCors, onRequest: ofOwnSite } : {}
    app.get(route.path, closed, async (_, reply): Promise<FastifyReply> => {
      const { status, contentType, body } = await route.answer(context)
      // A cached state would be outdated.
      return reply.code(status).header('content-type', contentType).header('cache-control', 'no-store').send(body)
    })
    if (route.ownSite === true) {
      // Without a route of its own a preflight is answered for every path.
      const refuse = async (_: FastifyRequest, reply: FastifyReply) => reply.callNotFound()
      app.options(route.path, { ...withoutCors, onRequest: [ofOwnSite, refuse] }, refuse)
    }
  }
}

/** Options of a route that pages of other sites may not read. */
const withoutCors = { config: { cors: false } } as const

/** Refuses requests that a page of another site may be behind. */
function requireOwnSite(access: Access) {
  return async ({ raw }: FastifyRequest): Promise<void> => {
    const { headers, socket } = raw
    const refusal = access.controlRefusal({ headers, address: socket.remoteAddress })
    if (refusal !== undefined) throw new RuleError('request-forbidden', refusal)
  }
}
