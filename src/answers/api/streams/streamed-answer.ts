import type { ChainReader } from '../../../ledger/chain/reader.js'
import { toHex } from '../../../base/primitives/bytes.js'
import { sha256 } from '../../../base/primitives/hash.js'

/** Answers that are no point reads: written in parts, with back-pressure, and made once for all equal requests. */

/** Takes the text of an answer from its producer. */
export interface Sink {
  /** Aborts once no client waits for the answer. */
  readonly signal: AbortSignal
  /** Appends text; check {@link due} after each piece of some kilobytes. */
  add(text: string): void
  /** Whether to await {@link drain}: a part is full, or the time slice is over. */
  readonly due: boolean
  /** Passes on a full part, waits for readers and for the next time slice; rejects once no client waits. */
  drain(): Promise<void>
  /**
   * Reserves `bytes` of memory beside that of every answer, until the returned function is called. Waits for other answers;
   * `busy` after a while. Release one before reserving the next.
   */
  reserve(bytes: number): Promise<() => void>
}

export interface StreamedAnswerOptions {
  /** Names the text: equal keys → equal text. */
  readonly key: string
  /**
   * Whether {@link StreamedAnswer.write} writes the same text each time, or rejects. A slow reader of such an answer continues
   * alone; of other answers it is cut off once it delays the rest.
   */
  readonly repeatable: boolean
  /** Bytes counted among searches, which may take long, beside those of every answer; absent: counted as an ordinary answer. */
  readonly search?: number
  write(sink: Sink): Promise<void>
}

/** @tuning characters: name of an answer in progress; a longer one is replaced by a hash */
const longestKey = 256

/** A result as JSON text, made only once the gate admits it. */
export class StreamedAnswer {
  readonly key: string
  readonly repeatable: boolean
  readonly search: number | undefined
  readonly #write: (sink: Sink) => Promise<void>

  constructor({ key, repeatable, search, write }: StreamedAnswerOptions) {
    // It contains parameters, of any length, and is kept as long as the answer.
    this.key = key.length > longestKey ? `sha256 ${toHex(sha256(key))}` : key
    this.repeatable = repeatable
    this.search = search
    this.#write = write
  }

  /** Writes the whole text. Refusals are RuleErrors. */
  write(sink: Sink): Promise<void> {
    return this.#write(sink)
  }
}

/** Key of text that depends on the chain alone, valid for its present tip. */
export function chainKey({ chain }: ChainReader, ...names: readonly (string | number)[]): string {
  return `${chain.tip.header.id} ${names.join(' ')}`
}

/** The JSON of what `make` gives once there is room for it. */
export function jsonAnswer(
  key: string,
  make: (sink: Sink) => Promise<unknown>,
  options: Pick<StreamedAnswerOptions, 'search'> = {},
): StreamedAnswer {
  const write = async (sink: Sink) => writeText(sink, JSON.stringify(await make(sink)))
  return new StreamedAnswer({ key, repeatable: false, ...options, write })
}

/** Items of which the first was asked for before. */
export async function* following<T>(
  first: Promise<IteratorResult<T, void>>,
  rest: AsyncGenerator<T, void, void>,
): AsyncGenerator<T, void, void> {
  try {
    const { value, done } = await first
    if (done === true) return
    yield value
    yield* rest
  } finally {
    await rest.return()
  }
}

/** Items of which the first is there: where rows are fetched, it fixes the state that all are of. */
export async function begun<T>(items: AsyncGenerator<T, void, void>): Promise<AsyncGenerator<T, void, void>> {
  const first = await items.next()
  return following(Promise.resolve(first), items)
}

/** Writes a JSON array whose items `write` writes, as they come. */
export async function writeList<T>(
  sink: Sink,
  items: Iterable<T> | AsyncIterable<T>,
  write: (item: T) => void | Promise<void>,
): Promise<void> {
  let separator = '['
  for await (const item of items) {
    sink.add(separator)
    separator = ','
    await write(item)
    if (sink.due) await sink.drain()
  }
  sink.add(separator === '[' ? '[]' : ']')
}

/** Writes a JSON array item by item. */
export async function writeArray<T>(
  sink: Sink,
  items: Iterable<T>,
  json: (item: T, index: number) => unknown,
): Promise<void> {
  let count = 0
  sink.add('[')
  for (const item of items) {
    const text = JSON.stringify(json(item, count))
    sink.add(count++ === 0 ? text : `,${text}`)
    if (sink.due) await sink.drain()
  }
  sink.add(']')
}

/** Characters of a text that are written at once. */
const textPiece = 32 * 1024

/** Writes a complete text. */
export async function writeText(sink: Sink, text: string): Promise<void> {
  let at = 0
  while (at < text.length) {
    let end = at + textPiece
    // A surrogate pair is one character of UTF-8.
    if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end++
    sink.add(text.slice(at, end))
    at = end
    if (sink.due) await sink.drain()
  }
}
