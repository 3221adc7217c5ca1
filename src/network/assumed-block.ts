import { parseDisplayHash } from '../base/primitives/bytes.js'
import type { Hash } from '../base/primitives/hash.js'

/** A block up to which signatures are not verified again. */
export interface AssumedBlock {
  readonly height: number
  /** In internal order. */
  readonly hash: Hash
}

/** Parses `HEIGHT:HASH`, the hash in display order; undefined for any other text. */
export function parseAssumed(text: string): AssumedBlock | undefined {
  const [, height, digits = ''] = /^([1-9][0-9]{0,9}):(.*)$/s.exec(text) ?? []
  const hash = parseDisplayHash(digits)
  if (height === undefined || Number(height) > 0xffffffff || hash === undefined) return undefined
  return { height: Number(height), hash }
}
