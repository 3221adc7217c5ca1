import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { AwsV4Signer } from 'aws4fetch'
import type { Clock, Random, Timers } from '../../base/runtime/env.js'
import { AnswerTooLong, type BytesAnswer, requestBytes } from '../../base/runtime/http-request.js'
import { WorkSlots } from '../../base/runtime/work-slots.js'
import { storeClosed } from './mirror-store.js'
import { exhausted, isPassing, refusalError, refusalIn, type S3Refusal, strangeAnswer } from './s3-failure.js'
import type { S3Place } from './s3-place.js'

/** @tuning count: requests to an object store at a time */
export const s3Requests = 32
/** @tuning count: times that a request to an object store is sent */
export const s3Tries = 7
/** @tuning ms: one request to an object store, its answer included */
const requestTime = 30_000
/** @tuning ms: wait before a request is sent again, doubled each time */
const firstWait = 200
/** @tuning ms: longest wait before a request is sent again, also where the store names a longer one */
const longestWait = 10_000

/** Clock, randomness and timers of a client, and bounds that tests shorten. */
export interface S3Surroundings {
  readonly clock: Clock
  readonly random: Random
  readonly timers: Timers
  /** Milliseconds; absent: {@link requestTime}. */
  readonly requestTime?: number
}

/** A request for an object, or for the bucket where `key` is empty. */
export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly key: string
  /** Parameters of the URL. */
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** For messages; absent: the key without its prefix. */
  readonly shown?: string
  /** Bytes of the answer at most; absent: those of a short one, which every answer may have. */
  readonly most?: number
}

/** An answer with which a request ends: of success, or a refusal that its caller understands. */
export interface S3Outcome {
  readonly answer: BytesAnswer
  /** Undefined: the request succeeded. */
  readonly refusal?: S3Refusal
}

/** @tuning bytes: an answer of an object store that holds no file and no list, such as a refusal */
const shortAnswer = 64 * 1024

/**
 * Sends signed requests (Signature Version 4) to an object store: 32 at a time, each again after a failure that passes. Every request
 * may arrive twice without harm.
 */
export class S3Client {
  readonly #place: S3Place
  readonly #surroundings: S3Surroundings
  readonly #slots = new WorkSlots(s3Requests, Infinity, 'requests to the object store')
  /** Keys for signatures, one a day. */
  readonly #signingKeys = new Map<string, ArrayBuffer>()
  readonly #closed = new AbortController()

  constructor(place: S3Place, surroundings: S3Surroundings) {
    this.#place = place
    this.#surroundings = surroundings
    // One for each request and each wait.
    setMaxListeners(0, this.#closed.signal)
  }

  /**
   * The answer to a request. Refusals that `understood` takes are returned; others reject with a StorageError, after further attempts
   * where they may pass. An answer of more than `most` bytes, where that is named, rejects with {@link AnswerTooLong}.
   */
  ask(request: S3Request, understood: (refusal: S3Refusal) => boolean = () => false): Promise<S3Outcome> {
    return this.#slots.run(() => this.#askInTurn(request, understood), { signal: this.#closed.signal })
  }

  /** Ends all requests. */
  close(): void {
    this.#closed.abort(storeClosed())
  }

  async #askInTurn(request: S3Request, understood: (refusal: S3Refusal) => boolean): Promise<S3Outcome> {
    const { method, key, shown = key.slice(this.#place.prefix.length) } = request
    const doing = `${method} ${shown}`
    let last: unknown
    for (let sent = 0; sent < s3Tries; sent++) {
      if (sent > 0) await this.#wait(sent, last)
      const outcome = await this.#once(request).catch((error: unknown) => {
        this.#closed.signal.throwIfAborted()
        if (error instanceof AnswerTooLong) throw request.most === undefined ? strangeAnswer(this.#place, doing) : error
        if (!isOfNetwork(error)) throw error
        return error
      })
      if (!isOutcome(outcome)) {
        last = outcome
        continue
      }
      const { refusal } = outcome
      if (refusal === undefined || understood(refusal)) return outcome
      if (!isPassing(refusal)) throw refusalError(this.#place, doing, refusal)
      last = { ...refusal, wait: outcome.answer.headers['retry-after'] }
    }
    throw exhausted(this.#place, doing, s3Tries, last)
  }

  async #once(request: S3Request): Promise<S3Outcome> {
    const { method, body, most = shortAnswer } = request
    const { url, headers } = await this.#signed(request)
    const bounds = {
      timeout: this.#surroundings.requestTime ?? requestTime,
      maxAnswer: Math.max(most, shortAnswer),
      signal: this.#closed.signal,
    }
    const answer = await requestBytes(url, { method, headers, body }, bounds)
    if (answer.status < 200 || answer.status >= 300) return { answer, refusal: refusalIn(answer) }
    if (answer.bytes.length > most) throw new AnswerTooLong(`the answer has more than ${most} bytes`)
    return { answer }
  }

  /** The URL and all headers of a request, of which the signature covers body, time and what changes its effect. */
  async #signed({ method, key, query = {}, headers = {}, body }: S3Request) {
    const { url: bucket, region, credentials } = this.#place
    const url = new URL(bucket + key.split('/').map(encodeURIComponent).join('/'))
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, service: 's3', region, cache: this.#signingKeys },
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: credentials.secretAccessKey,
      ...(credentials.sessionToken === undefined ? {} : { sessionToken: credentials.sessionToken }),
      headers: { ...headers, 'x-amz-content-sha256': sha256Hex(body ?? new Uint8Array()) },
      datetime: signingTime(this.#surroundings.clock.now()),
    })
    const signed = await signer.sign()
    const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(body.length) }
    return { url: signed.url.href, headers: { ...Object.fromEntries(signed.headers), ...length } }
  }

  /** Waits before a request is sent again: a random part of a time that doubles, or as long as the store says. */
  #wait(sent: number, last: unknown): Promise<void> {
    const { random } = this.#surroundings
    const most = Math.min(longestWait, firstWait * 2 ** sent)
    const share = Buffer.from(random.bytes(4)).readUInt32LE() / 2 ** 32
    const named = Number((last as { readonly wait?: string }).wait ?? 0) * 1000
    const milliseconds = Math.max(most / 2 + (share * most) / 2, named > 0 ? Math.min(named, longestWait) : 0)
    return this.after(milliseconds)
  }

  /** Resolves after a time; rejects once the client is closed. */
  after(milliseconds: number): Promise<void> {
    const { signal } = this.#closed
    return new Promise((resolve, reject) => {
      const cancel = this.#surroundings.timers.after(milliseconds, () => {
        signal.removeEventListener('abort', leave)
        resolve()
      })
      const leave = () => {
        cancel()
        reject(signal.reason as Error)
      }
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
    })
  }
}

/** Whether Node reports a failure of a connection, or the end of its time. */
function isOfNetwork(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || 'code' in error)
}

function isOutcome(value: unknown): value is S3Outcome {
  return typeof value === 'object' && value !== null && 'answer' in value
}

function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A time as signatures have it: `20130524T000000Z`. */
function signingTime(now: number): string {
  return new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, '')
}
