import { parseAddress, prefix } from '../../base/primitives/address.js'
import { isDidName } from '../../base/primitives/did-name.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { hashIn } from '../route.js'

/** Things that a text in the search box may name. Pure. */

export type SearchTarget =
  | { readonly kind: 'height' | 'hash' | 'address' | 'did' | 'credential' | 'text'; readonly text: string }
  | { readonly kind: 'wrong'; readonly text: string; readonly reason: string }

const identifierForm = /^i[1-9A-HJ-NP-Za-km-z]{33}$/

/** Reads a text of the search box; undefined for an empty one. `hash` may be a block or a transaction. */
export function searchTarget(input: string): SearchTarget | undefined {
  const text = input.trim()
  if (text === '') return undefined
  const height = text.replace(/^#|[\s\u202f,]/g, '')
  if (/^\d{1,10}$/.test(height)) return { kind: 'height', text: String(Number(height)) }
  const hash = hashIn(text)
  if (hash !== undefined) return { kind: 'hash', text: hash }
  const url = didUrlIn(text)
  if (url !== undefined) return didTarget(url)
  const address = parseAddress(text)
  if (address?.[0] === prefix.did) return { kind: 'did', text: `did:${didMethod}:${text}` }
  if (address !== undefined) return { kind: 'address', text }
  if (/^[Ei][1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) {
    return { kind: 'wrong', text, reason: 'This looks like an address or a DID, but its checksum is wrong.' }
  }
  return { kind: 'text', text }
}

/** The subject of a page about a DID: the identifier of one alone is taken as well. */
export function didSubject(subject: string): SearchTarget {
  const target = didTarget(subject.startsWith('did:') ? subject : `did:${didMethod}:${subject}`)
  return target.kind === 'credential'
    ? { kind: 'wrong', text: subject, reason: 'This is no DID, but the id of something that belongs to one.' }
    : target
}

/** The subject of a page about a credential: its absolute id. */
export function credentialSubject(subject: string): SearchTarget {
  const target = didTarget(subject)
  return target.kind === 'did'
    ? { kind: 'wrong', text: subject, reason: 'The id of a credential is a DID, then # and a name.' }
    : target
}

/**
 * The DID URL that a text is, or that stands in the address of a resolver, as `https://host/1.0/identifiers/did%3Aledger%3A…`; each part
 * of it may be percent-encoded, and quotes and commas may have been copied along. Undefined: there is none.
 */
function didUrlIn(text: string): string | undefined {
  const place = /^https?:\/\//i.test(text) ? /(?<=[/#=])did(?::|%3a)[^\s&]*/i : /^["'<]*(did(?::|%3a).*)$/is
  const found = place.exec(text)
  return (found?.[1] ?? found?.[0])?.replace(/["'>,;]+$/, '')
}

/** Text with its percent signs decoded once, as it stands where that is not possible. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The target of a DID URL: a path and a query lead to the page of the DID, a fragment to that of a credential. */
function didTarget(text: string): SearchTarget {
  // Encoded as a whole, its question mark and its fragment are encoded too.
  const url = /[?#/]/.test(text) ? text : decoded(text)
  const fragment = /#(.*)$/s.exec(url)?.[1]
  const did = decoded(url.replace(/[?#/].*$/s, ''))
  const identifier = did.slice(did.lastIndexOf(':') + 1)
  if (!did.startsWith(`did:${didMethod}:`)) {
    return { kind: 'wrong', text, reason: `DIDs of this chain begin with did:${didMethod}:` }
  }
  const reason = faultOf(identifier)
  if (reason !== undefined) return { kind: 'wrong', text, reason }
  return fragment === undefined || fragment === ''
    ? { kind: 'did', text: did }
    : { kind: 'credential', text: `${did}#${decoded(fragment)}` }
}

/** A reason why an identifier is none of a DID; undefined: it is one. */
function faultOf(identifier: string): string | undefined {
  const hash = parseAddress(identifier)
  if (hash?.[0] === prefix.did || isDidName(identifier)) return undefined
  if (hash !== undefined) return 'This is no DID: behind the method stands an address.'
  return identifierForm.test(identifier)
    ? 'This is no DID: its checksum is wrong.'
    : 'This is no DID: behind the method stand 34 characters of base58, of which the first is i, or a name of a to z, 0 to 9, . _ -'
}
