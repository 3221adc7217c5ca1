import { joined } from '../../base/primitives/bytes.js'
import { CodecError, decodeAll, type Reader } from '../../base/primitives/codec.js'
import type { Hash } from '../../base/primitives/hash.js'
import { emptyHistory, entrySize, extendHistory, leafValue } from './history.js'
import type { MapKey } from './map-tree.js'
import { named } from './mirror-page.js'

/** Leaves of the map as files of a mirror: a history and the transactions of what is the latest in it, named by the value (format 11.3). */

/**
 * Entries of a history in one file; those before are in the file of the leaf as it was, whose name follows from `base`. A file has a bounded
 * size, however often a DID changes, and is written anew with each change.
 */
export const entriesInLeaf = 128

/** Transactions of the latest document and of its end, or of a declare and a revoke. */
const transactionsInLeaf = 2

/** Content of the file of a leaf. */
export interface MirrorLeaf {
  /** 1, or 2: ended. */
  readonly state: number
  /** Entries of the whole history. */
  readonly count: number
  readonly key: MapKey
  /** Digest of the entries before these; zeros: there are none. */
  readonly base: Hash
  /** The last ones, oldest first: {@link entriesShown} of them, 73 bytes each. */
  readonly entries: readonly Uint8Array[]
  /** Transactions of the last entries, oldest first. */
  readonly transactions: readonly Uint8Array[]
}

/** Entries that the file of a leaf has: all of a short history, of a longer one those after the last whole {@link entriesInLeaf} that hold a document. */
export function entriesShown({ state, count }: Pick<MirrorLeaf, 'state' | 'count'>): number {
  const ends = state === 2 && count > 1 ? 1 : 0
  return ((count - ends - 1) % entriesInLeaf) + 1 + ends
}

/** state u8, count u32, key 32, [base 32], entries, number of transactions u8, each: length u32 and bytes. `base` is there exactly where entries are left out. */
export function leafFile({ state, count, key, base, entries, transactions }: MirrorLeaf): Uint8Array {
  const before = entries.length < count ? [base] : []
  const texts = transactions.flatMap((bytes) => [bytes.length, bytes])
  return joined(Uint8Array.of(state), count, key, ...before, ...entries, Uint8Array.of(transactions.length), ...texts)
}

/** The leaf in a file; undefined for bytes that are none. Its name is the caller's to compare. */
export function readLeafFile(bytes: Uint8Array): MirrorLeaf | undefined {
  try {
    return decodeAll(bytes, readLeaf, (reason) => new CodecError(reason))
  } catch {
    return undefined
  }
}

function readLeaf(reader: Reader): MirrorLeaf {
  const [state, count] = [reader.u8(), reader.u32()]
  if ((state !== 1 && state !== 2) || count === 0) throw new CodecError('no history')
  const key = reader.hash()
  const shown = entriesShown({ state, count })
  const base = shown < count ? reader.hash() : emptyHistory
  const entries = Array.from({ length: shown }, () => reader.take(entrySize))
  const number = reader.u8()
  if (number > Math.min(transactionsInLeaf, shown)) throw new CodecError('too many transactions')
  const transactions = Array.from({ length: number }, () => reader.take(reader.u32()))
  return { state, count, key, base, entries, transactions }
}

/** The value of a leaf: the name of its file. */
export function valueOfLeaf({ state, count, base, entries }: Omit<MirrorLeaf, 'key' | 'transactions'>): Uint8Array {
  return leafValue({ state, count, digest: entries.reduce(extendHistory, base) })
}

/** The value that a leaf had before the entries of its file; undefined: these are all. */
export function valueBefore({ count, base, entries }: MirrorLeaf): Uint8Array | undefined {
  if (entries.length === count) return undefined
  return leafValue({ state: 1, count: count - entries.length, digest: base })
}

export function leafName(value: Uint8Array): string {
  return named('leaf', value)
}
