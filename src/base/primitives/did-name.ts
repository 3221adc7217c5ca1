/** Names of DIDs, which stand in place of identifiers that keys have (format 4.5). Without imports: small pages use this file. */

/** @limit characters: name of a DID; as many as 20 bytes hold */
export const longestName = 30
const nameForm = /^[a-z0-9][a-z0-9._-]{0,29}$/

/** Whether a text is a name that a DID may have: lower case, digits, and after the first character also `.`, `_` and `-`. */
export function isDidName(text: string): boolean {
  return nameForm.test(text)
}

/** Names the spelling that would be a name, of a text which only its capitals keep from being one; empty for other texts. */
export function capitalsFault(text: string): string {
  const lower = text.toLowerCase()
  return lower !== text && isDidName(lower) ? `names have no capitals, as in ${lower}` : ''
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
