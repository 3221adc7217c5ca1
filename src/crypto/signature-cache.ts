import { concat, mapKey } from '../primitives/bytes.js'
import { sha256, zeroHash } from '../primitives/hash.js'
import type { SignatureCheck } from '../primitives/signature.js'

/** Remembered checks; at about 100 bytes each a full cache is about 13 MB. */
export const signatureCacheEntries = 131_072

/**
 * Checks that verified when their transactions entered the pool, so that the block that brings them need not verify them
 * again. Bounded: the oldest goes first.
 */
export class SignatureCache {
  readonly #verified = new Set<string>()
  /** One iterator for all time: a new one would have to pass the places of all that went before. */
  readonly #oldest = this.#verified.values()
  readonly #capacity: number

  constructor(capacity: number = signatureCacheEntries) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#verified.size
  }

  /** Remembers checks that hold. Call it with nothing that was not verified. */
  add(checks: readonly SignatureCheck[]): void {
    const identity = identifier()
    for (const check of checks) {
      const id = identity(check)
      if (id === undefined) continue
      this.#verified.add(id)
      if (this.#verified.size > this.#capacity) this.#verified.delete(this.#oldest.next().value as string)
    }
  }

  /** The checks that are not remembered, in their order: those still to verify. */
  unknown(checks: readonly SignatureCheck[]): readonly SignatureCheck[] {
    if (this.#verified.size === 0) return checks
    const identity = identifier()
    return checks.filter((check) => {
      const id = identity(check)
      return id === undefined || !this.#verified.has(id)
    })
  }
}

/**
 * Names checks: SHA-256 over the number of keys, the keys, the signatures and SHA-256 of the message. Undefined for a check whose
 * keys or signatures are not of the one valid length, without which the concatenation would be ambiguous.
 */
function identifier(): (check: SignatureCheck) => string | undefined {
  // The checks of one transaction follow each other and share its bytes, which may be megabytes.
  let hashed: Uint8Array | undefined
  let digest: Uint8Array = zeroHash
  return ({ message, keys, signatures }) => {
    if (!keys.every((key) => key.length === 33) || !signatures.every((signature) => signature.length === 64)) {
      return undefined
    }
    if (message !== hashed) digest = sha256((hashed = message))
    const count = Uint8Array.of(keys.length >>> 8, keys.length & 0xff)
    return mapKey(sha256(concat(count, ...keys, ...signatures, digest)))
  }
}
