import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ApiContext } from './context.js'
import { healthRoutes } from './health.js'
import { openApiRoute } from './openapi.js'
import { metricsRoute } from './metrics.js'

/** An answer in a form of its own, outside of the envelopes. */
export interface PlainAnswer {
  /** HTTP status. */
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** A path on the REST port that stands beside the REST interface, for machines that look after the node. GET and HEAD. */
export interface PlainRoute {
  /** Matches exactly. */
  readonly path: string
  /** One sentence for the reference. */
  readonly summary: string
  answer(context: ApiContext): PlainAnswer | Promise<PlainAnswer>
}

export const plainRoutes: readonly PlainRoute[] = [...healthRoutes, metricsRoute, openApiRoute(() => plainRoutes)]

/** Puts the routes of the table into a scope of the app. */
export function registerPlainRoutes(app: FastifyInstance, context: ApiContext): void {
  for (const route of plainRoutes) {
    app.get(route.path, async (_, reply): Promise<FastifyReply> => {
      const { status, contentType, body } = await route.answer(context)
      // What was true a moment ago is of no use to whoever asks now.
      return reply.code(status).header('content-type', contentType).header('cache-control', 'no-store').send(body)
    })
  }
}
