import { CodecError, type Reader, type Writer } from '../../base/primitives/codec.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { didOfKey, isOfLongName } from '../../base/primitives/did-key.js'
import type { Hash } from '../../base/primitives/hash.js'
import {
  type Entry,
  entryBytes,
  emptyHistory,
  entrySize,
  extendHistory,
  readEntry,
  valueOfHistory,
} from '../../identity/proofs/history.js'
import { didKey } from '../storage/rows/did-reader.js'
import { keptEntries } from '../../identity/proofs/kept-entries.js'
import { credentialMapKey, didMapKey, type Leaf } from '../../identity/proofs/map-tree.js'

/** A leaf of the map with what it stands for: the history of a DID, or of one DID's operations on a credential. */

export interface LeafRecord {
  /** The DID, or the DID of the signer. */
  readonly did: ProgramHash
  /** Its full text where that does not follow: of a long name. */
  readonly text?: string
  /** Absolute id of a credential; undefined for a leaf of a DID. */
  readonly credential?: string
  /** All operations, oldest first. */
  readonly entries: readonly Entry[]
  /** Bytes of the transactions of {@link kept} entries, in that order. */
  readonly transactions: readonly Uint8Array[]
}

/** Least bytes of a record. */
export const leafSize = 21 + 1 + 1 + entrySize

/**
 * Positions of the entries whose transactions a state has: of a DID those of {@link keptEntries}, of a credential all.
 */
export function kept({ credential, entries }: Pick<LeafRecord, 'credential' | 'entries'>): number[] {
  return credential === undefined ? keptEntries(entries) : [...entries.keys()]
}

/** The full text of the DID of a record. */
export function textOf({ did, text }: Pick<LeafRecord, 'did' | 'text'>): string {
  return text ?? didOfKey(did)
}

/** A leaf with the digest of its history after each entry. */
export interface LeafOfHistory extends Leaf {
  readonly digests: readonly Hash[]
}

/** The leaf: where it is in the map, and what it binds. */
export function leafOf({ credential, entries, ...of }: Omit<LeafRecord, 'transactions'>): LeafOfHistory {
  const text = textOf(of)
  const key = credential === undefined ? didMapKey(text) : credentialMapKey(credential, text)
  const { operation: last } = entries.at(-1) as Entry
  let digest = emptyHistory
  const digests = entries.map((entry) => (digest = extendHistory(digest, entryBytes(entry))))
  return { key, value: valueOfHistory({ last, count: entries.length, digest }), digests }
}

export function writeLeaf(writer: Writer, { did, text, credential, entries, transactions }: LeafRecord): void {
  writer.bytes(did)
  if (text !== undefined) writer.varstring(text)
  writer.varstring(credential ?? '')
  writer.varuint(entries.length)
  for (const entry of entries) writer.bytes(entryBytes(entry))
  writer.varuint(transactions.length)
  for (const bytes of transactions) writer.varbytes(bytes)
}

/** Reads a record; throws a CodecError, and a RuleError where it has no entry. */
export function readLeaf(reader: Reader): LeafRecord {
  const did = reader.take(21)
  const text = isOfLongName(did) ? readText(reader, did) : undefined
  const credential = reader.varstring(reader.remaining)
  const entries = reader.list(reader.remaining, entrySize, () => readEntry(reader.take(entrySize)))
  if (entries.length === 0) throw new CodecError('a leaf without an operation')
  const transactions = reader.list(reader.remaining, 1, () => reader.varbytes(reader.remaining))
  return { did, ...defined({ text }), ...(credential !== '' && { credential }), entries, transactions }
}

/** The text of the DID whose key is that of a long name. */
function readText(reader: Reader, did: ProgramHash): string {
  const text = reader.varstring(reader.remaining)
  const key = didKey(text)
  if (key === undefined || !equalBytes(key, did)) throw new CodecError('a name that is not that of its key')
  return text
}
