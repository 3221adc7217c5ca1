import { Readable } from 'node:stream'
import type { FlightReader } from './shared-answer.js'

/** An answer made while it is read: UTF-8, or text. */
export type AnswerStream = AsyncGenerator<Buffer | string, void, void>

/** The parts of a reader, between two texts. */
export async function* framed(before: string, reader: FlightReader, after: string): AnswerStream {
  try {
    yield before
    for (let part = await reader.next(); part !== undefined; part = await reader.next()) yield part
    yield after
  } finally {
    reader.close()
  }
}

/** The beginning of a stream: all of it, or at least so many bytes. */
export async function beginningOf(
  stream: AnswerStream,
  bytes: number,
): Promise<{ readonly parts: Buffer[]; readonly whole: boolean }> {
  const parts: Buffer[] = []
  let length = 0
  while (length < bytes) {
    const { value, done } = await stream.next()
    if (done === true) return { parts, whole: true }
    const part = Buffer.from(value as string)
    length += part.length
    parts.push(part)
  }
  return { parts, whole: false }
}

/** The whole text of an answer, of any length. */
export async function wholeText(answer: string | AnswerStream | undefined): Promise<string | undefined> {
  if (answer === undefined || typeof answer === 'string') return answer
  const { parts } = await beginningOf(answer, Infinity)
  return parts.length === 0 ? undefined : Buffer.concat(parts).toString()
}

/** Body of a response: `parts`, then those of a stream, which ends with the connection. */
export function bodyOf(parts: readonly Buffer[], rest: AnswerStream, part: number): Readable {
  const first = [...parts]
  const next = async (): Promise<Buffer | string | null> => {
    const known = first.shift()
    if (known !== undefined) return known
    const { value, done } = await rest.next()
    return done === true ? null : (value as Buffer | string)
  }
  return new Readable({
    highWaterMark: part,
    read() {
      next().then(
        (some) => this.push(some),
        (error: unknown) => this.destroy(error as Error),
      )
    },
    destroy(error, callback) {
      first.length = 0
      // A part in progress ends first; its failure no longer matters.
      rest.return().catch(() => {})
      callback(error)
    },
  })
}
