import { concat, mapKey } from '../primitives/bytes.js'
import { sha256, zeroHash } from '../primitives/hash.js'
import type { SignatureCheck } from '../primitives/signature.js'

/**
 * At about 100 bytes each a full cache is about 13 MB.
 * @tuning count: cached signature checks
 */
export const signatureCacheEntries = 131_072

/** The part of a check that names it. */
type NamedCheck = Pick<SignatureCheck, 'message' | 'keys' | 'signatures' | 'identity'>

/**
 * Checks that verified when their transactions entered the pool, so that a block with them need not verify them again. Bounded:
 * the oldest is evicted first.
 */
export class SignatureCache {
  readonly #verified = new Set<string>()
  /** One iterator for the set's lifetime: a new one would step over the slots of all deleted entries. */
  readonly #oldest = this.#verified.values()
  readonly #capacity: number

  constructor(capacity: number = signatureCacheEntries) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#verified.size
  }

  /** Adds checks that hold; the caller must have verified them, or made their signatures. */
  add(checks: readonly NamedCheck[]): void {
    this.addNamed(identitiesOf(checks))
  }

  /** Adds checks that hold by their {@link identitiesOf}, which another thread may have computed. */
  addNamed(identities: readonly string[]): void {
    for (const id of identities) {
      this.#verified.add(id)
      if (this.#verified.size > this.#capacity) this.#verified.delete(this.#oldest.next().value as string)
    }
  }

  /** The checks that are not cached, in order: those still to verify. */
  unknown(checks: readonly SignatureCheck[]): readonly SignatureCheck[] {
    if (this.#verified.size === 0) return checks
    const unknown: SignatureCheck[] = []
    let identify: ((check: NamedCheck) => string | undefined) | undefined
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i] as SignatureCheck
      const id = check.identity ?? (identify ??= identifier())(check)
      if (id === undefined || !this.#verified.has(id)) unknown.push(check)
    }
    return unknown
  }
}

/** Names of checks in a {@link SignatureCache}, without those that it does not take. */
export function identitiesOf(checks: readonly NamedCheck[]): string[] {
  return checks.map(identifier()).filter((id) => id !== undefined)
}

/**
 * Names checks: by their own name, or by SHA-256 over the number of keys, the keys, the signatures and SHA-256 of the message.
 * Undefined for a check whose keys or signatures are not of the one valid length, without which the concatenation would be ambiguous.
 */
function identifier(): (check: NamedCheck) => string | undefined {
  // The checks of one transaction are consecutive and share its bytes, which may be megabytes.
  let hashed: Uint8Array | undefined
  let digest: Uint8Array = zeroHash
  return (check) => {
    const { identity, message, keys, signatures } = check
    if (identity !== undefined) return identity
    if (!keys.every((key) => key.length === 33) || !signatures.every((signature) => signature.length === 64)) {
      return undefined
    }
    if (message !== hashed) digest = sha256((hashed = message))
    const count = Uint8Array.of(keys.length >>> 8, keys.length & 0xff)
    return mapKey(sha256(concat(count, ...keys, ...signatures, digest)))
  }
}
