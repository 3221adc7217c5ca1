import type { Log } from '../../../base/runtime/env.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import { Access } from '../http/access.js'
import { accessDefaults } from '../http/access-options.js'
import { jsonForm } from '../http/answer-forms.js'
import { HttpPort } from '../http/http-port.js'
import type { RegistrarMetrics } from '../metrics/registrar-metrics.js'
import { healthPaths, type Readiness } from '../paths/health-paths.js'
import { type RegistrarPort, registrarPaths } from '../paths/registrar-paths.js'

interface Place {
  readonly hosts: readonly string[]
  /** 0: any free port. */
  readonly port: number
  readonly log: Log
  /** Overrides of {@link apiLimits}. */
  readonly limits?: Partial<ApiLimits>
}

export interface RegistrarServerOptions extends Pick<RegistrarPort, 'registrar' | 'clients' | 'metrics'>, Place {
  /** Asks the node behind it something; rejects where that does not answer. */
  readonly ask: () => Promise<unknown>
}

/** Opens the HTTP port of a registrar. A port in use is a UserError. */
export function openRegistrar({ ask, ...options }: RegistrarServerOptions): Promise<HttpPort> {
  const { hosts, port, log, limits: changes, ...of } = options
  const limits: ApiLimits = { ...apiLimits, ...changes }
  const access = new Access(accessDefaults, undefined, hosts)
  const rows = [...registrarPaths({ ...of, access, log }), ...healthPaths(() => readinessOf(ask))]
  return HttpPort.open({ hosts, port, portFlag: '--port N', limits, access, rows, log })
}

async function readinessOf(ask: () => Promise<unknown>): Promise<Readiness> {
  try {
    await ask()
    return { status: 'ready' }
  } catch {
    // The address of the node is none of the client's business.
    return { status: 'unreachable', reason: 'the node does not answer' }
  }
}

/** Opens the port of the metrics of a registrar: they name its clients and what these have spent, and belong to its operator. */
export function openRegistrarMetrics({
  metrics,
  hosts,
  port,
  log,
}: Place & { readonly metrics: Pick<RegistrarMetrics, 'contentType' | 'text'> }): Promise<HttpPort> {
  const row = {
    path: '/metrics',
    methods: ['GET', 'HEAD'],
    form: jsonForm('standard'),
    run: async () => ({
      status: 200,
      headers: { 'content-type': metrics.contentType, 'cache-control': 'no-store' },
      body: await metrics.text(),
    }),
  } as const
  const access = new Access(accessDefaults, undefined, hosts)
  return HttpPort.open({ hosts, port, portFlag: '--metrics-port N', limits: apiLimits, access, rows: [row], log })
}
