import type { Log } from '../../../base/runtime/env.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import { Access } from '../http/access.js'
import { accessDefaults } from '../http/access-options.js'
import { HttpPort } from '../http/http-port.js'
import { type RegistrarPort, registrarPaths } from '../paths/registrar-paths.js'

export interface RegistrarServerOptions extends Pick<RegistrarPort, 'registrar' | 'clients'> {
  readonly hosts: readonly string[]
  /** 0: any free port. */
  readonly port: number
  readonly log: Log
  /** Overrides of {@link apiLimits}. */
  readonly limits?: Partial<ApiLimits>
}

/** Opens the HTTP port of a registrar. A port in use is a UserError. */
export function openRegistrar({ hosts, port, log, limits: changes, ...of }: RegistrarServerOptions): Promise<HttpPort> {
  const limits: ApiLimits = { ...apiLimits, ...changes }
  const access = new Access(accessDefaults, undefined, hosts)
  const rows = registrarPaths({ ...of, access, log })
  return HttpPort.open({ hosts, port, portFlag: '--port N', limits, access, rows, log })
}
