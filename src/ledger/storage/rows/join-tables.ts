import * as form from '../../../base/primitives/forms.js'
import { create, type DidHeadRow, didHead, fragment } from './did-tables.js'
import { programHash, rowOf, table, u16, u32 } from './layout.js'

/** Rows that are there only while the rows of a state are made: they put what comes in the order of the map into that of the chain. */

/** A DID that gets its ordinal by its place. */
export interface CreatedRow {
  readonly did: Uint8Array
  /** Its ordinal is 0. */
  readonly head: DidHeadRow
  /** Tokens by which its document is found. */
  readonly tokens: Uint8Array
}

const created = rowOf(form.record<CreatedRow>({ did: form.bytes(21), head: didHead, tokens: form.rest }))

export const joinTables = {
  created: table(0x26, [create], created, 'none'),
  declaring: table(0x27, [programHash('program hash of the holder'), u32('height'), u16('index')], fragment, 'none'),
}
