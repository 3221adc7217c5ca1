import type { AnswerClient } from '../node-handles.js'
import type { AnswerReader, SharedAnswers } from './shared-answer.js'
import type { StreamedAnswer } from './streamed-answer.js'

/** An answer made while it is read: UTF-8, or text. */
export type AnswerStream = AsyncGenerator<Buffer | string, void, void>

/** The parts of a reader, between two texts. */
export async function* framed(before: string, reader: AnswerReader, after: string): AnswerStream {
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

/** A stream of which some parts were read already. */
export async function* resumed(parts: readonly Buffer[], rest: AnswerStream): AnswerStream {
  try {
    yield* parts
    yield* rest
  } finally {
    await rest.return()
  }
}

/** An answer that is no point read: bytes if it is short, else as it is made. Rejects with the reason of a refusal. */
export async function bodyOf(
  answer: StreamedAnswer,
  client: AnswerClient,
  sharedAnswers: SharedAnswers,
  [before, after]: readonly [string, string] = ['', ''],
): Promise<Buffer | AnswerStream> {
  const reader = sharedAnswers.join(answer, client)
  const { whole } = await reader.ready()
  const stream = framed(before, reader, after)
  return whole ? Buffer.concat((await beginningOf(stream, Infinity)).parts) : stream
}
