import { fromUtf8, utf8 } from '../../../base/primitives/bytes.js'
import type { OperationNumber } from '../../../base/primitives/did-operation.js'
import * as form from '../../../base/primitives/forms.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { type Entry, entryBytes, entrySize, readEntry, stateAfter } from '../../../identity/proofs/history.js'
import { height, type Location } from './chain-tables.js'
import { type Codec, codec, type Field, hash, programHash, raw, rowOf, table, u32 } from './layout.js'
import { byHeight, byKey, byProgramHash } from './shipped.js'

/** Rows of DIDs, of their documents, and of credentials. */

/** The state of a DID, without its document: that is in the transaction of the last create or update. */
export interface DidHeadRow {
  readonly status: 'valid' | 'deactivated'
  /** Operations so far; the next one gets this sequence number. */
  readonly operationCount: number
  /** Sequence number of the operation that holds the document. */
  readonly documentSequence: number
  /** Number of the DID in the order of creation. */
  readonly ordinal: number
}

/** One operation of a DID. */
export interface DidOperationRow extends Location, Entry {
  /** Digest of the history up to this operation. */
  readonly digest: Hash
}

/** One operation in the row of a credential and a signer: 75 bytes. */
export type CredentialOperationRow = Location & Entry

/** Operations of one DID on one credential, in chain order: a declare, a revoke, or the one and then the other. */
export type CredentialRow = readonly CredentialOperationRow[]

export const didHead = rowOf(
  form.record<DidHeadRow>({
    status: form.oneOf(['valid', 'deactivated']),
    operationCount: form.u32,
    documentSequence: form.u32,
    ordinal: form.u32,
  }),
)

const operation = codec<DidOperationRow>(
  107,
  (writer, row) =>
    writer
      .u32(row.height)
      .u16(row.index)
      .bytes(row.txid)
      .u8(row.operation)
      .u32(row.time)
      .bytes(row.payloadHash)
      .bytes(row.digest),
  (reader) => ({
    height: reader.u32(),
    index: reader.u16(),
    txid: reader.hash(),
    operation: reader.u8() as OperationNumber,
    time: reader.u32(),
    payloadHash: reader.hash(),
    digest: reader.hash(),
  }),
)

/** The state is that after the last operation: 1 declared, 2 revoked. */
const credential = codec<CredentialRow>(
  ({ length }) => 2 + (2 + entrySize) * length,
  (writer, operations) => {
    const last = operations.at(-1)
    writer.u8(last === undefined ? 1 : stateAfter(last.operation)).u8(operations.length)
    for (const one of operations) writer.u16(one.index).bytes(entryBytes(one))
    return writer
  },
  (reader) => {
    reader.u8()
    return Array.from({ length: reader.u8() }, () => {
      const index = reader.u16()
      return { index, ...readEntry(reader.take(entrySize)) }
    })
  },
)

export const fragment: Codec<string> = { encode: fromUtf8, decode: (bytes) => utf8(bytes) ?? '' }

/** The position of a DID's create operation, so that documents sort by age. */
export const create: Field<Location> = {
  drawing: "height u32, index u16 of the DID's create operation",
  size: 6,
  write: (into, { height, index }, at) => into.writeUInt16BE(index, into.writeUInt32BE(height, at)),
  read: (from, at) => ({ height: from.readUInt32BE(at), index: from.readUInt16BE(at + 4) }),
}

export const didTables = {
  didHead: table(0x0d, [programHash('program hash of the DID')], didHead, byProgramHash),
  didOperation: table(0x0e, [programHash('program hash of the DID'), u32('number')], operation, byProgramHash),
  /** JSON in UTF-8. */
  didDocument: table(0x0f, [create], raw(), byHeight),
  /** By `credentialMapKey`. */
  credential: table(
    0x13,
    [hash('SHA-256 of `vc`, 00, id of the credential, 00, DID of the signer')],
    credential,
    byKey,
  ),
  declared: table(0x14, [programHash('program hash of the holder'), u32('number')], fragment, byProgramHash),
  /** No row for 0. */
  declaredCount: table(0x15, [programHash('program hash of the holder')], height, byProgramHash),
}
