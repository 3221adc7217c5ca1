import type { LightResolver } from '../../../clients/light/light-resolver.js'
import { AnswerAdmission } from '../streams/admission.js'
import { Tally } from '../metrics/answer-metrics.js'
import { apiLimits } from '../api-limits.js'
import type { HttpPort } from '../http/http-port.js'
import { type DriverOptions, openDriver } from './driver-server.js'
import { SharedAnswers } from '../streams/shared-answer.js'
import { ProvedAnswers } from './proved-answers.js'
import { provedMethods } from './proved-methods.js'
import { RpcCore } from '../rpc/rpc-core.js'

export interface LightServerOptions extends Omit<DriverOptions, 'source' | 'rpc'> {
  readonly light: Pick<LightResolver, 'resolve' | 'resolveCredential'>
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
