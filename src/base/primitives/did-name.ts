/** Names of DIDs, which stand in place of identifiers that keys have (format 4.5). Without imports: small pages use this file. */

/** @limit characters: name of a DID; as many as leave room for any fragment in an id of 256 */
export const longestName = 116
// The identifiers of keys are 34 characters that begin with i, and some of them would be names.
const nameForm = /^(?!i.{33}$)[a-z0-9][a-z0-9._-]{0,115}$/

/**
 * Whether a text is a name that a DID may have: lower case, digits, and after the first character also `.`, `_` and `-`; but none that could
 * be the identifier of a key.
 */
export function isDidName(text: string): boolean {
  return nameForm.test(text)
}

/** The form of names in words. */
export const nameRule = `1 to ${longestName} of a-z 0-9 . _ -, the first a letter or digit; no 34 that begin with i`

// Letters and digits alone, of both cases since capitals are looked for: a mistyped identifier of a key, or an address. Signs behind it are
// those of a sentence.
const identifierLike = /^(?=.*[a-z])\w{26,}[._-]*$/

/**
 * Names the spelling that would be a name, of a text which only its capitals keep from being one; empty for other texts, and for those that
 * look like an identifier: it would be another DID, which anyone may register.
 */
export function capitalsFault(text: string): string {
  const lower = text.toLowerCase()
  if (lower === text || !isDidName(lower) || identifierLike.test(text)) return ''
  return `names have no capitals, as in ${lower}`
}

/** Whether a DID has a name, not the identifier of a key. */
export function hasName(did: string): boolean {
  return nameLengthOf(did) !== undefined
}

/** Length of the name of a DID; undefined for the DID of a key. */
export function nameLengthOf(did: string): number | undefined {
  const identifier = did.slice(did.lastIndexOf(':') + 1)
  return isDidName(identifier) ? identifier.length : undefined
}
