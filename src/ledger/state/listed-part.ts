import * as form from '../../base/primitives/forms.js'
import type { Hash } from '../../base/primitives/hash.js'

/** A part of a state behind its head, as a list names it. */
export interface ListedPart {
  readonly kind: number
  readonly number: number
  /** Bytes. */
  readonly length: number
  /** SHA-256 of its bytes. */
  readonly hash: Hash
}

/** Bytes of a part in a list. */
export const listedSize = 1 + 4 + 4 + 32

export const listedPart = form.record<ListedPart>({
  kind: form.u8,
  number: form.u32,
  length: form.u32,
  hash: form.hash,
})
