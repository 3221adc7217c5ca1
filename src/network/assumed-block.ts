import { parseDisplayHash } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'

/** A block below which signatures need not be looked at again. */
export interface AssumedBlock {
  readonly height: number
  /** In internal order. */
  readonly hash: Hash
}

/** The block that `HEIGHT:HASH` names, the hash in display order; undefined for any other text. */
export function parseAssumed(text: string): AssumedBlock | undefined {
  const [, height, digits = ''] = /^([1-9][0-9]{0,9}):(.*)$/s.exec(text) ?? []
  const hash = parseDisplayHash(digits)
  if (height === undefined || Number(height) > 0xffffffff || hash === undefined) return undefined
  return { height: Number(height), hash }
}
