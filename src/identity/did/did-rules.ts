import type { IdRules } from './identifier.js'

/** Limits of one DID operation; the values of the shipped chains are {@link defaultDidLimits}. */
export interface DidLimits {
  /** Bytes of a decoded document. */
  readonly payloadBytes: number
  /** Keys, services, credentials and other names of one document together. */
  readonly entries: number
  /** New credentials by other issuers in one document. */
  readonly foreignCredentials: number
}

export const defaultDidLimits: DidLimits = {
  /** @limit bytes: decoded payload of a DID operation */
  payloadBytes: 128 * 1024,
  /** @limit count: keys, services, credentials and other names of a document */
  entries: 256,
  /** @limit count: new credentials by other issuers in a document */
  foreignCredentials: 32,
}

/** Rules of a chain's spec for DID operations. */
export interface DidRules {
  readonly method: string
  /** Accepted `specification` strings. */
  readonly specifications: { readonly did: readonly string[]; readonly credential: readonly string[] }
  readonly limits: DidLimits
  /** Whether documents may have what `refuseLater` of first-form.ts refuses. */
  readonly didCore: boolean
  /** Whether DIDs may have a name and controllers. */
  readonly names: boolean
}

/**
 * The identifiers that operations and documents may have. Names are read before a chain has them too: whether it has is a matter of the
 * height, which bytes do not show, and has a code of its own.
 */
export function idRules({ method }: DidRules): IdRules & { readonly chain: true } {
  return { method, chain: true, names: true }
}
