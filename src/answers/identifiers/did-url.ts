import { isDidName, longestName } from '../../base/primitives/did-name.js'
import { identifierFault } from '../../identity/did/identifier-fault.js'
import { isDerivedIdentifier } from '../../identity/did/identifier.js'
import { percentDecoded } from '../../identity/did/resolution-options.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { Problem } from './problem.js'

/** The text that is asked for, and its parts: a DID, or a URL below one. */
export interface DidUrl {
  readonly did: string
  /** From its slash on; empty without one. */
  readonly path: string
  /** Without the mark before it. */
  readonly query: string | undefined
  readonly fragment: string | undefined
}

const percent = '%[0-9A-Fa-f]{2}'
const pchar = `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|${percent})`
const idchar = `(?:[A-Za-z0-9._-]|${percent})`
/** Path, query, fragment. */
const rest = `((?:/${pchar}*)*)(?:\\?((?:${pchar}|[/?])*))?(?:#((?:${pchar}|[/?])*))?$`
/** The rule `did-url` of DID Core §3.2: method, identifier, {@link rest}. */
const didUrl = new RegExp(`^did:([a-z0-9]+):((?:${idchar}*:)*${idchar}+)${rest}`)
/** Pattern of the texts that {@link readDidUrl} takes; an identifier that is no name has a checksum besides. */
export const didUrlForm = `^did:${didMethod}:(?:i[1-9A-HJ-NP-Za-km-z]{33}|[a-z0-9][a-z0-9._-]{0,${longestName - 1}})${rest}`

/**
 * Reads the last part of a path as it was sent; percent signs are decoded once. `INVALID_DID` and, for text with a path, a query
 * or a fragment, `INVALID_DID_URL` for another form; `METHOD_NOT_SUPPORTED`; `INVALID_DID` for an identifier that no key has.
 */
export function readDidUrl(part: string): DidUrl {
  const text = percentDecoded(part)
  const match = text === undefined ? null : didUrl.exec(text)
  if (match === null) {
    const isUrl = isDidUrlText(part)
    const rule = isUrl ? 'a DID URL, did:<method>:<identifier> with path, query or fragment' : 'a DID'
    throw new Problem(isUrl ? 'INVALID_DID_URL' : 'INVALID_DID', `${shown(text ?? part)} is not ${rule}`)
  }
  const [, method, identifier = '', path = '', query, fragment] = match
  if (method !== didMethod) {
    throw new Problem('METHOD_NOT_SUPPORTED', `this resolver knows the method ${didMethod}, not ${shown(method ?? '')}`)
  }
  if (!isDerivedIdentifier(identifier) && !isDidName(identifier)) {
    throw new Problem('INVALID_DID', `no key has the identifier ${shown(identifier)}: ${identifierFault(identifier)}`)
  }
  return { did: `did:${method}:${identifier}`, path, query, fragment }
}

/** Whether the last part of a path, as it was sent, is more than a DID: a path, a query or a fragment follow. */
export function isDidUrlText(part: string): boolean {
  return /[/?#]|%(?:2f|3f|23)/i.test(part)
}

/** Quotes text of a request, cut to 100 characters, for an answer. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
