import { parseAddress, prefix } from '../../base/primitives/address.js'
import { isDidName } from '../../base/primitives/did-name.js'
import { didMethod } from '../../base/primitives/did-method.js'

/** The DID or credential that a DID URL names. Pure. */

export type DidTarget =
  | { readonly kind: 'did' | 'credential'; readonly text: string }
  | { readonly kind: 'wrong'; readonly text: string; readonly reason: string }

/** The beginning of every DID of the chain. */
export const lead = `did:${didMethod}:`
/** The same as phones and QR codes write it: a scheme has no capitals, and nothing else can be meant. */
export const anyLead = new RegExp(`^${lead}`, 'i')
const identifierForm = /^i[1-9A-HJ-NP-Za-km-z]{33}$/

/** The subject of a page about a DID: the identifier of one alone is taken as well. */
export function didSubject(subject: string): DidTarget {
  const target = didTarget(/^did(?::|%3a)/i.test(subject) ? subject : `${lead}${subject}`)
  return target.kind === 'credential'
    ? { kind: 'wrong', text: subject, reason: 'This is no DID, but the id of something that belongs to one.' }
    : target
}

/** The subject of a page about a credential: its absolute id. */
export function credentialSubject(subject: string): DidTarget {
  const target = didTarget(subject)
  return target.kind === 'did'
    ? { kind: 'wrong', text: subject, reason: 'The id of a credential is a DID, then # and a name.' }
    : target
}

/** Text with its percent signs decoded once, as it stands where that is not possible. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The target of a DID URL: a path and a query lead to the page of the DID, a fragment to that of a credential. */
export function didTarget(text: string): DidTarget {
  // Encoded as a whole, its question mark and its fragment are encoded too.
  const url = /[?#/]/.test(text) ? text : decoded(text)
  const fragment = /#(.*)$/s.exec(url)?.[1]
  const did = decoded(url.replace(/[?#/].*$/s, ''))
  if (!anyLead.test(did)) return { kind: 'wrong', text, reason: `DIDs of this chain begin with ${lead}` }
  const identifier = did.slice(lead.length)
  const reason = faultOf(identifier)
  if (reason !== undefined) return { kind: 'wrong', text, reason }
  return fragment === undefined || fragment === ''
    ? { kind: 'did', text: lead + identifier }
    : { kind: 'credential', text: `${lead}${identifier}#${decoded(fragment)}` }
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
