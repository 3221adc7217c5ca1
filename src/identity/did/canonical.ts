import { canonicalJson, canonicalMembers } from '../../base/primitives/strict-json.js'
import {
  type AgreementKey,
  type Credential,
  type DidDocument,
  type DidKey,
  type DocumentProof,
  type Service,
  signatureType,
} from './model.js'

/**
 * The canonical text of documents and credentials: members in a fixed order without white space, absent members
 * omitted. Ids, DIDs, dates and signatures hold no character that JSON escapes, so they are written as they are.
 */

const typeMember = `"type":"${signatureType}"`

function optional(name: string, value: string | undefined): string {
  return value === undefined ? '' : `"${name}":${JSON.stringify(value)},`
}

function contextMember(context: readonly string[]): string {
  return context.length === 0 ? '' : `"@context":${JSON.stringify(context)},`
}

/** `"name":[…],`, or nothing for an empty list. */
function listMember(name: string, elements: readonly string[]): string {
  return elements.length === 0 ? '' : `"${name}":[${elements.join(',')}],`
}

function ids(of: ReadonlyMap<string, DidKey>): string[] {
  return [...of.keys()].map((id) => `"${id}"`)
}

function keyText(key: DidKey): string {
  return `{"id":"${key.id}",${typeMember},"controller":"${key.controller}","publicKeyBase58":"${key.publicKeyBase58}"}`
}

function agreementText(did: string, { id, publicKeyMultibase }: AgreementKey): string {
  return `{"id":"${id}","type":"Multikey","controller":"${did}","publicKeyMultibase":"${publicKeyMultibase}"}`
}

/** Normalised text of a service. */
export function serviceText(service: Service): string {
  const more = service.properties.size === 0 ? '' : `,${canonicalMembers(service.properties)}`
  return (
    `{"id":"${service.id}","type":${JSON.stringify(service.type)},` +
    `"serviceEndpoint":${canonicalJson(service.serviceEndpoint)}${more}}`
  )
}

/** Signed text of a credential: its canonical text without proof. */
export function credentialSigningText(c: Omit<Credential, 'proof' | 'signingText' | 'text'>): string {
  const claims = c.claims.size === 0 ? '' : `,${canonicalMembers(c.claims)}`
  return (
    `{${contextMember(c.context)}"id":"${c.id}","type":${canonicalJson([...c.types])},"issuer":"${c.issuer}",` +
    `"issuanceDate":"${c.issuanceDate}",${optional('expirationDate', c.expirationDate)}` +
    `"credentialSubject":{"id":"${c.subject}"${claims}}}`
  )
}

/** The canonical text of a credential with its proof. */
export function credentialText(c: Pick<Credential, 'proof' | 'signingText'>): string {
  const { proof } = c
  return (
    `${c.signingText.slice(0, -1)},"proof":{${typeMember},${optional('created', proof.created)}` +
    `"verificationMethod":"${proof.verificationMethod}",${optional('nonce', proof.nonce)}` +
    `${optional('realm', proof.realm)}"signature":"${proof.signatureText}"}}`
  )
}

/** Signed text of a document: its canonical text without proof; its credentials keep theirs. `control`: the text of {@link controlText}. */
export function documentSigningText(d: Omit<DidDocument, 'proofs' | 'signingText'>, control: string): string {
  return (
    `{${contextMember(d.context)}"id":"${d.id}",${control}` +
    listMember(
      'alsoKnownAs',
      d.alsoKnownAs.map((uri) => JSON.stringify(uri)),
    ) +
    listMember('publicKey', d.keys.map(keyText)) +
    listMember('authentication', ids(d.authentication)) +
    listMember('authorization', ids(d.authorization)) +
    listMember(
      'keyAgreement',
      d.keyAgreement.map((key) => agreementText(d.id, key)),
    ) +
    listMember(
      'verifiableCredential',
      d.credentials.map((credential) => credential.text),
    ) +
    listMember('service', d.services.map(serviceText)) +
    `"expires":"${d.expires}"}`
  )
}

/** The members of a document that name its controllers. */
export function controlText({ controllers, multisig }: Pick<DidDocument, 'controllers' | 'multisig'>): string {
  const dids = controllers.map((did) => `"${did}"`)
  const controller = dids.length === 1 ? `"controller":${dids.join('')},` : listMember('controller', dids)
  return controller + optional('multisig', multisig)
}

function proofText(proof: DocumentProof): string {
  return (
    `{${typeMember},${optional('created', proof.created)}"creator":"${proof.creator}",` +
    `"signatureValue":"${proof.signatureText}"}`
  )
}

/** Canonical text of a document with its proof, which the storage keeps and searches read. */
export function documentText(d: Pick<DidDocument, 'proofs' | 'signingText'>): string {
  if (d.proofs.length === 0) return d.signingText
  const proofs = d.proofs.map(proofText)
  return `${d.signingText.slice(0, -1)},"proof":${proofs.length === 1 ? proofs.join('') : `[${proofs.join(',')}]`}}`
}
