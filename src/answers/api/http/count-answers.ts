import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RuleError } from '../../../base/errors/rule-error.js'
import type { LiveLog } from '../../../base/runtime/live-log.js'
import type { Tally } from '../metrics/answer-metrics.js'
import { arrivedAt } from './body-budget.js'
import { callLine } from './live-call.js'
import type { NodeMetrics } from '../metrics/node-metrics.js'
import { rpcPaths } from '../rpc/rpc-paths.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Arrival; performance.now(). */
    began: number
    /** Why it was refused. */
    failure: RuleError | null
  }
}

/** Tallies every answer when it is sent, and shows it in the live log. */
export function countAnswers(app: FastifyInstance, metrics: Pick<NodeMetrics, 'requests'>, live?: LiveLog): void {
  const tallies = new Map<string | undefined, Tally>()
  app.decorateRequest('began', 0)
  app.decorateRequest('failure', null)
  app.addHook('onRequest', (request, _, done) => {
    request.began = request.raw[arrivedAt] ?? performance.now()
    done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const { statusCode } = reply
    // `*` is the route of CORS preflights, whatever their path.
    const url = request.routeOptions.url === '*' ? undefined : request.routeOptions.url
    let tally = tallies.get(url)
    if (tally === undefined) tallies.set(url, (tally = metrics.requests(url)))
    const milliseconds = performance.now() - request.began
    tally.add(statusCode, milliseconds / 1000)
    if (live !== undefined && isShown(request, url, statusCode) && live.wants('calls', statusCode >= 400)) {
      const { method, originalUrl, failure } = request
      const name = `${method} ${originalUrl}`
      live.write(
        'calls',
        callLine({ via: 'rest', name, status: statusCode, failure: failure ?? undefined, milliseconds }),
      )
    }
    done(null, payload)
  })
}

/** Not preflights, nor what carries calls of JSON-RPC, which are shown one by one. */
function isShown({ method, routeOptions }: FastifyRequest, url: string | undefined, status: number): boolean {
  if (routeOptions.url === '*') return false
  return status >= 400 || method !== 'POST' || url === undefined || !rpcPaths.includes(url)
}
