import * as form from '../../../base/primitives/forms.js'
import { rowOf, table, u64 } from './layout.js'

/** Kind of a batch. Numbers are the order here and never change. */
const kinds = [
  'checkpoint',
  'genesis',
  'block',
  'reorganisation',
  'header',
  'pool',
  'rewind',
  'peers',
  'voting',
  'layout',
  'prune',
  'state',
  'shipping',
] as const
export type JournalKind = (typeof kinds)[number]

export interface JournalRow {
  readonly kind: JournalKind
  /** Height and hash of the tip after the batch. */
  readonly height: number
  readonly hash: Uint8Array
  /** Bytes of keys and values in the batch, this row excepted. */
  readonly bytes: number
  /** Digest of the row before; zeros for the first. */
  readonly previous: Uint8Array
  /** sha256 over the operations of the batch, this row excepted, as write/batch-rows.ts writes them. */
  readonly operations: Uint8Array
}

const journalRow = rowOf(
  form.record<JournalRow>({
    kind: form.oneOf(kinds),
    height: form.u32,
    hash: form.hash,
    bytes: form.u32,
    previous: form.hash,
    operations: form.hash,
  }),
)

export const journal = table(0x01, [u64('sequence')], journalRow, 'none')
