/** Declares which rows are copied into another engine, and by which bytes of their key they are divided over its shards. */

/** Part of a key that decides which shard has its row. */
export interface KeyPart {
  /** As docs/schema.md has it. */
  readonly drawing: string
  of(key: Uint8Array): Uint8Array
  /** Bytes at the beginning of a key, its table byte included, up to which keys that are equal have the same part; Infinity: unknown. */
  reach(key: Uint8Array): number
}

/** Shards with a row: each of them, none, or the one that a part of the key decides. */
export type Shipped = 'all' | 'none' | KeyPart

/** The first bytes behind the table byte: a key that only begins with them has its rows on the same shard. */
function first(drawing: string, size: number): KeyPart {
  return { drawing, of: (key) => key.subarray(1, 1 + size), reach: () => 1 + size }
}

export const byKey: KeyPart = { drawing: 'key', of: (key) => key.subarray(1), reach: () => Infinity }
export const byHeight = first('height', 4)
export const byProgramHash = first('program hash', 21)

/** Ordinals in 16 bits that come to one shard: the numbers of all documents with two tokens are compared there. */
const unit = 'ordinal >> 16'
export const byOrdinal: KeyPart = { drawing: unit, of: (key) => key.subarray(1, 3), reach: () => 3 }
/** The key ends with the chunk u24, of which each has 256 ordinals. */
export const byChunk: KeyPart = { drawing: unit, of: (key) => key.subarray(-3, -1), reach: () => Infinity }

/** Bytes of the path of a page that decide. */
const pathBytes = 2
export const byPage: KeyPart = {
  drawing: 'depth, first 16 bits',
  // A page has so many bytes of its path; behind them a height may follow.
  of: (key) => key.subarray(1, 2 + bytesOfPath(key)),
  reach: (key) => 2 + bytesOfPath(key),
}

function bytesOfPath(key: Uint8Array): number {
  return Math.min(pathBytes, ((key[1] ?? 0) + 7) >> 3)
}
