import * as form from '../../../base/primitives/forms.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { rowOf, table, u64 } from './layout.js'

/** Rows of the outbox: one for each batch whose rows are shipped, until all shards have it. */

export interface OutboxRow {
  /** The batch of the row before, or the one with which the stream began. */
  readonly before: number
  /** Digest of the journal up to that one, and up to this one. */
  readonly digestBefore: Hash
  readonly digest: Hash
  /** Tip after the batch, and the time of its header in Unix seconds. */
  readonly height: number
  readonly hash: Hash
  readonly time: number
  /** 1: more batches of the same reorganisation follow, which readers see as one. */
  readonly isOpen: number
  /** Bytes of the outbox rows of the stream up to this one. */
  readonly total: number
  /** For each changed row length of its key u16, of its sealed value i32 (-1: deleted), key, sealed value. */
  readonly rows: Uint8Array
}

/** Bytes before the rows. */
export const outboxHeadSize = 8 + 32 + 32 + 4 + 32 + 4 + 1 + 8

const outboxRow = rowOf(
  form.record<OutboxRow>({
    before: form.u64,
    digestBefore: form.hash,
    digest: form.hash,
    height: form.u32,
    hash: form.hash,
    time: form.u32,
    isOpen: form.u8,
    total: form.u64,
    rows: form.rest,
  }),
  ({ rows }) => outboxHeadSize + rows.length,
)

export const outbox = table(0xf0, [u64('sequence')], outboxRow, 'none')
