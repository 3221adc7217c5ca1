import { capitalsFault } from '../../base/primitives/did-name.js'

/** Characters of every identifier that is derived from a key. */
const derivedLength = 34

/**
 * Describes why a text is not the identifier of a key, for its author; the caller has found that it is none. Everything but the checksum is
 * visible without a hash, so programs that resolve in a browser take this file alone. A name with capitals is told that it has them.
 */
export function identifierFault(text: string): string {
  const [fault, capitals] = [keyFault(text), capitalsFault(text)]
  return capitals === '' ? fault : `${fault}; ${capitals}`
}

function keyFault(text: string): string {
  const at = text.search(/[^1-9A-HJ-NP-Za-km-z]/)
  if (at >= 0) return `character ${at + 1} is none of base58`
  if (text.length !== derivedLength) return `its length is ${text.length}, not ${derivedLength}`
  if (!text.startsWith('i')) return `it begins with ${text.charAt(0)}, not with i`
  return 'its checksum is wrong, so it is mistyped or made up'
}
