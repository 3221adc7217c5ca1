import { allocate, asBytes, joined, putUint32 } from '../../base/primitives/bytes.js'
import { Reader } from '../../base/primitives/codec.js'
import { formOfNumber, type OperationNumber } from '../../base/primitives/did-operation.js'
import { type Hash, sha256, zeroHash } from '../../base/primitives/hash.js'

/** The history of a DID, or of one DID's operations on a credential: a chain of hashes over its operations. */

/** One operation as its leaf binds it. */
export interface Entry {
  readonly operation: OperationNumber
  readonly height: number
  /** Unix seconds of its block. */
  readonly time: number
  /** Internal order. */
  readonly txid: Hash
  /** sha256 of the payload text as it stands in the transaction. */
  readonly payloadHash: Hash
}

/** Bytes of an entry. */
export const entrySize = 73

/** The digest before the first entry. */
export const emptyHistory: Hash = zeroHash

/** An entry in 73 bytes: operation u8, height u32, time u32, txid, hash of the payload; little-endian. */
export function entryBytes({ operation, height, time, txid, payloadHash }: Entry): Uint8Array {
  // Not joined: there are millions of them.
  const bytes = allocate(entrySize)
  bytes[0] = operation
  putUint32(bytes, 1, height)
  putUint32(bytes, 5, time)
  bytes.set(txid, 9)
  bytes.set(payloadHash, 41)
  return bytes
}

/** The entry in 73 bytes. Its operation is any byte: callers check it. */
export function readEntry(bytes: Uint8Array): Entry {
  const reader = new Reader(bytes)
  return {
    operation: reader.u8() as OperationNumber,
    height: reader.u32(),
    time: reader.u32(),
    txid: reader.hash(),
    payloadHash: reader.hash(),
  }
}

/** The bytes to hash: a fresh buffer each time would cost as much as the hash. */
const extended = asBytes(new Uint8Array(32 + entrySize))

/** Returns the digest of a history after one more entry, in bytes. */
export function extendHistory(digest: Hash, entry: Uint8Array): Hash {
  extended.set(digest)
  extended.set(entry, digest.length)
  return sha256(extended)
}

/** A history as its leaf shows it. */
export interface HistoryEnd {
  /** Operation of the last entry. */
  readonly last: OperationNumber
  readonly count: number
  readonly digest: Hash
}

/** State of a leaf: 1, or 2 once a DID is deactivated or a credential revoked. */
export function stateAfter(last: OperationNumber): 1 | 2 {
  return formOfNumber(last)?.effect === 'end' ? 2 : 1
}

/** sha256(state u8 ‖ count u32 ‖ digest). */
export function leafValue({ state, count, digest }: { state: number; count: number; digest: Hash }): Uint8Array {
  return sha256(joined(Uint8Array.of(state), count, digest))
}

/** The value of the leaf of a history. */
export function valueOfHistory({ last, count, digest }: HistoryEnd): Uint8Array {
  return leafValue({ state: stateAfter(last), count, digest })
}
