import { RuleError } from '../errors/rule-error.js'
import { parseAddress, prefix, type ProgramHash } from '../primitives/address.js'
import { didMethod } from '../primitives/spec.js'

/** @limit characters: a DID in a request to the resolver */
export const maxDidLength = 256

const lead = `did:${didMethod}:`
const identifierForm = /^[A-Za-z0-9._-]+$/

/**
 * Identifier of a DID, given in full or as the identifier alone; it need not be one that a key can have. Throws
 * `request-parameter` for empty or longer text, another method, or characters that no identifier has.
 */
export function identifierOf(text: string): string {
  if (text.length === 0 || text.length > maxDidLength) {
    throw new RuleError('request-parameter', `did: 1 to ${maxDidLength} characters are needed, not ${text.length}`)
  }
  const identifier = text.startsWith(lead) ? text.slice(lead.length) : text
  if (identifierForm.test(identifier)) return identifier
  throw new RuleError('request-parameter', `did: neither ${lead}<identifier> nor an identifier of A-Z a-z 0-9 . _ -`)
}

export function didOf(identifier: string): string {
  return lead + identifier
}

/** The program hash behind an identifier; undefined for one that no key can have. */
export function existingKey(identifier: string): ProgramHash | undefined {
  const hash = parseAddress(identifier)
  return hash?.[0] === prefix.did ? hash : undefined
}
