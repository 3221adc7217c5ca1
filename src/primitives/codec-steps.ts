import { utf8Steps } from './bytes.js'
import { CodecError, ended, failureOf, Reader } from './codec.js'
import type { Steps } from './steps.js'

/** What {@link Reader} reads at once, in steps: for bytes that may be many. Web pages that check proofs need none of it. */

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

/** {@link Reader.varstring} in steps, for texts that may be long. */
export function* varstringSteps(reader: Reader, max: number): Steps<string> {
  const text = yield* utf8Steps(reader.varbytes(max))
  if (text === undefined) throw new CodecError('text that is not UTF-8')
  return text
}

/** {@link Reader.list} in steps. */
export function listSteps<T>(reader: Reader, max: number, size: number, item: (reader: Reader) => T): Steps<T[]> {
  let count = 0
  return itemSteps(reader, reader.varuint(max), size, function* () {
    if (++count % itemsAtOnce === 0) yield
    return item(reader)
  })
}

/** {@link Reader.items}, each read in steps. */
export function* itemSteps<T>(reader: Reader, count: number, size: number, item: () => Steps<T>): Steps<T[]> {
  if (count * size > reader.remaining) throw new CodecError(`${count} items do not fit in what is left`)
  const items: T[] = []
  for (let i = 0; i < count; i++) items.push(yield* item())
  return items
}
