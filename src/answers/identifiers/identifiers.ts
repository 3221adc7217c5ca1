/**
 * The HTTP binding of W3C DID Resolution, `/1.0/identifiers/{DID or DID URL}`, without HTTP: a request in, an answer out.
 *
 *   IdentifierRequest -> readQuestion: readDidUrl -> readParameters -> negotiate        Problem: the first thing that is wrong
 *     -> DidSource.resolve, with context -> shownVersion -> withSelectedServices -> partOf, serviceLocation
 *     -> resultAnswer, the content alone, redirect or locationAnswer; Problem -> errorAnswer
 *
 * Imports did, errors, primitives; used by api, library, cli.
 * - Nothing is fetched: an endpoint is a text that a redirect or the answer names.
 * - What the request alone shows to be wrong costs no read.
 */
import type { AnswerAge, ResolveOptions, ResolveResult } from '../../identity/did/resolution.js'
import { shownVersion, type ShownVersion } from '../../identity/did/resolved-version.js'
import type { Code } from '../../base/errors/error-codes.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import {
  type Dereference,
  errorAnswer,
  type IdentifierAnswer,
  jsonAnswer,
  locationAnswer,
  redirect,
  resultAnswer,
  unlessKnown,
  withAge,
} from './identifier-answer.js'
import { metadataProof, type MetadataProof } from './metadata-proof.js'
import { partOf, serviceLocation, withSelectedServices } from './dereference.js'
import {
  dereferencingType,
  earlierResolutionType,
  isDereferencing,
  jsonLdTypes,
  resolutionType,
  type ResultType,
  uriListType,
} from './media-types.js'
import { PassingError } from './passing-error.js'
import { Problem } from './problem.js'
import {
  frameOf,
  type IdentifierRequest,
  isPart,
  type Question,
  readQuestion,
  selectsServices,
} from './read-question.js'

/** Beginning of the path. */
export const identifiersPrefix = '/1.0/identifiers'

/** Answers about DIDs: a resolver in this process, or one behind a network. */
export interface IdentifierSource {
  /** With the context of the answer, as `options` ask for it. */
  resolve(did: string, options: ResolveOptions, request: { readonly signal?: AbortSignal }): Promise<SourceAnswer>
}

/** An answer, and the evidence of its proof if the source verifies its nodes. */
export type SourceAnswer = ResolveResult & {
  readonly proved?: object
  /** Unix milliseconds from which the status is another one while the chain does not move; absent: it may change at any time. */
  readonly until?: number | undefined
}

export interface AnswerOptions {
  /** If-None-Match of a GET or HEAD. */
  readonly ifNoneMatch?: string | undefined
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** How the address of a service is answered; absent: by a redirect, as the specification has it. */
  readonly dereference?: Dereference
  /** Aborts once no client waits for the answer. */
  readonly signal?: AbortSignal
  /** Called with an answer that says the same until the chain moves, or until a time in Unix milliseconds. */
  keep?(answer: IdentifierAnswer, until: number): void
  /** Takes an unexpected failure; returns what a client may know of it. */
  onFailure(error: unknown): string
}

/** Codes of answers that a node cannot prove: as of that block, or by so many operations. */
const unproved: readonly Code[] = ['proof-unavailable', 'history-size']

/** Codes of failures of which a client has to know why: of a proof, and of a transaction that the node has not. */
const said: readonly Code[] = ['answer-unproved', 'pruned']

/** Seconds after which a node that catches up is worth another attempt. */
const behindPause = 5
/** Seconds after which others are: a node that is busy, a gateway whose rows cannot be read for the moment. */
const pauses: Readonly<Partial<Record<Code, number>>> = { busy: 2, 'shards-apart': 1, 'shard-down': 5 }
/** The answer of a node that is not in step with its chain: it is well, and answers later. */
const behind = { status: 503, retryAfter: behindPause } as const

/** The answer to a request; never rejects. */
export async function answerIdentifier(
  request: IdentifierRequest,
  source: IdentifierSource,
  options: AnswerOptions,
): Promise<IdentifierAnswer> {
  try {
    const question = readQuestion(request)
    const version = await versionOf(question, source, options)
    const answer = presentOf(question, version, options.dereference)
    const { outOfStep } = version
    const until = holdsUntil(version)
    if (outOfStep === undefined && until !== undefined) options.keep?.(answer, until)
    return withAge(unlessKnown(answer, options.ifNoneMatch), outOfStep)
  } catch (error) {
    const problem = problemOf(error, options)
    const answer = errorAnswer(problem.status, frameOf(request), problem)
    return withAge(answer, error instanceof AbsentOutOfStep ? error.age : undefined)
  }
}

/** A version, the proof that its answer came with, and by what that was proved already. */
interface FoundVersion extends ShownVersion {
  readonly proof: MetadataProof
  readonly outOfStep: SourceAnswer['outOfStep']
  readonly proved: SourceAnswer['proved']
  readonly until: SourceAnswer['until']
}

async function versionOf(
  { url, parameters }: Question,
  source: IdentifierSource,
  { now, signal }: AnswerOptions,
): Promise<FoundVersion> {
  const { did } = url
  const { versionId, versionTime, transformKeys, proof: wantedProof } = parameters
  const wanted = defined({ versionId, versionTime, proof: wantedProof === 'true' ? true : wantedProof })
  const result = await source.resolve(did, { all: false, context: true, ...wanted }, defined({ signal }))
  const version = shownVersion(did, result, { now, ...defined({ keys: transformKeys }) })
  const proof = metadataProof(result)
  const { proved, outOfStep, until } = result
  if (version !== undefined) return { ...version, proof, outOfStep, proved, until }
  const what = result.status === 3 ? 'does not exist' : 'has no such version'
  const absent = new Problem('NOT_FOUND', `${did} ${what}`, { metadata: { ...proof, ...defined({ proved }) } })
  throw outOfStep === undefined ? absent : new AbsentOutOfStep(absent, outOfStep)
}

/** Unix milliseconds until which a version is shown as it is while the chain does not move; undefined: perhaps not even so long. */
function holdsUntil({ until, metadata: { nextVersionId, expires, expired } }: FoundVersion): number | undefined {
  // The state of the DID says when its last document expires, but not when an earlier one does; a clock may go back.
  if (nextVersionId === undefined || expires === undefined) return until
  return until === undefined || expired === true ? undefined : Math.min(until, Date.parse(expires))
}

/** A subject that does not exist on a node out of step with its chain: reported as absent only if the owner of the node allows it. */
class AbsentOutOfStep extends Problem {
  readonly age: AnswerAge

  constructor({ message, metadata }: Problem, age: AnswerAge) {
    const { height, always } = age
    const shown = { metadata: { ...metadata, height, age: age.age } }
    if (always) super('NOT_FOUND', message, shown)
    else {
      const old = `the node is not in step with its chain: as of height ${height}, ${age.age} s ago, ${message}`
      super('INTERNAL_ERROR', old, { ...shown, ...behind })
    }
    this.age = age
  }
}

/** The answer; what an old document lacks may be there by now. */
function presentOf(question: Question, version: FoundVersion, dereference?: Dereference): IdentifierAnswer {
  const { outOfStep } = version
  try {
    return answerOf(question, version, dereference)
  } catch (error) {
    const isAbsent = error instanceof Problem && error.problem === 'NOT_FOUND'
    throw isAbsent && outOfStep !== undefined ? new AbsentOutOfStep(error, outOfStep) : error
  }
}

function answerOf(question: Question, version: FoundVersion, dereference: Dereference = 'redirect'): IdentifierAnswer {
  const { document, metadata, context: asOf, proof, outOfStep, proved } = version
  const { url, parameters, type } = question
  const isGone = metadata.deactivated === true
  const status = isGone ? 410 : 200
  const process = { height: asOf.height, blockHash: asOf.blockHash, ...defined({ age: outOfStep?.age }) }
  const said = { process, document: { ...metadata, ...proof }, proved }
  const isResult = type === resolutionType || type === earlierResolutionType || isDereferencing(type)
  const frame = frameIn(question)
  if (document === null) return resultAnswer(status, frame, null, said)
  if (url.path !== '') throw new Problem('NOT_FOUND', 'nothing is below the DID by path')
  const selected = selectsServices(parameters) ? withSelectedServices(document, parameters) : document
  const isLocated = selected !== document && (isDereferencing(type) || type === uriListType)
  // A deactivated DID leads nowhere any more: its earlier document is shown instead.
  if (isLocated && !isGone) {
    const location = serviceLocation(selected, parameters, url.fragment)
    return dereference === 'redirect' ? redirect(location) : locationAnswer(type, location, said)
  }
  const isWhole = url.fragment === undefined || isLocated
  const content = isWhole ? selected : partOf(selected, url, parameters)
  if (isGone || isResult) return resultAnswer(status, frame, content, said)
  const context = isWhole || !jsonLdTypes.includes(type) ? undefined : document['@context']
  return jsonAnswer(status, type, context === undefined ? content : { '@context': context, ...content })
}

/** The frame of the result of a question. */
function frameIn({ url, type }: Question): ResultType {
  if (isDereferencing(type)) return type
  if (type === uriListType || isPart(url)) return dereferencingType
  return type === earlierResolutionType ? type : resolutionType
}

/** A request that HTTP itself refuses, before it is read. */
export interface HttpRefusal {
  readonly status: number
  /** The phrase of the status. */
  readonly title: string
  readonly detail: string
  /** Seconds. */
  readonly retryAfter?: number | undefined
}

/** The answer to a request that is refused before it is read, in the form of all errors. */
export function refuseIdentifier(
  request: Pick<IdentifierRequest, 'identifier' | 'accept'>,
  refusal: HttpRefusal | Problem,
): IdentifierAnswer {
  if (refusal instanceof Problem) return errorAnswer(refusal.status, frameOf(request), refusal)
  const { status, title, detail, retryAfter } = refusal
  return errorAnswer(status, frameOf(request), { details: { type: 'about:blank', title, detail }, retryAfter })
}

/** Seconds after which the same question may be answered; undefined unless it failed for the moment. */
function pauseAfter(error: unknown): number | undefined {
  if (error instanceof PassingError) return error.retryAfter
  return error instanceof RuleError ? pauses[error.code] : undefined
}

function problemOf(error: unknown, { signal, onFailure }: AnswerOptions): Problem {
  if (error instanceof Problem) return error
  if (error instanceof RuleError && error.code === 'resolver-behind') {
    return new Problem('INTERNAL_ERROR', error.message, behind)
  }
  const retryAfter = pauseAfter(error)
  if (retryAfter !== undefined) {
    return new Problem('INTERNAL_ERROR', (error as RuleError).message, { status: 503, retryAfter })
  }
  if (error instanceof RuleError && said.includes(error.code)) return new Problem('INTERNAL_ERROR', error.message)
  if (error instanceof RuleError && unproved.includes(error.code)) {
    return new Problem('FEATURE_NOT_SUPPORTED', `proof: ${error.message}`)
  }
  // Of an answer that no client gets, nothing is to be logged.
  const detail = signal?.aborted === true ? '' : onFailure(error)
  return new Problem('INTERNAL_ERROR', detail, { retryAfter: behindPause })
}
