import { STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RuleError, UserError } from '../../../base/errors/rule-error.js'
import type { Dereference, IdentifierAnswer } from '../../identifiers/answer.js'
import {
  answerIdentifier,
  identifiersPrefix,
  type IdentifierSource,
  refuseIdentifier,
} from '../../identifiers/identifiers.js'
import { isDidUrlText } from '../../identifiers/did-url.js'
import { Problem } from '../../identifiers/problem.js'
import { dereferencingType, resolutionType } from '../../identifiers/media-types.js'
import type { IdentifierRequest } from '../../identifiers/read-question.js'
import { defined } from '../../../base/primitives/defined.js'
import type { Log } from '../../../base/runtime/env.js'
import { StorageError } from '../../../ledger/storage/failure.js'
import type { ApiLimits } from '../api-limits.js'
import { type BodyBudget, countBodies, readBodies } from '../http/body-budget.js'
import { signalOf } from '../http/http-client.js'
import { retryAfter, statusOf } from '../http/failures.js'
import type { BareAnswer } from '../http/listeners.js'
import { pathOf } from '../http/request-path.js'

/** Methods of the path. */
export const identifiersMethods = ['GET', 'HEAD', 'POST']

/** Media types of the options in the body of a POST. */
const optionTypes = [resolutionType, dereferencingType, 'application/json']

export interface IdentifiersOptions {
  readonly source: IdentifierSource
  /** Unix milliseconds of the clock by which documents expire. */
  readonly now: () => number
  /** How the address of a service is answered; absent: by a redirect. */
  readonly dereference?: Dereference | undefined
  readonly log: Log
  readonly limits: Pick<ApiLimits, 'identifierOptions'>
  readonly budget: BodyBudget
}

/** Whether a request is one for a DID or a DID URL. */
export function isIdentifierUrl(url: string): boolean {
  return url.startsWith(`${identifiersPrefix}/`)
}

/** Puts the HTTP binding of DID Resolution into a scope of the app. */
export function registerIdentifiers(
  app: FastifyInstance,
  { source, now, dereference, log, limits, budget }: IdentifiersOptions,
): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const asked = { ...questionOf(request), body: bodyOf(request) }
    const answer = await answerIdentifier(asked, source, {
      ifNoneMatch: request.method === 'POST' ? undefined : request.headers['if-none-match'],
      now: now(),
      ...defined({ dereference }),
      signal: signalOf(request, reply),
      onFailure: (error) => {
        log.error({ error: textOf(error) }, 'a DID could not be resolved')
        return error instanceof StorageError ? error.fact : 'the request failed; the log of the resolver says why'
      },
    })
    return sendAnswer(reply, answer)
  }
  const url = `${identifiersPrefix}/*`
  app.addContentTypeParser('*', readBodies(limits.identifierOptions))
  app.get(url, handler)
  app.post(url, { onRequest: requireOptions, preParsing: countBodies(budget) }, handler)
}

/** Sends a refusal of HTTP, or of the framework, in the form of the path's other errors. */
export function sendRefusal(request: FastifyRequest, reply: FastifyReply, rule: RuleError): FastifyReply {
  return sendAnswer(reply, refusalAnswer(questionOf(request), rule))
}

/** The answer to a request for `url` that Node's parser refuses, on a bare connection. */
export function bareRefusal(url: string, rule: RuleError): BareAnswer {
  const { status, headers, body } = refusalAnswer({ ...identifierOf(url), accept: undefined }, rule)
  return { status, body, ...defined({ contentType: headers['content-type'] }) }
}

/** The answer to a request of the path that `rule` refuses before it is read. */
function refusalAnswer(request: Pick<IdentifierRequest, 'identifier' | 'accept'>, rule: RuleError): IdentifierAnswer {
  const { code, message: detail } = rule
  // The path itself cannot be decoded.
  if (code === 'request-parameter') {
    const name = isDidUrlText(request.identifier) ? 'INVALID_DID_URL' : 'INVALID_DID'
    return refuseIdentifier(request, new Problem(name, detail))
  }
  if (code === 'internal') return refuseIdentifier(request, new Problem('INTERNAL_ERROR', detail))
  const status = statusOf(rule)
  const title = STATUS_CODES[status] ?? ''
  return refuseIdentifier(request, { status, title, detail, ...(code === 'busy' ? { retryAfter } : {}) })
}

function sendAnswer(reply: FastifyReply, { status, headers, body }: IdentifierAnswer): FastifyReply {
  // To text the framework adds a charset, which these media types do not have; to bytes without a type, one of its own.
  return reply
    .code(status)
    .headers(headers)
    .send(body === '' ? undefined : Buffer.from(body))
}

/** What stands in the request line and in Accept, as it was sent. */
function questionOf({ raw }: FastifyRequest): Omit<IdentifierRequest, 'body'> {
  return { ...identifierOf(raw.url ?? ''), accept: raw.headers.accept }
}

/** The last part of the path and the query of a URL of the path. */
function identifierOf(url: string): { readonly identifier: string; readonly query: string | undefined } {
  const path = pathOf(url)
  const query = path.length < url.length ? url.slice(path.length + 1) : undefined
  return { identifier: path.slice(identifiersPrefix.length + 1), query }
}

function bodyOf({ method, body }: FastifyRequest): Uint8Array | undefined {
  return method === 'POST' && body instanceof Uint8Array ? body : undefined
}

/** Refuses a body of another kind before any of it is read. */
async function requireOptions({ headers }: FastifyRequest): Promise<void> {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!optionTypes.includes(type) || headers['content-encoding'] !== undefined) {
    throw new RuleError('request-media-type', `options come as ${optionTypes.join(', ')}, without content coding`)
  }
}

function textOf(error: unknown): string {
  // A UserError needs no stack: its cause is not in the code.
  if (error instanceof UserError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
