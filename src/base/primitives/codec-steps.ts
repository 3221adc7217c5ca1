import { anyUtf8, utf8 } from './bytes.js'
import { CodecError, ended, failureOf, Reader } from './codec.js'
import type { Steps } from './steps.js'

/** Reads of {@link Reader} in steps, for bytes that may be many. Web pages that check proofs need none of it. */

/** Short items read in one step. */
const itemsAtOnce = 16

/** {@link decodeAll} in steps. */
export function* decodeAllSteps<T>(
  bytes: Uint8Array,
  read: (reader: Reader) => Steps<T>,
  fail: (reason: string) => Error,
): Steps<T> {
  const reader = new Reader(bytes)
  try {
    return ended(reader, yield* read(reader))
  } catch (error) {
    throw failureOf(reader, error, fail)
  }
}

/** Bytes of text decoded in one step. */
const textPiece = 256 * 1024

/** `utf8` in steps. */
export function* utf8Steps(bytes: Uint8Array): Steps<string | undefined> {
  if (bytes.length <= textPiece) return utf8(bytes)
  const pieces = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  for (let start = 0; start < bytes.length; start += textPiece) {
    try {
      const end = start + textPiece
      text += pieces.decode(bytes.subarray(start, end), { stream: end < bytes.length })
    } catch {
      return undefined
    }
    yield
  }
  return text
}

/** {@link Reader.varstring} in steps, for texts that may be long. */
export function* varstringSteps(reader: Reader, max: number): Steps<string> {
  return yield* textSteps(reader.varbytes(max))
}

/** {@link varstringSteps} of a text that is not needed yet: it stays bytes, and is made when it is asked for. A long one is kept. */
export function* lateTextSteps(reader: Reader, max: number): Steps<() => string> {
  const bytes = reader.varbytes(max)
  const text = yield* textSteps(bytes)
  return bytes.length <= textPiece ? textOf(bytes) : kept(text)
}

// Closures of one function would hold what any of them needs.
const textOf = (bytes: Uint8Array) => () => anyUtf8(bytes)
const kept = (text: string) => () => text

function* textSteps(bytes: Uint8Array): Steps<string> {
  const text = yield* utf8Steps(bytes)
  if (text === undefined) throw new CodecError('text that is not UTF-8')
  return text
}

/** The count of a list whose items take at least `size` bytes, as {@link Reader.list} reads it. */
export function countOf(reader: Reader, max: number, size: number): number {
  const count = reader.varuint(max)
  if (count * size > reader.remaining) throw new CodecError(`${count} items do not fit in what is left`)
  return count
}

/** {@link Reader.list} in steps. */
export function* listSteps<T>(reader: Reader, max: number, size: number, item: (reader: Reader) => T): Steps<T[]> {
  const items: T[] = []
  for (let left = countOf(reader, max, size); left > 0; left--) {
    items.push(item(reader))
    if (left % itemsAtOnce === 0) yield
  }
  return items
}

/** {@link listSteps} of items that are read in steps, with a pause after so many of them. */
export function* longListSteps<T>(
  reader: Reader,
  { max, size, together }: { readonly max: number; readonly size: number; readonly together: number },
  item: (reader: Reader) => Steps<T>,
): Steps<T[]> {
  const items: T[] = []
  for (let left = countOf(reader, max, size); left > 0; left--) {
    items.push(yield* item(reader))
    if (left % together === 0) yield
  }
  return items
}
