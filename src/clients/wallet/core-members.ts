import { base64Bytes, type Jwk, type KeyInput, privateGiven, readPublicKey } from '../../base/crypto/key-forms.js'
import { UserError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { requireOptions } from '../../base/primitives/known-members.js'
import { agreementKeyIn, multikeyText } from '../../identity/did/agreement-key.js'
import type { DocumentPlan, PlannedAgreementKey } from '../../identity/did/build.js'
import { relativeId } from '../../identity/did/identifier.js'
import type { DidDocument } from '../../identity/did/model.js'
import { requirePlain, strictValue } from '../../identity/did/plain-json.js'
import { fragmentOf, newFragment } from './document-keys.js'
import { isUri } from '../../identity/did/uri.js'

/** Changes of the members of DID Core that other programs read: keys for encryption, other names, endpoints. */

/** A key with which others encrypt to a DID. */
export interface AddedAgreementKey {
  /** The name after the `#`. */
  readonly name: string
  /** A public key of X25519 as Multikey, JWK or PEM, or one of P-256 in any form. */
  readonly publicKey: KeyInput
}

export interface CoreChanges {
  readonly addKeyAgreement?: readonly AddedAgreementKey[]
  /** Names of keys of `keyAgreement`. */
  readonly removeKeyAgreement?: readonly string[]
  /** Absolute URIs. */
  readonly addAlsoKnownAs?: readonly string[]
  readonly removeAlsoKnownAs?: readonly string[]
}

/** SubjectPublicKeyInfo of a key of X25519, without the key: RFC 8410. */
const x25519Info = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x03, 0x21, 0x00)

/** The text of a Multikey of a public key in any form. A {@link UserError} that begins with `what` for what is none. */
export function readAgreementKey(input: KeyInput, what = 'the key'): string {
  const text = typeof input === 'string' ? input.trim() : ''
  if (agreementKeyIn(text) !== undefined) return text
  const x25519 = x25519Of(input, text, what)
  if (x25519 !== undefined) return multikeyText({ curve: 'X25519', publicKey: x25519 })
  return multikeyText({ curve: 'P-256', publicKey: readPublicKey(input, what) })
}

/** The 32 bytes of a key of X25519, given as JWK or with its DER; undefined for other keys. */
function x25519Of(input: KeyInput, text: string, what: string): Uint8Array | undefined {
  const jwk = text.startsWith('{') ? jsonOf(text) : input
  if (isOkp(jwk)) {
    if (jwk.d !== undefined) throw privateGiven(what)
    const bytes = typeof jwk.x === 'string' ? base64Bytes(jwk.x) : undefined
    if (jwk.crv === 'X25519' && bytes?.length === 32) return bytes
    throw new UserError(`${what} cannot be read: as JWK of kty OKP it is no key of X25519`)
  }
  const der = input instanceof Uint8Array ? input : base64Bytes(text.replace(/-----[A-Z ]+-----|\s/g, ''))
  const isInfo = der?.length === x25519Info.length + 32 && equalBytes(der.subarray(0, x25519Info.length), x25519Info)
  return isInfo ? der.subarray(x25519Info.length) : undefined
}

function isOkp(value: unknown): value is Jwk {
  return typeof value === 'object' && value !== null && 'kty' in value && value.kty === 'OKP'
}

function jsonOf(text: string): unknown {
  try {
    return strictValue(text)
  } catch {
    return undefined
  }
}

/** The keys for encryption of a new document. */
export function plannedAgreement(added: readonly AddedAgreementKey[], did: string): PlannedAgreementKey[] {
  return added.map((key) => {
    requireOptions('a key of keyAgreement', key, ['name', 'publicKey'])
    const fragment = newFragment(key.name, did)
    return { fragment, publicKeyMultibase: readAgreementKey(key.publicKey, `the key #${fragment}`) }
  })
}

/** The members after changes of a document. A {@link UserError} for what is not there, or is already. */
export function changedMembers(
  document: DidDocument,
  { addKeyAgreement = [], removeKeyAgreement = [], addAlsoKnownAs = [], removeAlsoKnownAs = [] }: CoreChanges,
): Pick<DocumentPlan, 'keyAgreement' | 'alsoKnownAs'> {
  const removed = new Set(removeKeyAgreement.map((name) => fragmentOf(name, document.id)))
  const there = document.keyAgreement.map(({ id, publicKeyMultibase }) => ({
    fragment: relativeId(id, document.id).slice(1),
    publicKeyMultibase,
  }))
  for (const name of removed) {
    if (there.every(({ fragment }) => fragment !== name)) {
      throw new UserError(`the document of ${document.id} has no key #${name} in keyAgreement`)
    }
  }
  for (const name of removeAlsoKnownAs) {
    if (!document.alsoKnownAs.includes(name)) {
      throw new UserError(`the document of ${document.id} does not have ${name.slice(0, 200)} in alsoKnownAs`)
    }
  }
  return {
    keyAgreement: [
      ...there.filter(({ fragment }) => !removed.has(fragment)),
      ...plannedAgreement(addKeyAgreement, document.id),
    ],
    alsoKnownAs: [...document.alsoKnownAs.filter((name) => !removeAlsoKnownAs.includes(name)), ...addAlsoKnownAs],
  }
}

/**
 * Refuses new services that hold what JSON cannot say, and those with an endpoint that no other program finds: a text that is no absolute
 * URI. A chain takes it, and documents in the form of the W3C are without it. `path`: the name of the list.
 */
export function requireServices(services: readonly unknown[], path = 'services'): void {
  requirePlain(services, path)
  for (const given of services) {
    const service: unknown = typeof given === 'string' ? jsonOf(given) : given
    // What is no service at all is for the reader of documents to refuse.
    if (typeof service !== 'object' || service === null) continue
    const { id, serviceEndpoint } = service as { readonly id?: unknown; readonly serviceEndpoint?: unknown }
    const endpoints: readonly unknown[] = Array.isArray(serviceEndpoint) ? serviceEndpoint : [serviceEndpoint]
    const wrong = endpoints.find((endpoint) => typeof endpoint === 'string' && !isUri(endpoint))
    if (wrong === undefined) continue
    throw new UserError(
      `the endpoint of service ${String(id)} is no absolute URI, such as https://example.org: ${String(wrong).slice(0, 200)}`,
    )
  }
}
