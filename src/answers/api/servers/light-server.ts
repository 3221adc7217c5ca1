import type { Dereference } from '../../identifiers/identifier-answer.js'
import type { LightResolver } from '../../../clients/light/light-resolver.js'
import type { Log } from '../../../base/runtime/env.js'
import { AnswerAdmission } from '../streams/admission.js'
import { Tally } from '../metrics/answer-metrics.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import type { HttpPort } from '../http/http-port.js'
import { openDriver } from './driver-server.js'
import { SharedAnswers } from '../streams/shared-answer.js'
import { ProvedAnswers } from './proved-answers.js'
import { provedMethods } from './proved-methods.js'
import { RpcCore } from '../rpc/rpc-core.js'

export interface LightServerOptions {
  readonly light: Pick<LightResolver, 'resolve' | 'resolveCredential'>
  readonly hosts: readonly string[]
  /** 0: any free port. */
  readonly port: number
  readonly log: Log
  /** How the address of a service is answered; absent: by a redirect. */
  readonly dereference?: Dereference
  /** Overrides of {@link apiLimits}. */
  readonly limits?: Partial<ApiLimits>
}

/** Serves the answers of a light resolver: DID Resolution, and the methods of nodes that can be proved. A port in use is a UserError. */
export function openLightServer({ light, log, limits: changes = {}, ...place }: LightServerOptions): Promise<HttpPort> {
  const answers = new ProvedAnswers(light, log)
  const limits = { ...apiLimits, ...changes }
  // The process has no page of metrics.
  const tally = new Tally()
  const rpc = new RpcCore(
    { answers, log, limits, metrics: { calls: () => tally } },
    provedMethods,
    new SharedAnswers(new AnswerAdmission(limits)),
  )
  return openDriver({ ...place, source: answers, rpc, log, limits })
}
