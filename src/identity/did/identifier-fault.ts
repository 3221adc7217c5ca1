/** Characters of every identifier that is derived from a key. */
const derivedLength = 34

/**
 * What keeps a text from being the identifier of a key, in words for its author; the text is known to be none. Everything but the
 * checksum is visible without a hash, so programs that resolve in a browser take this file alone.
 */
export function identifierFault(text: string): string {
  const at = text.search(/[^1-9A-HJ-NP-Za-km-z]/)
  if (at >= 0) return `character ${at + 1} is none of base58`
  if (text.length !== derivedLength) return `its length is ${text.length}, not ${derivedLength}`
  if (!text.startsWith('i')) return `it begins with ${text.charAt(0)}, not with i`
  return 'its checksum is wrong, so it is mistyped or made up'
}
