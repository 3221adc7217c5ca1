import { RuleError } from '../../base/errors/rule-error.js'
import { parseStrictJson } from '../../base/primitives/strict-json.js'
import { documentJsonLimits } from '../did/document.js'
import { formatDate } from '../did/date.js'
import type { IdRules } from '../did/identifier.js'
import type { DidDocument, Endpoint } from '../did/model.js'
import { asObject, list, refuseUnknown, requiredText } from '../did/member-readers.js'
import { isJwt, readJws } from './compact-jws.js'
import { readJwtCredential, w3cContext } from './jwt-credential.js'
import type { SignedCredential } from './signed-credential.js'

/** DIF Well Known DID Configuration: the file by which an origin of the web and a DID say that they belong together. */

export const configurationPath = '/.well-known/did-configuration.json'
const configurationContext = 'https://identity.foundation/.well-known/did-configuration/v1'
const linkageType = 'DomainLinkageCredential'

/**
 * A file names one DID or few.
 * @limit count: credentials of a DID configuration
 */
export const maxLinked = 32

/** Payload of the credential by which a DID claims an origin; its form leaves no room for an id or a status. */
export function linkagePayload(plan: { did: string; origin: string; issued: number; expires: number }): object {
  const { did, origin, issued, expires } = plan
  return {
    exp: expires,
    iss: did,
    nbf: issued,
    sub: did,
    vc: {
      '@context': [w3cContext, configurationContext],
      issuer: did,
      issuanceDate: formatDate(issued),
      expirationDate: formatDate(expires),
      type: ['VerifiableCredential', linkageType],
      credentialSubject: { id: did, origin },
    },
  }
}

/** The file of an origin with these credentials, JWT. */
export function didConfiguration(linked: readonly string[]): {
  readonly '@context': string
  readonly linked_dids: readonly string[]
} {
  return { '@context': configurationContext, linked_dids: linked }
}

/** Whether a service of a document leads to an origin: its type is `LinkedDomains`, its endpoint an address, several, or an object with `origins`. */
export function linksTo({ services }: DidDocument, origin: string): boolean {
  const addresses = services.flatMap(({ type, serviceEndpoint }) =>
    type === 'LinkedDomains' ? addressesIn(serviceEndpoint) : [],
  )
  return addresses.some((address) => URL.canParse(address) && new URL(address).origin === origin)
}

function addressesIn(endpoint: Endpoint): readonly string[] {
  const all = Array.isArray(endpoint) ? endpoint : [endpoint]
  return all
    .flatMap((one) => (one instanceof Map ? (one.get('origins') ?? []) : one))
    .filter((address) => typeof address === 'string')
}

/** A credential of a DID configuration that claims an origin. */
export type Linkage = SignedCredential & { readonly origin: string }

/**
 * The credentials of a DID configuration, JSON text, that are JWT of DIDs of this method; others, of other methods and forms, are for other
 * readers. Throws a {@link RuleError} for a file of another form.
 */
export function readDidConfiguration(text: string, rules: IdRules): readonly string[] {
  const file = asObject(parseStrictJson(text, documentJsonLimits), 'the DID configuration')
  refuseUnknown(file, new Set(['@context', 'linked_dids']), '')
  if (requiredText(file, '@context', '') !== configurationContext) {
    throw new RuleError('document-form', `@context is not ${configurationContext}`)
  }
  const linked = list(file, 'linked_dids', '')
  if (linked.length > maxLinked) {
    throw new RuleError('document-entries', `linked_dids has ${linked.length} entries, and ${maxLinked} are taken`)
  }
  return linked.filter((entry) => typeof entry === 'string').filter((entry) => isOfMethod(entry, rules))
}

function isOfMethod(entry: string, { method }: IdRules): boolean {
  if (!isJwt(entry)) return false
  const issuer = issuerOf(entry)
  return issuer?.startsWith(`did:${method}:`) === true
}

/** The issuer that a JWT names; undefined where it is of an algorithm that is not read here. */
function issuerOf(entry: string): string | undefined {
  try {
    const issuer = readJws(entry).payload.get('iss')
    return typeof issuer === 'string' ? issuer : undefined
  } catch (error) {
    if (error instanceof RuleError) return undefined
    throw error
  }
}

/** Reads a JWT by which a DID claims an origin. Throws a {@link RuleError}; verifies nothing. */
export function readLinkage(text: string, rules: IdRules): Linkage {
  const { header, payload } = readJws(text)
  refuseUnknown(header, new Set(['alg', 'kid']), 'header')
  refuseUnknown(payload, new Set(['exp', 'iss', 'nbf', 'sub', 'vc']), '')
  requiredText(header, 'kid', 'header')
  const credential = readJwtCredential(text, rules)
  if (!credential.types.includes(linkageType))
    throw new RuleError('credential-type', `vc.type does not name ${linkageType}`)
  if (credential.subject !== credential.issuer) throw new RuleError('credential-subject', 'sub is not the issuer')
  if (credential.expires === undefined) throw new RuleError('document-date', 'exp is missing')
  const origin = credential.claims.get('origin')
  if (typeof origin === 'string') return { ...credential, origin }
  throw new RuleError('document-form', 'vc.credentialSubject.origin is missing')
}
