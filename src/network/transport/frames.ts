import { concat } from '../../base/primitives/bytes.js'
import type { Timers } from '../../base/runtime/env.js'
import { LinkError } from '../link.js'

/** The stream under the frames; libp2p streams implement it. */
export interface FrameStream {
  /** Unsent bytes. */
  readonly writeBufferLength: number
  /** Queues bytes; throws if the stream is closed for writing. */
  send(bytes: Uint8Array): boolean
  /** Ends both directions at once. */
  abort(error: Error): void
  close(): Promise<void>
  addEventListener(type: string, listener: (event: Event) => void): void
  removeEventListener(type: string, listener: (event: Event) => void): void
}

export interface FrameLimits {
  /** Milliseconds to receive or send a frame, plus the time of its bytes at `frameRate`. */
  readonly frameTime: number
  /** Minimum bytes per second that the peer has to send or read. */
  readonly frameRate: number
  /** Bytes per write to the stream. */
  readonly frameSlice: number
}

interface Message {
  readonly data: Uint8Array | Iterable<Uint8Array>
}

interface Waiting<T> {
  resolve(value: T): void
  reject(error: LinkError): void
}

const prefixSize = 4

/** Minimum bytes of a receive buffer. */
const gatherSize = 4096

/**
 * Frames on a stream: u32 length, little-endian, then so many bytes. Aborts the stream for a length above the limit, before
 * memory is allocated, and for data beyond one unread frame. One read and one write at a time.
 */
export class Frames {
  readonly #stream: FrameStream
  readonly #timers: Timers
  readonly #limits: FrameLimits
  readonly #longest: number
  #chunks: Uint8Array[] = []
  /** Unfilled memory after the last chunk. */
  #free = new Uint8Array(0)
  #held = 0
  /** Length of the incoming frame, once its prefix has arrived. */
  #length: number | undefined
  #cancelTimer: (() => void) | undefined
  #reading: Waiting<Uint8Array | undefined> | undefined
  #writing: Waiting<void> | undefined
  /** The peer has ended its direction. */
  #ended = false
  #failure: LinkError | undefined

  /** `longest`: maximum bytes of a frame of the peer. */
  constructor(stream: FrameStream, longest: number, timers: Timers, limits: FrameLimits) {
    this.#stream = stream
    this.#timers = timers
    this.#limits = limits
    this.#longest = longest
    for (const [type, listener] of this.#listeners) stream.addEventListener(type, listener)
  }

  /** Whether the stream has ended for reads and writes. */
  get failed(): boolean {
    return this.#failure !== undefined
  }

  /** Bytes received and not read. */
  get held(): number {
    return this.#held
  }

  /**
   * Reads the next frame; undefined at the end of the stream. `patience`: milliseconds for its first byte, then the stream
   * is aborted. Rejects with a LinkError.
   */
  read(patience?: number): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure)
      this.#reading = { resolve, reject }
      if (this.#held === 0 && patience !== undefined) this.#limitTime(patience, 'nothing came for a while')
      this.#advance()
    })
  }

  /**
   * Sends a frame; resolves when the stream took all of it. `took` is called with the bytes of each slice. Rejects with a
   * LinkError if the peer does not read it in time.
   */
  async write(body: Uint8Array, took: (bytes: number) => void = () => {}): Promise<void> {
    const { frameSlice } = this.#limits
    const prefix = new Uint8Array(prefixSize)
    new DataView(prefix.buffer).setUint32(0, body.length, true)
    const first = concat(prefix, body.subarray(0, frameSlice - prefixSize))
    const cancel = this.#timers.after(this.#timeOf(body.length), () =>
      this.abort(new LinkError('timeout', 'the other side does not take what is sent')),
    )
    try {
      await this.#send(first)
      took(first.length)
      for (let at = frameSlice - prefixSize; at < body.length; at += frameSlice) {
        await this.#send(body.subarray(at, at + frameSlice))
        took(Math.min(frameSlice, body.length - at))
      }
    } finally {
      cancel()
    }
  }

  /** Aborts the stream; pending reads and writes reject with `error`. */
  abort(error: LinkError): void {
    this.#fail(error)
    this.#stream.abort(error)
  }

  /** Closes the stream after the pending bytes if the peer ended its direction; else aborts it. */
  close(): void {
    if (this.#failure !== undefined) return
    const ended = this.#ended
    const error = new LinkError('closed', 'the stream is closed')
    this.#fail(error)
    if (ended) this.#stream.close().catch(() => this.#stream.abort(error))
    else this.#stream.abort(error)
  }

  readonly #onMessage = (event: Event): void => {
    const { data } = event as Event & Message
    for (const piece of data instanceof Uint8Array ? [data] : data) this.#gather(piece)
    this.#advance()
  }

  readonly #onEnd = (): void => {
    this.#ended = true
    // The event for bytes that arrive with the end comes after it.
    queueMicrotask(() => this.#advance())
  }

  readonly #onClose = (): void => {
    if (this.#ended && this.#held === 0) this.#settleRead(undefined)
    this.#fail(new LinkError('refused', 'the other side ended the stream'))
  }

  readonly #onIdle = (): void => {
    const writing = this.#writing
    this.#writing = undefined
    writing?.resolve()
  }

  readonly #listeners: readonly (readonly [string, (event: Event) => void])[] = [
    ['message', this.#onMessage],
    ['remoteCloseWrite', this.#onEnd],
    ['close', this.#onClose],
    ['idle', this.#onIdle],
  ]

  /**
   * Copies received bytes: a piece keeps the whole network buffer in memory, and many small ones would need many times
   * their size.
   */
  #gather(piece: Uint8Array): void {
    this.#held += piece.length
    const last = this.#chunks.at(-1)
    const fits = last === undefined ? 0 : Math.min(piece.length, this.#free.length)
    if (last !== undefined && fits > 0) {
      this.#free.set(piece.subarray(0, fits))
      this.#free = this.#free.subarray(fits)
      this.#chunks[this.#chunks.length - 1] = new Uint8Array(last.buffer, last.byteOffset, last.length + fits)
    }
    if (fits === piece.length) return
    const rest = piece.subarray(fits)
    const memory = new Uint8Array(Math.max(gatherSize, rest.length))
    memory.set(rest)
    this.#chunks.push(memory.subarray(0, rest.length))
    this.#free = memory.subarray(rest.length)
  }

  /** Processes received bytes: starts, completes or refuses a frame. */
  #advance(): void {
    if (this.#length === undefined && this.#held >= prefixSize) {
      this.#length = this.#prefix()
      if (this.#length > this.#longest) {
        return this.abort(
          new LinkError('too-long', `a message of ${this.#length} bytes where ${this.#longest} are allowed`),
        )
      }
      this.#limitTime(this.#timeOf(this.#length), 'a message did not arrive whole in time')
    } else if (this.#length === undefined && this.#held > 0) {
      this.#limitTime(this.#limits.frameTime, 'a message did not arrive whole in time')
    }
    const whole = this.#length !== undefined && this.#held >= prefixSize + this.#length
    if (whole) this.#stopTimer()
    if (this.#held > prefixSize + (this.#length ?? this.#longest) + prefixSize + this.#longest) {
      return this.abort(new LinkError('too-long', 'more messages came than were asked for'))
    }
    if (this.#reading === undefined) return
    if (whole) this.#settleRead(this.#takeFrame(this.#length as number))
    else if (this.#ended && this.#held > 0) this.abort(new LinkError('closed', 'the stream ended within a message'))
    else if (this.#ended) this.#settleRead(undefined)
  }

  #prefix(): number {
    if ((this.#chunks[0] as Uint8Array).length < prefixSize) {
      this.#chunks = [concat(...this.#chunks)]
      this.#free = new Uint8Array(0)
    }
    const { buffer, byteOffset } = this.#chunks[0] as Uint8Array
    return new DataView(buffer, byteOffset).getUint32(0, true)
  }

  #takeFrame(length: number): Uint8Array {
    const frame = new Uint8Array(length)
    let skip = prefixSize
    let filled = 0
    let used = 0
    for (const chunk of this.#chunks) {
      const from = Math.min(skip, chunk.length)
      skip -= from
      const part = chunk.subarray(from, from + length - filled)
      frame.set(part, filled)
      filled += part.length
      if (from + part.length < chunk.length) {
        this.#chunks[used] = chunk.subarray(from + part.length)
        break
      }
      used++
    }
    this.#chunks.splice(0, used)
    this.#held -= prefixSize + length
    this.#length = undefined
    return frame
  }

  #settleRead(frame: Uint8Array | undefined): void {
    const reading = this.#reading
    this.#reading = undefined
    this.#stopTimer()
    reading?.resolve(frame)
  }

  #send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure)
      try {
        this.#stream.send(bytes)
      } catch (error) {
        return reject(new LinkError('closed', (error as Error).message))
      }
      if (this.#stream.writeBufferLength === 0) return resolve()
      this.#writing = { resolve, reject }
    })
  }

  #fail(error: LinkError): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#stopTimer()
    for (const [type, listener] of this.#listeners) this.#stream.removeEventListener(type, listener)
    this.#chunks = []
    this.#free = new Uint8Array(0)
    this.#held = 0
    const waiting = [this.#reading, this.#writing]
    this.#reading = undefined
    this.#writing = undefined
    for (const one of waiting) one?.reject(error)
  }

  #limitTime(milliseconds: number, why: string): void {
    this.#stopTimer()
    this.#cancelTimer = this.#timers.after(milliseconds, () => this.abort(new LinkError('timeout', why)))
  }

  #stopTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #timeOf(length: number): number {
    return this.#limits.frameTime + Math.ceil((length / this.#limits.frameRate) * 1000)
  }
}
