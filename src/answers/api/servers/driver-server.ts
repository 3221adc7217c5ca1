import { RuleError } from '../../../base/errors/rule-error.js'
import { defined } from '../../../base/primitives/defined.js'
import { NoAnswer } from '../../../clients/client/http.js'
import type { Dereference } from '../../identifiers/identifier-answer.js'
import type { IdentifierSource } from '../../identifiers/identifiers.js'
import { PassingError } from '../../identifiers/passing-error.js'
import { absentDid } from '../../../identity/did/absent-did.js'
import type { Log } from '../../../base/runtime/env.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import { Access } from '../http/access.js'
import { accessDefaults } from '../http/access-options.js'
import { HttpPort } from '../http/http-port.js'
import { identifiersPath } from '../paths/identifiers-path.js'
import { healthPaths, type Readiness } from '../paths/health-paths.js'
import { rpcPathsOf } from '../paths/rpc-path.js'
import type { RpcCore } from '../rpc/rpc-core.js'
import { BoundedSource } from './bounded-source.js'
import { ToldAbsence } from './told-absence.js'

/**
 * A driver of the Universal Resolver: DID Resolution over a node elsewhere, without a database. A light resolver adds JSON-RPC.
 *
 *   connection -> HttpPort: /1.0/identifiers/ -> BoundedSource -> source, over a network
 *                           /healthz, /readyz -> readinessOf -> source
 *                           /, /rpc -> RpcCore, where there is one
 */
export interface DriverOptions {
  /** Asks the node; the caller bounds the time of a request, and {@link BoundedSource} their number. */
  readonly source: IdentifierSource
  /** Absent: there is no JSON-RPC. */
  readonly rpc?: Pick<RpcCore, 'handle'>
  readonly hosts: readonly string[]
  /** 0: any free port. */
  readonly port: number
  readonly log: Log
  /** How the address of a service is answered; absent: by a redirect. */
  readonly dereference?: Dereference
  /** Overrides of {@link apiLimits}. */
  readonly limits?: Partial<ApiLimits>
}

/** Opens the HTTP port of a driver. A port in use is a UserError. */
export function openDriver({
  source,
  rpc,
  hosts,
  port,
  log,
  dereference,
  limits: changes,
}: DriverOptions): Promise<HttpPort> {
  const limits: ApiLimits = { ...apiLimits, ...changes }
  const access = new Access(accessDefaults, undefined, hosts)
  const told = tellingAbsence(source, log)
  const shared = new BoundedSource(told)
  // The node says of the last version whether it has expired; of others its answer has the time of the tip.
  const now = () => Date.now()
  const rows = [
    identifiersPath({ source: shared, now, log, limits, ...defined({ dereference }) }),
    ...healthPaths(() => readinessOf(told)),
    ...(rpc === undefined ? [] : rpcPathsOf({ core: rpc, access, limits, body: limits.identifierOptions })),
  ]
  return HttpPort.open({
    ...{ hosts, port, portFlag: '--port N', limits, access, rows, log },
    // Behind a resolver for all methods, every request comes from one address.
    limitsRate: false,
    exempt: () => true,
  })
}

/** A source whose node may not answer for a while: the log has the reason, which is none of the client's business. */
function tellingAbsence(source: IdentifierSource, log: Log): IdentifierSource {
  const absence = new ToldAbsence(log, 'the node answers again')
  return {
    resolve: async (did, options, request) => {
      try {
        const answer = await source.resolve(did, options, request)
        absence.answered()
        return answer
      } catch (error) {
        if (!(error instanceof NoAnswer)) {
          // A refusal is an answer too.
          if (error instanceof RuleError) absence.answered()
          throw error
        }
        absence.failed('no answer', { error: error.message }, 'the node does not answer')
        throw new PassingError('internal', 'the node does not answer; the log of the resolver says why')
      }
    },
  }
}

async function readinessOf(source: IdentifierSource): Promise<Readiness> {
  try {
    const { outOfStep } = await source.resolve(absentDid, { all: false, context: true }, {})
    if (outOfStep === undefined) return { status: 'ready' }
    const { height, age } = outOfStep
    return { status: 'out of step', reason: `at height ${height}, whose block is ${age} s old` }
  } catch (error) {
    if (error instanceof RuleError && error.code === 'resolver-behind') {
      return { status: 'out of step', reason: error.message }
    }
    if (error instanceof RuleError && error.code === 'answer-unproved') {
      return { status: 'unproved', reason: error.message.slice(0, error.message.indexOf(':')) }
    }
    if (error instanceof RuleError && error.code === 'busy') {
      return { status: 'busy', reason: 'the node answers, but takes no more requests for now' }
    }
    // The address of the node is none of the client's business; the log has it.
    return { status: 'unreachable', reason: 'the node does not answer' }
  }
}
