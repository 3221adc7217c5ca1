import { concat, joined } from '../../base/primitives/bytes.js'
import { type Hash, type RunningHash, runningSha256, sha256 } from '../../base/primitives/hash.js'

/** The root of all coins that some blocks commit to (format 10.6): a tree of hashes over their rows. */

/** Bytes of a coin as the root binds it: its row in table 08, key and value (docs/schema.md). */
export const coinRowSize = 73
/** Coins of a chunk, which is a leaf of the tree: 4 MiB of them. Only the last one has fewer. */
export const chunkCoins = Math.floor((4 * 1024 * 1024) / coinRowSize)
/** Place of the value of a coin, i64, in its row. */
const valueAt = 40

/** All coins of a state, as the root binds them. */
export interface CoinSet {
  /** Hashes of the chunks, in the order of the coins. */
  readonly leaves: readonly Hash[]
  readonly count: number
  /** Sum of their values. */
  readonly sum: bigint
}

/** Rows that a rule reads of a state besides coins, DIDs and credentials. */
export interface RuleRows {
  /** Rows of table 1d, key and value, in the order of their keys; empty where no side chain is proved, or no rule reads them. */
  readonly sideChains: Uint8Array
}

/** Takes the rows of all coins, in the order of their keys and in pieces of any number, and hashes them by chunks. */
export class CoinHasher {
  readonly #leaves: Hash[] = []
  #chunk = newChunk()
  /** Coins in the chunk. */
  #filled = 0
  #count = 0
  #sum = 0n

  /** Adds rows, one after another. */
  add(rows: Uint8Array): void {
    for (let at = 0; at < rows.length;) {
      const room = (chunkCoins - this.#filled) * coinRowSize
      const piece = rows.subarray(at, at + room)
      this.#chunk.update(piece)
      this.#sum += sumOf(piece)
      this.#filled += piece.length / coinRowSize
      if (this.#filled === chunkCoins) this.#endChunk()
      at += piece.length
    }
  }

  /** The coins that were added. */
  finish(): CoinSet {
    if (this.#filled > 0) this.#endChunk()
    return { leaves: this.#leaves, count: this.#count, sum: this.#sum }
  }

  #endChunk(): void {
    this.#leaves.push(this.#chunk.digest())
    this.#count += this.#filled
    this.#chunk = newChunk()
    this.#filled = 0
  }
}

/** The root that block `height` + 288 commits to, for the state after block `height` of the chain with this genesis hash. */
export function coinRoot(genesis: Hash, height: number, { leaves, count, sum, sideChains }: CoinSet & RuleRows): Hash {
  const numbers = new DataView(new ArrayBuffer(20))
  numbers.setUint32(0, height, true)
  numbers.setBigUint64(4, BigInt(count), true)
  numbers.setBigUint64(12, sum, true)
  const others = sideChains.length === 0 ? [] : [sha256(sideChains)]
  return sha256(concat(Uint8Array.of(4), genesis, new Uint8Array(numbers.buffer), treeRoot(leaves), ...others))
}

/** The root of a tree over leaves, split as in RFC 6962: the left part is the largest power of two below their number. */
export function treeRoot(leaves: readonly Hash[]): Hash {
  if (leaves.length === 0) return sha256(new Uint8Array(0))
  if (leaves.length === 1) return leaves[0] as Hash
  const left = leftPart(leaves.length)
  return inner(treeRoot(leaves.slice(0, left)), treeRoot(leaves.slice(left)))
}

function leftPart(count: number): number {
  return 2 ** (31 - Math.clz32(count - 1))
}

function inner(left: Hash, right: Hash): Hash {
  return sha256(joined(Uint8Array.of(1), left, right))
}

function newChunk(): RunningHash {
  const chunk = runningSha256()
  chunk.update(Uint8Array.of(0))
  return chunk
}

/** Sum of the values in rows. Halves are added as numbers: a piece has too few rows for more than 2^53. */
function sumOf(rows: Uint8Array): bigint {
  const view = new DataView(rows.buffer, rows.byteOffset, rows.length)
  let [low, high] = [0, 0]
  for (let at = valueAt; at < rows.length; at += coinRowSize) {
    low += view.getUint32(at, true)
    high += view.getUint32(at + 4, true)
  }
  return (BigInt(high) << 32n) + BigInt(low)
}
