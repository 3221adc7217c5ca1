import type { ProblemDetails } from './problem.js'
import type { AnswerAge } from '../../identity/did/resolution.js'
import { encodeBase64url } from '../../identity/did/base64url.js'
import { defined } from '../../base/primitives/defined.js'
import { sha256 } from '../../base/primitives/hash.js'
import {
  dereferencingType,
  type DereferencingType,
  isDereferencing,
  type MediaType,
  type ResultType,
  uriListType,
} from './media-types.js'

/** An answer of HTTP. */
export interface IdentifierAnswer {
  readonly status: number
  /** Names in lowercase. */
  readonly headers: Readonly<Record<string, string>>
  /** Empty for a redirect, and where the asker has the answer. */
  readonly body: string
}

/** The media type of what a result holds, as its metadata name it. */
export const contentType = 'application/did'

/** Answers depend on Accept, and hold until the next block: a cache that keeps one has to ask again. */
const common = { vary: 'Accept', 'cache-control': 'no-cache' }

/** Headers of an answer of a node that is not in step with its chain: the height as of which it holds, and its age in seconds. */
export function ageHeaders(age: AnswerAge | undefined): Record<string, string> {
  return age === undefined ? {} : { 'x-chain-height': String(age.height), 'x-chain-age': String(age.age) }
}

/** An answer with its age. */
export function withAge(answer: IdentifierAnswer, age: AnswerAge | undefined): IdentifierAnswer {
  return { ...answer, headers: { ...answer.headers, ...ageHeaders(age) } }
}

export function jsonAnswer(status: number, type: MediaType, value: unknown): IdentifierAnswer {
  return textAnswer(status, type, JSON.stringify(value))
}

function textAnswer(status: number, type: MediaType, body: string): IdentifierAnswer {
  return { status, headers: { ...common, 'content-type': type, etag: etagOf(type, body) }, body }
}

/** The tag of a representation: two media types of one text are two. */
function etagOf(type: MediaType, body: string): string {
  return `"${encodeBase64url(sha256(`${type}\n${body}`).subarray(0, 16))}"`
}

/** 303. `location` is an absolute URI. */
export function redirect(location: string): IdentifierAnswer {
  return { status: 303, headers: { ...common, location }, body: '' }
}

/** How the address of a service is answered: by a redirect, or as text in a result or a list of URIs. */
export const dereferenceForms = ['redirect', 'url'] as const
export type Dereference = (typeof dereferenceForms)[number]

/** 200 with `location` as content: in a result, or as the one line of a list (RFC 2483). */
export function locationAnswer(type: MediaType, location: string, said: ResultMetadata): IdentifierAnswer {
  if (type === uriListType) return textAnswer(200, uriListType, `${location}\r\n`)
  return dereferencingAnswer(200, isDereferencing(type) ? type : dereferencingType, {
    held: uriListType,
    content: location,
    said,
  })
}

/** Metadata of an answer, beside its content. */
export interface ResultMetadata {
  /** Resolution metadata beside the content type. */
  readonly process: Readonly<Record<string, unknown>>
  /** Document metadata. */
  readonly document: object
  /** Evidence that proved the answer. */
  readonly proved?: object | undefined
}

/** A whole result: the content, null without one, with the metadata. */
export function resultAnswer(
  status: number,
  frame: ResultType,
  content: object | null,
  { process, document, proved }: ResultMetadata,
): IdentifierAnswer {
  if (isDereferencing(frame))
    return dereferencingAnswer(status, frame, { held: contentType, content, said: { process, document, proved } })
  const metadata = { contentType, ...process, proved }
  return jsonAnswer(status, frame, {
    didDocument: content,
    didResolutionMetadata: metadata,
    didDocumentMetadata: document,
  })
}

/** Content of a result of dereferencing; `held` is its media type. */
interface Held {
  readonly held: string
  readonly content: object | string | null
  readonly said: ResultMetadata
}

function dereferencingAnswer(
  status: number,
  frame: DereferencingType,
  { held, content, said: { process, document, proved } }: Held,
): IdentifierAnswer {
  // The text of the specification has one name for it, its examples and its test suite another.
  return jsonAnswer(status, frame, {
    content,
    contentStream: content,
    dereferencingMetadata: { contentType: held, ...defined({ age: process['age'] }), proved },
    contentMetadata: document,
  })
}

export interface ErrorOptions {
  readonly details: ProblemDetails
  /** Seconds. */
  readonly retryAfter?: number | undefined
  /** Metadata of the result, beside the error. */
  readonly metadata?: object
}

/** An error in the frame that was asked for. */
export function errorAnswer(
  status: number,
  frame: ResultType,
  { details: error, retryAfter, metadata = {} }: ErrorOptions,
): IdentifierAnswer {
  const said = { error, ...metadata }
  const answer = jsonAnswer(
    status,
    frame,
    isDereferencing(frame)
      ? { content: null, contentStream: null, dereferencingMetadata: said, contentMetadata: {} }
      : { didDocument: null, didResolutionMetadata: said, didDocumentMetadata: {} },
  )
  return { ...answer, headers: { ...answer.headers, ...defined({ 'retry-after': retryAfter?.toString() }) } }
}

/** Whether If-None-Match names a tag, compared weakly; `etag` without `W/`. */
export function isKnownTag(etag: string, ifNoneMatch: string): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || ifNoneMatch.trim() === '*'
}

/**
 * The answer, or 304 without a body if If-None-Match names the answer; a cache may take over the headers of either, so they are the same.
 */
export function unlessKnown(answer: IdentifierAnswer, ifNoneMatch: string | undefined): IdentifierAnswer {
  const { etag, 'content-type': type } = answer.headers
  if (answer.status !== 200 || etag === undefined || ifNoneMatch === undefined) return answer
  if (!isKnownTag(etag, ifNoneMatch)) return answer
  return { status: 304, headers: { ...common, etag, ...defined({ 'content-type': type }) }, body: '' }
}
