import type { IncomingHttpHeaders } from 'node:http'
import type { RegistrarClient, RegistrarClients } from '../../../clients/registrar/registrar-clients.js'
import type { Registrar } from '../../../clients/registrar/registrar.js'
import { failure, Refused, refusedFor, registrations } from '../../../clients/registrar/registration.js'
import type { RegistrationAnswer } from '../../../clients/registrar/registration.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { documentJsonLimits } from '../../../identity/did/document.js'
import { strictValue } from '../../../identity/did/plain-json.js'
import { didMethod } from '../../../base/primitives/did-method.js'
import { utf8 } from '../../../base/primitives/bytes.js'
import type { Log } from '../../../base/runtime/env.js'
import type { RegistrarMetrics } from '../metrics/registrar-metrics.js'
import type { Access } from '../http/access.js'
import { jsonType } from '../http/answer-forms.js'
import { ruleErrorOf, statusOf } from '../http/failures.js'
import { isJson } from '../http/origin.js'
import type { HttpAnswer, PathRow } from '../http/path-row.js'

/** Prefix of the paths of DID Registration. */
const prefix = '/1.0'

export interface RegistrarPort {
  readonly registrar: Pick<Registrar, 'handle'>
  /** Absent: all who may use the controls of a node, of a devnet, are one client. */
  readonly clients?: Pick<RegistrarClients, 'admit'> | undefined
  readonly access: Pick<Access, 'strangerRefusal'>
  readonly log: Log
  readonly metrics?: Pick<RegistrarMetrics, 'add'> | undefined
}

/** @limit bytes: body of a registration; many may wait to be signed */
const longestBody = 64 * 1024

/** The HTTP binding of DID Registration (DIF): create, update, deactivate. */
export function registrarPaths({ registrar, clients, access, log, metrics }: RegistrarPort): PathRow[] {
  return registrations.map((kind) => ({
    path: `${prefix}/${kind}`,
    methods: ['POST'],
    body: longestBody,
    form: (rule) => {
      const {
        status = 500,
        headers = {},
        body,
      } = answerOf(failure(new Refused(rule.code, rule.message, statusOf(rule))))
      return { status, headers, body: String(body) }
    },
    refuse: (exchange) => {
      const refusal = clients === undefined ? access.strangerRefusal(exchange) : undefined
      if (refusal !== undefined) throw new RuleError('request-forbidden', refusal)
      if (!isJson(exchange.headers)) throw new RuleError('request-media-type', 'a registration is application/json')
    },
    run: async ({ headers, body, query }) => {
      const began = performance.now()
      const answer = (of: RegistrationAnswer) => answerOf(of, headers)
      try {
        requireMethod(query)
        const client = clients?.admit(headers.authorization) ?? everyone
        const registered = await registrar.handle(kind, jsonOf(body), client, body?.length ?? 0)
        metrics?.add(kind, registered.body.didState.state, (performance.now() - began) / 1000)
        return answer(registered)
      } catch (error) {
        const rule = refusedFor(error)
        if (rule !== undefined) return answer(failure(rule))
        const { code, message } = ruleErrorOf(error, log)
        return answer(failure(new Refused(code, message, 500)))
      }
    },
  }))
}

/** The Universal Registrar names the method of a create in the query. */
function requireMethod(query: string): void {
  const method = new URLSearchParams(query).get('method') ?? didMethod
  if (method === didMethod) return
  throw new Refused('methodNotSupported', `this registrar has the method ${didMethod}, not ${method.slice(0, 64)}`)
}

const everyone: RegistrarClient = { name: 'everyone', begin: () => {} }

/** The JSON of a body, read strictly: a document in it is to be signed. */
function jsonOf(body: Uint8Array | undefined): unknown {
  const text = body === undefined ? undefined : utf8(body)
  if (text === undefined) throw new Refused('invalidRequest', 'the body is no JSON in UTF-8')
  try {
    // A document in the list of an update begins two levels below the body.
    return strictValue(text, { ...documentJsonLimits, depth: documentJsonLimits.depth + 2 })
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new Refused('invalidRequest', `the body is no JSON that can be signed: ${error.message}`)
  }
}

/** `asked`: headers of the request. */
function answerOf({ status, body }: RegistrationAnswer, asked: IncomingHttpHeaders = {}): HttpAnswer {
  const headers: Record<string, string> = { 'content-type': jsonType, 'cache-control': 'no-store' }
  // Basic first: the driver of the Universal Registrar reads no other, and has the token in its address. A browser would ask its user.
  const isOfPage = asked['sec-fetch-mode'] !== undefined
  if (status === 401) headers['www-authenticate'] = isOfPage ? 'Bearer' : 'Basic realm="registrar", Bearer'
  if (status === 429 || status === 503) headers['retry-after'] = '2'
  return { status, headers, body: JSON.stringify(body) }
}
