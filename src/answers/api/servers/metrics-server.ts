import type { ApiContext } from '../api-context.js'
import { apiLimits } from '../api-limits.js'
import { Access } from '../http/access.js'
import { accessDefaults } from '../http/access-options.js'
import { HttpPort } from '../http/http-port.js'
import { metricsRoute } from '../paths/metrics-route.js'
import { plainPaths } from '../paths/plain-routes.js'

/** Opens the port of the metrics, where they are kept off the one of REST: `/metrics` and nothing else. A port in use is a UserError. */
export function openMetricsPort(
  context: ApiContext,
  { hosts, port }: { readonly hosts: readonly string[]; readonly port: number },
): Promise<HttpPort> {
  const limits = { ...apiLimits, ...context.limits }
  const access = new Access({ ...accessDefaults, ...context.access }, undefined, hosts, context.allowedOrigins)
  const rows = plainPaths([metricsRoute], context)
  return HttpPort.open({ hosts, port, limits, access, rows, log: context.log })
}
