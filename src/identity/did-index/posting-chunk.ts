import { CodecError } from '../../base/primitives/codec.js'

/**
 * Postings of one token in one chunk of 256 ordinals: ascending u16s, (ordinal & 255) << 8 | element. Stored as the LEB128 of the
 * distance of each to the one before (of the first to -1), minus 1.
 */

/** Ordinals of a chunk. */
export const chunkOrdinals = 256

export function chunkOf(ordinal: number): number {
  return Math.floor(ordinal / chunkOrdinals)
}

/** A posting within its chunk. */
export function chunkPosting(ordinal: number, element: number): number {
  return ((ordinal & 255) << 8) | element
}

const posting16 = 0xffff
/** Bytes of the longest distance. */
const longestDistance = 3

/** Encodes ascending postings without repeats. */
export function encodeChunk(postings: ArrayLike<number>): Uint8Array {
  const bytes = Buffer.allocUnsafe(postings.length * longestDistance)
  let length = 0
  let before = -1
  for (let i = 0; i < postings.length; i++) {
    const posting = postings[i] as number
    let distance = posting - before - 1
    before = posting
    for (; distance > 0x7f; distance >>>= 7) bytes[length++] = (distance & 0x7f) | 0x80
    bytes[length++] = distance
  }
  return new Uint8Array(bytes.subarray(0, length))
}

/** Decodes a row. Throws a {@link CodecError} for bytes that {@link encodeChunk} cannot have made. */
export function decodeChunk(bytes: Uint8Array): Uint16Array {
  // Each posting has one byte or more.
  const postings = new Uint16Array(bytes.length)
  let count = 0
  let before = -1
  for (let at = 0; at < bytes.length;) {
    let byte = bytes[at++] as number
    let distance = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      if (at === bytes.length || shift >= 7 * longestDistance) throw malformed('a distance does not end')
      byte = bytes[at++] as number
      if (byte === 0) throw malformed('a distance has more bytes than it needs')
      distance |= (byte & 0x7f) << shift
    }
    before += distance + 1
    if (before > posting16) throw malformed('a posting is above its chunk')
    postings[count++] = before
  }
  return postings.subarray(0, count)
}

function malformed(what: string): CodecError {
  return new CodecError(`the postings of a chunk are malformed: ${what}`)
}

/** A change of a chunk: a posting that is put in, or the complement (`~`) of one that is taken out. */
export type PostingChange = number

/** Postings after changes, made in their order. */
export function changedChunk(postings: Uint16Array, changes: readonly PostingChange[]): Uint16Array {
  // A new DID has the highest ordinal: nearly all changes put a posting behind all others.
  if (areAbove(postings.at(-1) ?? -1, changes)) {
    const all = new Uint16Array(postings.length + changes.length)
    all.set(postings)
    all.set(changes, postings.length)
    return all
  }
  const all = new Set<number>(postings)
  for (const change of changes) {
    if (change >= 0) all.add(change)
    else all.delete(~change)
  }
  return Uint16Array.from(all).sort()
}

/** Whether numbers ascend from above `last`. */
function areAbove(last: number, numbers: readonly number[]): boolean {
  for (const number of numbers) {
    if (number <= last) return false
    last = number
  }
  return true
}
