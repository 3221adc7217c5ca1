import type { Clock } from '../../../base/runtime/env.js'
import { TokenBucket } from '../../../base/runtime/token-bucket.js'
import type { TransportLimits } from '../transport-limits.js'

const headerSize = 12
const dataFrame = 0
const pingFrame = 2
const openFlag = 1

/**
 * Bounds incoming Yamux frames. Yamux itself buffers a frame of any claimed length, answers every ping and opened stream,
 * and wakes the reader for each small frame.
 */
export class MuxGuard {
  readonly #limits: TransportLimits
  readonly #clock: Clock
  readonly #header = new Uint8Array(headerSize)
  #filled = 0
  /** Bytes of the frame's data still to arrive. */
  #remaining = 0
  #counted = 0
  #since: number
  readonly #small: TokenBucket

  constructor(limits: TransportLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
    this.#since = clock.now()
    const { smallFrameRate, smallFrameBurst, smallFrameStart } = limits
    this.#small = new TokenBucket(smallFrameRate, smallFrameBurst, this.#since)
    // Start below the burst: else each new connection would get a full one.
    this.#small.take(smallFrameBurst - smallFrameStart, this.#since)
  }

  /** Checks the next bytes of the connection; returns the reason to refuse them, if any. */
  refusal(bytes: Uint8Array): string | undefined {
    let at = 0
    while (at < bytes.length) {
      if (this.#remaining > 0) {
        const skipped = Math.min(this.#remaining, bytes.length - at)
        this.#remaining -= skipped
        at += skipped
        continue
      }
      const part = bytes.subarray(at, at + headerSize - this.#filled)
      this.#header.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled < headerSize) break
      this.#filled = 0
      const refusal = this.#frame()
      if (refusal !== undefined) return refusal
    }
    return undefined
  }

  #frame(): string | undefined {
    const view = new DataView(this.#header.buffer)
    const type = view.getUint8(1)
    const opens = (view.getUint16(2) & openFlag) !== 0
    if (type === dataFrame) {
      this.#remaining = view.getUint32(8)
      if (this.#remaining > this.#limits.window) return `a frame of ${this.#remaining} bytes`
      const isSmall = this.#remaining < this.#limits.smallFrame
      if (isSmall && !this.#small.take(1, this.#clock.now())) return 'too many small frames'
    }
    return opens || type === pingFrame ? this.#count() : undefined
  }

  #count(): string | undefined {
    const now = this.#clock.now()
    if (now - this.#since >= this.#limits.controlTime) {
      this.#since = now
      this.#counted = 0
    }
    this.#counted++
    return this.#counted > this.#limits.controlFrames ? 'too many streams and pings' : undefined
  }
}
