import { type Reader, Writer } from '../../base/primitives/codec.js'
import type { Hash } from '../../base/primitives/hash.js'

/** The first part of a state: which state it is, and what it has besides. */

/** Head of a state; all of it is checked by later parts. */
export interface StateHead {
  readonly genesis: Hash
  /** Height of the state. */
  readonly height: number
  /** Number of coins, and sum of their values. */
  readonly coins: number
  readonly sum: bigint
  /** Bits of keys by which leaves are in parts. */
  readonly depth: number
  /** Confirm of the block that commits to the coins; empty on a chain of work. */
  readonly confirm: Uint8Array
}

/** @limit levels: of the map above the subtrees in which leaves of a state are sent */
export const maxDepth = 20

export function encodeHead({ genesis, height, coins, sum, depth, confirm }: StateHead): Uint8Array {
  const writer = new Writer().bytes(genesis).u32(height).u64(BigInt(coins)).u64(sum).u8(depth)
  return writer.varbytes(confirm).finish()
}

/** Reads a head; throws a CodecError. */
export function readHead(reader: Reader): StateHead {
  const [genesis, height] = [reader.hash(), reader.u32()]
  const [coins, sum, depth] = [Number(reader.u64()), reader.u64(), reader.u8()]
  return { genesis, height, coins, sum, depth, confirm: reader.varbytes(reader.remaining) }
}
