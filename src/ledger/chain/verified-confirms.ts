import { concat, mapKey } from '../../base/primitives/bytes.js'
import { sha256 } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { LruMap } from '../../base/runtime/lru-map.js'

/**
 * Two batches of headers ahead of their blocks.
 * @tuning count: confirms verified before their blocks
 */
const verifiedEntries = 8192

/**
 * Confirms that hold, each for one header: a block with one need not have it checked again. Whether a confirm holds depends on the header,
 * its bytes and the chain spec alone, so one cache serves one chain. Bounded: the oldest is evicted first.
 */
export class VerifiedConfirms {
  readonly #names = new LruMap<true>(verifiedEntries)

  /** Adds a confirm; the caller has checked it by {@link checkConfirm} and verified its signatures. */
  add(header: Header, confirm: Uint8Array): void {
    this.#names.set(nameOf(header, confirm), true)
  }

  has(header: Header, confirm: Uint8Array): boolean {
    return this.#names.peek(nameOf(header, confirm)) === true
  }
}

function nameOf({ hash }: Header, confirm: Uint8Array): string {
  return mapKey(sha256(concat(hash, confirm)))
}
