import { documentText } from '../../../src/identity/did/canonical.js'
import { relativeId } from '../../../src/identity/did/identifier.js'
import type { Credential, DidDocument, DidKey } from '../../../src/identity/did/model.js'
import { canonicalJson, type JsonObject, type JsonValue } from '../../../src/base/primitives/strict-json.js'

/**
 * The JSON text of a document as a payload holds it: normalised, or compact (ids relative, defaults left out). Both
 * read back as the same document.
 */
export function payloadText(document: DidDocument, form: 'normalised' | 'compact' = 'normalised'): string {
  return form === 'normalised' ? documentText(document) : canonicalJson(compactDocument(document))
}

function compactDocument(document: DidDocument): JsonObject {
  const { id } = document
  const key = ({ id: keyId, controller, publicKeyBase58 }: DidKey): JsonObject =>
    object({
      id: relativeId(keyId, id),
      controller: controller === id ? undefined : controller,
      publicKeyBase58,
    })
  const relative = (keys: ReadonlyMap<string, DidKey>) => [...keys.keys()].map((keyId) => relativeId(keyId, id))
  const { controllers } = document
  const proofs = document.proofs.map(({ created, creator, signatureText }) =>
    object({ created, creator: controllers.length === 0 ? undefined : creator, signatureValue: signatureText }),
  )
  return object({
    '@context': some([...document.context]),
    id,
    controller: controllers.length < 2 ? controllers[0] : [...controllers],
    multisig: document.multisig,
    alsoKnownAs: some([...document.alsoKnownAs]),
    publicKey: document.keys.map(key),
    authentication: some(relative(document.authentication)),
    authorization: some(relative(document.authorization)),
    keyAgreement: some(
      document.keyAgreement.map(({ id: keyId, publicKeyMultibase }) =>
        object({ id: relativeId(keyId, id), publicKeyMultibase }),
      ),
    ),
    verifiableCredential: some(document.credentials.map(compactCredential)),
    service: some(document.services.map((service) => serviceObject(service, relativeId(service.id, id)))),
    expires: document.expires,
    proof: proofs.length < 2 ? proofs[0] : proofs,
  })
}

function compactCredential(credential: Credential): JsonObject {
  const { subject, issuer, proof } = credential
  return object({
    '@context': some([...credential.context]),
    id: relativeId(credential.id, subject),
    type: [...credential.types],
    issuer: issuer === subject ? undefined : issuer,
    issuanceDate: credential.issuanceDate,
    expirationDate: credential.expirationDate,
    credentialSubject: credential.claims,
    proof: object({
      created: proof.created,
      verificationMethod: relativeId(proof.verificationMethod, issuer),
      nonce: proof.nonce,
      realm: proof.realm,
      signature: proof.signatureText,
    }),
  })
}

function serviceObject(service: DidDocument['services'][number], id: string): JsonObject {
  const { type, serviceEndpoint } = service
  return new Map([...object({ id, type, serviceEndpoint }), ...service.properties])
}

/** A Map of the members that are there. */
function object(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return new Map(Object.entries(members).filter((member): member is [string, JsonValue] => member[1] !== undefined))
}

function some<T>(elements: T[]): T[] | undefined {
  return elements.length === 0 ? undefined : elements
}
