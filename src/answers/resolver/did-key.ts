import { identifierFault } from '../../identity/did/identifier-fault.js'
import type { ResolveOptions } from '../../identity/did/resolution.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { didOf, keyOfIdentifier } from '../../base/primitives/did-key.js'
import { didMethod } from '../../base/primitives/did-method.js'

/** @limit characters: a DID, or the id of a credential, in a request to the resolver */
export const maxDidLength = 256

const lead = `did:${didMethod}:`
const characters = 'A-Za-z0-9._-'
/** Pattern of the texts that {@link identifierOf} and {@link credentialIdOf} take, if they are short enough. */
export const didForm = `^(${lead})?[${characters}]+$`
export const credentialIdForm = `^${lead}[${characters}]+#[\\s\\S]+$`
const [isDid, isCredentialId] = [new RegExp(didForm), new RegExp(credentialIdForm)]

/**
 * Identifier of a DID, given in full or as the identifier alone; it need not be one that a key can have. Throws
 * `request-parameter` for empty or longer text, another method, or characters that no identifier has. `name`: the parameter.
 */
export function identifierOf(text: string, name = 'did'): string {
  requireLength(name, text)
  if (isDid.test(text)) return text.startsWith(lead) ? text.slice(lead.length) : text
  throw new RuleError(
    'request-parameter',
    `${name}: neither ${lead}<identifier> nor an identifier of A-Z a-z 0-9 . _ -`,
  )
}

/** The DID in full of a text that can be one. `request-parameter` as {@link identifierOf} does, and where the checksum of a key is wrong. */
export function possibleDidOf(text: string, name = 'did'): string {
  const identifier = identifierOf(text, name)
  if (existingKey(identifier) !== undefined) return didOf(identifier)
  throw new RuleError('request-parameter', `${name}: no DID can have this identifier: ${identifierFault(identifier)}`)
}

/** Form of the ids that {@link credentialIdOf} takes. */
export const credentialIdText = `${lead}<identifier>#<fragment>, 1 to ${maxDidLength} characters`

/** The id of a credential as given, in full; it need not be one that a credential can have. Else `request-parameter`. */
export function credentialIdOf(text: string): string {
  requireLength('id', text)
  if (isCredentialId.test(text)) return text
  throw new RuleError('request-parameter', `id: not ${credentialIdText}`)
}

/** Counts code points, as lengths in schemas do. */
function requireLength(name: string, text: string): void {
  const length = text.length > 2 * maxDidLength ? text.length : [...text].length
  if (length > 0 && length <= maxDidLength) return
  throw new RuleError('request-parameter', `${name}: 1 to ${maxDidLength} characters are needed, not ${length}`)
}

/** With a context asked for: why no key can have the identifier of a DID that does not exist, if that can be seen. */
export function hintOf(identifier: string, { context }: Pick<ResolveOptions, 'context'>): { readonly hint?: string } {
  if (context !== true || existingKey(identifier) !== undefined) return {}
  return { hint: `no key has this identifier: ${identifierFault(identifier)}` }
}

/** The program hash behind an identifier; undefined for one that no key can have. */
export function existingKey(identifier: string): ProgramHash | undefined {
  return keyOfIdentifier(identifier)
}
