import { asBytes, concat, equalBytes, fromUtf8 } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'

/**
 * Commitments of a coinbase beyond its outputs: data that begins with `LDG1`, then entries of a tag byte and 32 bytes, with
 * ascending tags.
 */

const magic = fromUtf8('LDG1')
const entrySize = 33

/** 5, a root for complete searches, is reserved. */
export const commitmentTag = { witnessRoot: 1, didRoot: 2, nextValidators: 3, coinRoot: 4 } as const

/** Entries by tag, in ascending order. */
export type Commitments = ReadonlyMap<number, Hash>

export function encodeCommitments(entries: Commitments): Uint8Array {
  return concat(magic, ...[...entries].map(([tag, hash]) => concat(Uint8Array.of(tag), hash)))
}

/** Whether the data of an attribute of usage 0x81 claims to be commitments. */
export function isCommitments(data: Uint8Array): boolean {
  return equalBytes(data.subarray(0, magic.length), magic)
}

/** The entries in data that {@link isCommitments}; undefined unless all of it is entries with strictly ascending tags. */
export function decodeCommitments(data: Uint8Array): Commitments | undefined {
  const body = asBytes(data).subarray(magic.length)
  if (body.length % entrySize !== 0) return undefined
  const entries = new Map<number, Hash>()
  let last = -1
  for (let at = 0; at < body.length; at += entrySize) {
    const tag = body[at] as number
    if (tag <= last) return undefined
    entries.set(tag, body.subarray(at + 1, at + entrySize))
    last = tag
  }
  return entries
}
