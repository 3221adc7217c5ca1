import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ApiContext } from './api-context.js'
import { healthRoutes } from './health.js'
import { metricsRoute } from './metrics-route.js'
import { openApiRoute } from './openapi.js'
import type { PlainRoute } from './plain-route.js'

export const plainRoutes: readonly PlainRoute[] = [...healthRoutes, metricsRoute, openApiRoute(() => plainRoutes)]

/** Puts the routes of the table into a scope of the app. */
export function registerPlainRoutes(app: FastifyInstance, context: ApiContext): void {
  for (const route of plainRoutes) {
    app.get(route.path, async (_, reply): Promise<FastifyReply> => {
      const { status, contentType, body } = await route.answer(context)
      // A cached state would be outdated.
      return reply.code(status).header('content-type', contentType).header('cache-control', 'no-store').send(body)
    })
  }
}
