import type { IncomingMessage, ServerResponse } from 'node:http'
import { brokenRule } from '../../../base/errors/broken-rule.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { ApiLimits } from '../api-limits.js'

/** Initial buffer of a body in bytes; a body that outgrows its buffer gets twice as much. */
const firstPiece = 1024

/** The answer to a request with a body, which its client may leave unread. */
type UnsentAnswer = Pick<ServerResponse, 'destroy' | 'socket'>

/** A body that is held or being received. */
export class CountedBody {
  readonly #budget: BodyBudget
  readonly #answer: UnsentAnswer | undefined
  readonly #began = performance.now()
  #held = 0
  #whole = false
  /** Ends it to make room for others; once it is complete, only where its client does not read the answer. */
  evict: ((error: RuleError) => void) | undefined

  constructor(budget: BodyBudget, answer?: UnsentAnswer) {
    this.#budget = budget
    this.#answer = answer
  }

  /** Bytes that it takes. */
  get held(): number {
    return this.#held
  }

  /** Whether it arrives, or its answer is read, too slowly to keep its memory when others need it. */
  isSlow({ bodyGrace, bodyRate }: ApiLimits): boolean {
    const milliseconds = performance.now() - this.#began
    if (this.evict === undefined || milliseconds < bodyGrace) return false
    return this.#whole ? this.#unread : this.#held < (bodyRate * milliseconds) / 1000
  }

  /** Takes `bytes` in total, or throws `busy`. */
  grow(bytes: number): void {
    this.#budget.move(this, this.#held, bytes)
    this.#held = bytes
  }

  /**
   * Notes that all of it is there. It counts until its answer is sent, which is ended where others need the memory and the client does
   * not read.
   */
  complete(): void {
    const answer = this.#answer
    this.#whole = true
    this.evict = answer && (() => void answer.destroy())
  }

  get #unread(): boolean {
    return (this.#answer?.socket?.writableLength ?? 0) > 0
  }

  release(): void {
    this.grow(0)
    this.evict = undefined
  }
}

/** Bounds the bytes of all request bodies in memory; small and large bodies separately. */
export class BodyBudget {
  readonly #limits: ApiLimits
  readonly #free: { small: number; large: number }
  readonly #bodies = new Set<CountedBody>()

  constructor(limits: ApiLimits) {
    this.#limits = limits
    this.#free = { small: limits.smallBodies, large: limits.allBodies - limits.smallBodies }
  }

  /** Starts to count an empty body; `answer`: that to its request. */
  begin(answer?: UnsentAnswer): CountedBody {
    return new CountedBody(this, answer)
  }

  /** Changes the count of a body from `before` to `after`; evicts slow bodies to make room. Throws `busy`. */
  move(body: CountedBody, before: number, after: number): void {
    this.#free[this.#poolOf(before)] += before
    const pool = this.#poolOf(after)
    while (after > this.#free[pool]) {
      const slow = [...this.#bodies].find((one) => one !== body && this.#poolOf(one.held) === pool && this.#isSlow(one))
      if (slow === undefined) {
        this.#free[this.#poolOf(before)] -= before
        throw tooMany()
      }
      slow.evict?.(tooMany())
      slow.release()
    }
    this.#free[pool] -= after
    if (after === 0) this.#bodies.delete(body)
    else this.#bodies.add(body)
  }

  #poolOf(bytes: number): 'small' | 'large' {
    return bytes <= this.#limits.smallBody ? 'small' : 'large'
  }

  #isSlow(body: CountedBody): boolean {
    return body.isSlow(this.#limits)
  }
}

function tooMany(): RuleError {
  return new RuleError('busy', 'too many large requests at once; try again')
}

/**
 * Reads the body of a request, of at most `most` bytes, and counts what arrives, whatever length was announced. Calls `done` once, with
 * the body or the reason why there is none; it counts until it is released.
 */
export function readBody(
  request: IncomingMessage,
  counted: CountedBody,
  most: number,
  done: (error: Error | undefined, body?: Buffer) => void,
): void {
  const announced = request.headers['content-length']
  let bytes: Buffer = none
  let length = 0
  const end = (error?: Error) => {
    request.off('data', take).off('end', complete).off('error', end)
    if (error === undefined) {
      counted.complete()
      return done(undefined, withoutMark(bytes.subarray(0, length)))
    }
    counted.release()
    bytes = none
    done(error)
  }
  const hold = (chunk: Buffer) => {
    const needed = length + chunk.length
    if (needed > most) throw brokenRule('request-too-large')
    const isAll = needed === Number(announced)
    if (isAll && length === 0 && ownsMemory(chunk)) {
      counted.grow(needed)
      bytes = chunk
    } else if (needed > bytes.length) {
      const size = isAll ? needed : Math.max(needed, Math.min(most, 2 * bytes.length), firstPiece)
      counted.grow(size)
      const larger = Buffer.allocUnsafe(size)
      bytes.copy(larger, 0, 0, length)
      bytes = larger
    }
    if (bytes !== chunk) chunk.copy(bytes, length)
    length = needed
  }
  const take = (chunk: Buffer) => {
    try {
      hold(chunk)
    } catch (error) {
      return end(error as Error)
    }
    // All of it is there before the stream says so.
    if (length === Number(announced)) end()
  }
  const complete = () => end(announced === undefined || Number(announced) === length ? undefined : wrongLength())
  if (Number(announced) > most) return end(brokenRule('request-too-large'))
  counted.evict = end
  request.on('data', take).on('end', complete).on('error', end)
}

const none: Buffer = Buffer.alloc(0)

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** A text in UTF-8 without the mark before it, with which editors and shells of Windows save JSON (RFC 8259 §8.1). */
export function withoutMark(text: Buffer): Buffer {
  return text.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? text.subarray(byteOrderMark.length) : text
}

/** Whether a buffer keeps no other bytes in memory than its own. */
function ownsMemory({ buffer, length }: Buffer): boolean {
  return buffer.byteLength === length
}

function wrongLength(): RuleError {
  return new RuleError('request-form', 'the body does not have the length that Content-Length says')
}
