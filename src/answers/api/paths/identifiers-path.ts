import { STATUS_CODES } from 'node:http'
import { RuleError, UserError } from '../../../base/errors/rule-error.js'
import { type Dereference, type IdentifierAnswer, unlessKnown } from '../../identifiers/identifier-answer.js'
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
import { mapKey } from '../../../base/primitives/bytes.js'
import { defined } from '../../../base/primitives/defined.js'
import type { Log } from '../../../base/runtime/env.js'
import { StorageError } from '../../../ledger/storage/failure.js'
import type { ApiLimits } from '../api-limits.js'
import type { Exchange } from '../http/exchange.js'
import { retryAfterOf, statusOf } from '../http/failures.js'
import type { HeightGate } from '../http/height-gate.js'
import type { KeptAnswer, KeptAnswers } from '../http/kept-answers.js'
import type { HttpAnswer, PathRow } from '../http/path-row.js'
import { pathOf } from '../http/request-path.js'

/** Media types of the options in the body of a POST. */
export const optionTypes = [resolutionType, dereferencingType, 'application/json']

export interface IdentifiersOptions {
  readonly source: IdentifierSource
  /** Unix milliseconds of the clock by which documents expire. */
  readonly now: () => number
  /** How the address of a service is answered; absent: by a redirect. */
  readonly dereference?: Dereference | undefined
  readonly log: Log
  readonly limits: Pick<ApiLimits, 'identifierOptions'>
  /** The chain of a node; absent: a driver, which has none. */
  readonly heights?: HeightGate
  /** Keeps answers; absent: none is kept. */
  readonly kept?: KeptAnswers
}

/** The HTTP binding of DID Resolution. */
export function identifiersPath({ source, now, dereference, log, limits, heights, kept }: IdentifiersOptions): PathRow {
  return {
    path: `${identifiersPrefix}/*`,
    methods: ['GET', 'HEAD', 'POST'],
    form: (rule, { url, accept }) => refusalOf({ ...identifierOf(url), accept }, rule),
    body: limits.identifierOptions,
    ...defined({ heights }),
    refuse: requireOptions,
    kept: (exchange) => {
      const known = kept?.get(questionOf(exchange))
      return known && keptAnswer(exchange, known)
    },
    run: async (exchange) => {
      const { url, headers, body, client } = exchange
      const state = kept?.state('step')
      const options = body?.length === 0 ? undefined : body
      const asked = { ...identifierOf(url), accept: headers.accept, body: options }
      const answer = await answerIdentifier(asked, source, {
        ifNoneMatch: knownTags(exchange),
        keep: ({ body: text, ...rest }, until) =>
          kept?.set(questionOf(exchange), { ...rest, body: Buffer.from(text), until }, state),
        now: now(),
        ...defined({ dereference }),
        signal: client.signal,
        onFailure: (error) => {
          log.error({ error: textOf(error) }, 'a DID could not be resolved')
          return error instanceof StorageError ? error.fact : 'the request failed; the log of the resolver says why'
        },
      })
      return answerOf(answer)
    },
  }
}

/** A request as the kept answers know it: its method decides about If-None-Match alone. */
function questionOf({ url, headers: { accept }, body }: Exchange): string {
  return `did ${url}\n${accept === undefined ? 'none' : `: ${accept}`}\n${body === undefined ? '' : mapKey(body)}`
}

function knownTags({ method, headers }: Exchange): string | undefined {
  return method === 'POST' ? undefined : headers['if-none-match']
}

function keptAnswer(exchange: Exchange, { status = 200, headers = {}, body }: KeptAnswer): HttpAnswer {
  const head = unlessKnown({ status, headers, body: '' }, knownTags(exchange))
  return head.status === 304 || body.length === 0 ? answerOf(head) : { status, headers, body }
}

/** The answer to a request of the path that `rule` refuses before it is read. */
function refusalOf(request: Pick<IdentifierRequest, 'identifier' | 'accept'>, rule: RuleError): IdentifierAnswer {
  const { code, message: detail } = rule
  // The path itself cannot be decoded.
  if (code === 'request-parameter') {
    const name = isDidUrlText(request.identifier) ? 'INVALID_DID_URL' : 'INVALID_DID'
    return refuseIdentifier(request, new Problem(name, detail))
  }
  if (code === 'internal') return refuseIdentifier(request, new Problem('INTERNAL_ERROR', detail))
  const status = statusOf(rule)
  const title = STATUS_CODES[status] ?? ''
  return refuseIdentifier(request, { status, title, detail, ...defined({ retryAfter: retryAfterOf(rule) }) })
}

function answerOf({ body, ...answer }: IdentifierAnswer): HttpAnswer {
  return body === '' ? answer : { ...answer, body }
}

/** Returns the text after the prefix of the path, and the query, as they were sent. */
function identifierOf(url: string): { readonly identifier: string; readonly query: string | undefined } {
  const path = pathOf(url)
  const query = path.length < url.length ? url.slice(path.length + 1) : undefined
  // The prefix may be percent-encoded: it ends with the third slash.
  return { identifier: /^(?:\/[^/]*){2}\/([^]*)$/.exec(path)?.[1] ?? '', query }
}

/**
 * Refuses a body of another kind before any of it is read. A POST without a body has no options, and needs no type. Neither do options: the
 * examples of the specification have none.
 */
function requireOptions({ method, headers }: Exchange): void {
  const { 'content-type': given, 'content-length': length = '0', 'transfer-encoding': coding } = headers
  if (method !== 'POST' || given === undefined || (length === '0' && coding === undefined)) return
  if (!optionTypes.includes(given.split(';')[0]?.trim().toLowerCase() ?? '')) {
    throw new RuleError('request-media-type', `options come as ${optionTypes.join(', ')}`)
  }
}

function textOf(error: unknown): string {
  // A UserError needs no stack: its cause is not in the code.
  if (error instanceof UserError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
