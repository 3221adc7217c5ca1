import { isDidName } from '../../base/primitives/did-name.js'
import { sharedAddress, prefix } from '../../base/primitives/address.js'

/** @limit bytes: a DID, or an id below it */
export const maxIdLength = 256

/** Rules for valid DIDs. */
export interface IdRules {
  /** The method name: `ledger` on this project's chains. */
  readonly method: string
  /** On a chain an identifier is the base58check text of a DID program hash; the library also reads chosen names. */
  readonly chain: boolean
  /** Whether identifiers of a chain may be names. */
  readonly names?: boolean
}

const identifierForm = /^[A-Za-z0-9._-]+$/
const fragmentForm = /^[A-Za-z0-9._:@!$'()*+,;=~-]{1,128}$/

/** Whether `text` is the identifier of a DID derived from a key: base58check of a DID program hash. */
export function isDerivedIdentifier(text: string): boolean {
  return sharedAddress(text)?.[0] === prefix.did
}

/** Whether `text` is `did:<method>:<identifier>`, at most 256 bytes long. */
export function isDid(text: string, rules: IdRules): boolean {
  const start = `did:${rules.method}:`
  if (!text.startsWith(start) || text.length > maxIdLength) return false
  const identifier = text.slice(start.length)
  if (!rules.chain) return identifierForm.test(identifier)
  return isDerivedIdentifier(identifier) || (rules.names === true && isDidName(identifier))
}

/**
 * Absolute form of a reference: `#fragment` is relative to `base`, `<did>#fragment` is absolute. Undefined for any other text,
 * and for more than 256 bytes. `base` is a DID that was checked before.
 */
export function absoluteId(reference: string, base: string, rules: IdRules): string | undefined {
  const hash = reference.indexOf('#')
  if (hash < 0 || !fragmentForm.test(reference.slice(hash + 1))) return undefined
  const id = hash === 0 ? base + reference : reference
  if (id.length > maxIdLength) return undefined
  return hash === 0 || (hash === base.length && reference.startsWith(base)) || isDid(reference.slice(0, hash), rules)
    ? id
    : undefined
}

/** The DID of an absolute id. */
export function didPart(id: string): string {
  return id.slice(0, id.indexOf('#'))
}

/** An absolute id as it is written below `base`: `#fragment` if it belongs to that DID, else unchanged. */
export function relativeId(id: string, base: string): string {
  return didPart(id) === base ? id.slice(base.length) : id
}
