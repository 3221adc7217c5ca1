import type { FastifyInstance } from 'fastify'
import type { Tally } from './answer-metrics.js'
import type { NodeMetrics } from './metrics.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Arrival; performance.now(). */
    began: number
  }
}

/** Tallies every answer when it is sent. */
export function countAnswers(app: FastifyInstance, metrics: Pick<NodeMetrics, 'requests'>): void {
  const tallies = new Map<string | undefined, Tally>()
  app.decorateRequest('began', 0)
  app.addHook('onRequest', (request, _, done) => {
    request.began = performance.now()
    done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    // `*` is the route of CORS preflights, whatever their path.
    const url = request.routeOptions.url === '*' ? undefined : request.routeOptions.url
    let tally = tallies.get(url)
    if (tally === undefined) tallies.set(url, (tally = metrics.requests(url)))
    tally.add(reply.statusCode, (performance.now() - request.began) / 1000)
    done(null, payload)
  })
}
