import type { Timers } from '../../base/runtime/env.js'
import { LinkError, type Protocol } from '../link.js'
import { Frames, type FrameStream } from './frames.js'
import type { TransportLimits } from './transport-limits.js'

/** The connection under the requests. */
export interface RequestLine {
  readonly closed: boolean
  readonly timers: Timers
  readonly limits: TransportLimits
  /** Opens a stream of the protocol; rejects with a LinkError. */
  open(protocol: Protocol): Promise<FrameStream>
}

interface Job {
  readonly body: Uint8Array
  resolve(answer: Uint8Array): void
  reject(error: LinkError): void
}

/** Requests of one protocol on one link, sequential on one stream, which is closed after `askerIdle`. */
export class RequestClient {
  readonly #line: RequestLine
  readonly #protocol: Protocol
  readonly #waiting: Job[] = []
  #running = false
  #frames: Frames | undefined
  #cancelIdle: (() => void) | undefined
  #unsupported: LinkError | undefined

  constructor(line: RequestLine, protocol: Protocol) {
    this.#line = line
    this.#protocol = protocol
  }

  ask(body: Uint8Array): Promise<Uint8Array> {
    const { name, request } = this.#protocol
    return new Promise((resolve, reject) => {
      if (body.length > request) {
        return reject(
          new LinkError('too-long', `a ${name} request of ${body.length} bytes where ${request} are allowed`),
        )
      }
      if (this.#waiting.length >= this.#line.limits.requestsWaiting) {
        return reject(new LinkError('busy', `too many ${name} requests wait for this node`))
      }
      this.#waiting.push({ body, resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  /** Rejects pending and waiting requests. */
  close(error: LinkError): void {
    this.#cancelIdle?.()
    this.#frames?.abort(error)
    for (const job of this.#waiting.splice(0)) job.reject(error)
  }

  async #run(): Promise<void> {
    this.#running = true
    this.#cancelIdle?.()
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      try {
        job.resolve(await this.#askWithTimeout(job.body))
      } catch (error) {
        job.reject(await this.#linkErrorOf(error))
      }
    }
    this.#running = false
    if (this.#frames === undefined) return
    this.#cancelIdle = this.#line.timers.after(this.#line.limits.askerIdle, () => this.#drop())
  }

  /** Sends one request; after the timeout of the protocol it rejects and the stream is aborted. */
  #askWithTimeout(body: Uint8Array): Promise<Uint8Array> {
    const { name, timeout } = this.#protocol
    return new Promise((resolve, reject) => {
      const error = new LinkError('timeout', `no answer to a ${name} request within ${timeout} ms`)
      let isLate = false
      const cancel = this.#line.timers.after(timeout, () => {
        isLate = true
        this.#drop(error)
        reject(error)
      })
      this.#exchange(body, () => isLate)
        .then(resolve, (failure: unknown) => {
          if (!isLate) this.#drop()
          reject(failure as Error)
        })
        .finally(cancel)
    })
  }

  async #exchange(body: Uint8Array, isLate: () => boolean): Promise<Uint8Array> {
    if (this.#unsupported !== undefined) throw this.#unsupported
    // Unrequested bytes must not count as the answer to the next request.
    if (this.#frames !== undefined && (this.#frames.failed || this.#frames.held > 0)) this.#drop()
    const frames = this.#frames ?? (await this.#open(isLate))
    await frames.write(body)
    const answer = await frames.read()
    if (answer === undefined)
      throw new LinkError('refused', `the other side does not answer a ${this.#protocol.name} request`)
    return answer
  }

  async #open(isLate: () => boolean): Promise<Frames> {
    const { timers, limits } = this.#line
    const stream = await this.#line.open(this.#protocol)
    const frames = new Frames(stream, this.#protocol.answer, timers, limits)
    if (isLate() || this.#line.closed) {
      frames.abort(new LinkError('closed', 'the stream came too late'))
      throw new LinkError('closed', 'the connection is closed')
    }
    this.#frames = frames
    return frames
  }

  #drop(error = new LinkError('closed', 'the stream is closed')): void {
    this.#frames?.abort(error)
    this.#frames = undefined
  }

  async #linkErrorOf(error: unknown): Promise<LinkError> {
    const { timers, limits } = this.#line
    // A stopping node ends its streams shortly before the connection.
    const ended = error instanceof LinkError && error.failure === 'refused' && !this.#line.closed
    if (ended) await new Promise<void>((resolve) => timers.after(limits.endingTime, resolve))
    if (this.#line.closed) return new LinkError('closed', 'the connection is closed')
    if (!(error instanceof LinkError)) return new LinkError('closed', (error as Error).message)
    if (error.failure === 'unsupported') this.#unsupported = error
    return error
  }
}
