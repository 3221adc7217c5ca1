import type { RuleError } from '../../../base/errors/rule-error.js'
import { Access } from '../http/access.js'
import { accessDefaults } from '../http/access-options.js'
import type { ApiContext } from '../api-context.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import { failure, jsonType } from '../http/answer-forms.js'
import { createApp, limitsRate, registerRateLimit } from '../http/http-app.js'
import { parserFailure, ruleErrorOf, statusOf } from '../http/failures.js'
import { Listeners } from '../http/listeners.js'
import { metricsRoute } from '../paths/metrics-route.js'
import { registerPlainRoutes } from '../paths/plain-routes.js'
import { pathOf } from '../http/request-path.js'

/** The port of the metrics, where they are kept off the one of REST: `/metrics` and nothing else. */
export class MetricsServer {
  readonly #listeners: Listeners
  readonly close: () => Promise<void>

  private constructor(listeners: Listeners, closeApp: () => Promise<void>) {
    this.#listeners = listeners
    this.close = async () => {
      await listeners.close()
      await closeApp()
    }
  }

  /** Listens. A port in use is a UserError; port 0: any free one. */
  static async open(
    context: ApiContext,
    { hosts, port }: { readonly hosts: readonly string[]; readonly port: number },
  ): Promise<MetricsServer> {
    const limits: ApiLimits = { ...apiLimits, ...context.limits }
    const access = new Access({ ...accessDefaults, ...context.access }, undefined, hosts)
    const answerOf = (rule: RuleError) => ({ status: statusOf(rule), body: failure('standard', rule) })
    const app = await createApp(limits, {
      fail: (error, _, reply) => {
        const { status, body } = answerOf(ruleErrorOf(error, context.log))
        return reply.code(status).header('content-type', jsonType).send(body)
      },
      methodsAt: (url) => (pathOf(url) === metricsRoute.path ? ['GET'] : []),
    })
    if (limitsRate(hosts, limits, access)) await registerRateLimit(app, limits, access)
    registerPlainRoutes(app, context, { routes: [metricsRoute], access })
    await app.ready()
    const listeners = await Listeners.open({
      ...{ hosts, port, limits, handler: app.routing },
      exempt: (address) => access.isProxy(address),
      parserAnswer: (code) => answerOf(parserFailure(code)),
    })
    return new MetricsServer(listeners, () => app.close())
  }

  get port(): number {
    return this.#listeners.port
  }
}
