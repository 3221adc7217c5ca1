import * as form from '../../base/primitives/forms.js'
import { type DidHeadRow, didHead } from '../storage/rows/did-tables.js'
import { rowOf } from '../storage/rows/layout.js'

/** A DID of a state on its way to its ordinal, which follows from the place of its create operation. */
export interface CreatedDid {
  readonly did: Uint8Array
  /** Its ordinal is 0. */
  readonly head: DidHeadRow
  /** Tokens by which its document is found. */
  readonly tokens: Uint8Array
}

export const createdDid = rowOf(form.record<CreatedDid>({ did: form.bytes(21), head: didHead, tokens: form.rest }))
