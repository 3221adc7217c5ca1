import type { BytesAnswer } from '../../base/runtime/http-request.js'
import { visible } from '../../base/runtime/visible-text.js'
import { StorageError } from '../storage/failure.js'
import type { S3Place } from './s3-place.js'

/** The meaning of an answer that refuses. */
export interface S3Refusal {
  readonly status: number
  /** The store's word for it, such as `SlowDown`; undefined where it has none. */
  readonly code: string | undefined
  /** Region of the bucket; undefined where the store does not say it. */
  readonly region: string | undefined
}

/** Reads a refusal. Only its code is taken from the body: stores repeat parts of the request there. */
export function refusalIn({ status, headers, bytes }: BytesAnswer): S3Refusal {
  const text = bytes.toString('latin1')
  const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text)?.[1]
  const region = [headers['x-amz-bucket-region'], /<Region>([^<]{1,64})<\/Region>/.exec(text)?.[1]].find(
    (one): one is string => typeof one === 'string' && /^[a-z0-9-]{1,64}$/.test(one),
  )
  return { status, code, region }
}

/** Refusals that pass: the store is busy, or the bytes did not arrive whole. */
const passing = [
  'SlowDown',
  'InternalError',
  'ServiceUnavailable',
  'RequestTimeout',
  'IncompleteBody',
  'BadDigest',
  'OperationAborted',
  'ConditionalRequestConflict',
]

/** Whether the same request may succeed later. */
export function isPassing({ status, code = '' }: S3Refusal): boolean {
  return status === 429 || (status >= 500 && status !== 501) || status === 408 || passing.includes(code)
}

/** Whether a store refuses a request since it does not know a header or form of it. */
export function isUnknownForm({ status, code = '' }: S3Refusal): boolean {
  if (status === 501 || status === 405) return true
  return status === 400 && ['NotImplemented', 'InvalidRequest', 'InvalidArgument', 'MethodNotAllowed'].includes(code)
}

/** The failure for a refusal that does not pass; `doing` names the request: `PUT map/ab/0123…`. */
export function refusalError(place: S3Place, doing: string, refusal: S3Refusal): StorageError {
  const { status, code } = refusal
  const said = code === undefined ? String(status) : `${status} ${code}`
  const message = `the store answered ${said} to ${doing} in ${place.shown}: ${adviceFor(place, refusal)}`
  return new StorageError(message, 'environment', 'the object store refuses the files of the mirror')
}

/** The failure of a request that was sent as often as it may; `last`: the last refusal, or the failure of the network. */
export function exhausted(place: S3Place, doing: string, tries: number, last: unknown): StorageError {
  const said = isRefusal(last) ? `it answered ${last.status}${last.code ? ` ${last.code}` : ''}` : reasonOf(last)
  const host = new URL(place.url).host
  const message =
    `${doing} in ${place.shown} failed ${tries} times, last because ${said}: ` +
    `see whether ${host} is the right host, can be reached and is in service, then start again`
  return new StorageError(message, 'environment', 'the object store does not take the files of the mirror')
}

/** The failure of an answer that is none of such a store: what answers is something else. */
export function strangeAnswer(place: S3Place, doing: string): StorageError {
  const host = new URL(place.url).host
  const message = `${host} answers ${doing} in ${place.shown} as no S3-compatible store does: look at AWS_ENDPOINT_URL_S3`
  return new StorageError(message, 'environment', 'no object store takes the files of the mirror')
}

/** The failure of an object that has more bytes than a file of its kind. */
export function tooLarge(place: S3Place, name: string, most: number): StorageError {
  const message =
    `${name} in ${place.shown} has more than ${most} bytes, the most of such a file of a mirror: ` +
    'it is none of the mirror; move it away'
  return new StorageError(message, 'other', 'a file of the mirror is too large')
}

function isRefusal(failure: unknown): failure is S3Refusal {
  return typeof failure === 'object' && failure !== null && 'status' in failure
}

/** A failure of the network in a few words: its code, or the end of the time. */
function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return 'of an unknown failure'
  if (failure.name === 'TimeoutError' || failure.name === 'AbortError') return 'no answer came in time'
  const { code } = failure as NodeJS.ErrnoException
  return code === undefined ? `of the network (${visible(failure.message)})` : `of the network (${code})`
}

function adviceFor({ bucket, url, prefix, region }: S3Place, refusal: S3Refusal): string {
  const { status, code = '', region: other } = refusal
  if (other !== undefined && other !== region) return `the bucket is in another region: set AWS_REGION=${other}`
  if (status >= 300 && status < 400) {
    return 'redirects are not followed: set AWS_REGION to the region of the bucket, or AWS_ENDPOINT_URL_S3 to its endpoint'
  }
  if (code === 'NoSuchBucket')
    return `there is no bucket ${bucket} at ${new URL(url).host}: make it, or look at its name`
  if (code === 'InvalidAccessKeyId') return 'the store does not know the key: look at AWS_ACCESS_KEY_ID'
  if (code === 'SignatureDoesNotMatch') return 'the secret is not that of the key: look at AWS_SECRET_ACCESS_KEY'
  if (code === 'ExpiredToken' || code === 'InvalidToken') {
    return 'the key has expired, or needs another token: set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN anew'
  }
  if (code === 'RequestTimeTooSkewed') return 'the clock of this machine differs from that of the store: set it'
  if (status === 401 || status === 403) {
    return (
      `the key may not do that: allow it s3:PutObject, s3:GetObject and s3:DeleteObject on ${bucket}/${prefix}*, ` +
      `and s3:ListBucket on ${bucket}`
    )
  }
  return 'see what the store says of that in its documentation'
}
