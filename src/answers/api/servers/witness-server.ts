import type { CosignedHeads } from '../../../clients/witness/cosigned-heads.js'
import type { Log } from '../../../base/runtime/env.js'
import { apiLimits } from '../api-limits.js'
import { Access } from '../http/access.js'
import { accessDefaults } from '../http/access-options.js'
import { jsonForm, jsonType } from '../http/answer-forms.js'
import { HttpPort } from '../http/http-port.js'
import { witnessPaths } from '../paths/witness-paths.js'

/** Serves the heads of a witness without a node. A port in use is a UserError. */
export function openWitnessServer({
  heads,
  alarm,
  hosts,
  port,
  log,
}: {
  readonly heads: Pick<CosignedHeads, 'shown'>
  /** Why nothing is signed any more. */
  alarm(): string | undefined
  readonly hosts: readonly string[]
  readonly port: number
  readonly log: Log
}): Promise<HttpPort> {
  const health = {
    path: '/healthz',
    methods: ['GET', 'HEAD'],
    form: jsonForm('light'),
    run: () => {
      const text = alarm()
      const state = text === undefined ? { status: 'ok' } : { status: 'alarm', alarm: text }
      const headers = { 'content-type': jsonType, 'cache-control': 'no-store' }
      return { status: text === undefined ? 200 : 503, headers, body: JSON.stringify(state) }
    },
  } as const
  const access = new Access(accessDefaults, undefined, hosts)
  const rows = [...witnessPaths(heads), health]
  return HttpPort.open({ hosts, port, portFlag: '--listen HOST:PORT', limits: apiLimits, access, rows, log })
}
