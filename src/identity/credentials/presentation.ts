import { RuleError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'
import { parseCredential } from '../did/credential.js'
import { absoluteId, didPart, type IdRules } from '../did/identifier.js'
import {
  asObject,
  didText,
  list,
  optionalDate,
  optionalText,
  ownId,
  refuseUnknown,
  requiredText,
  requireSignatureType,
  signatureMember,
  textList,
  typeText,
} from '../did/member-readers.js'
import { type Credential, signatureType } from '../did/model.js'

/** Presentations with the proof of this family: credentials of one holder, shown to one realm in answer to its nonce. */

export const presentationType = 'VerifiablePresentation'

/**
 * Each costs a signature and two questions to check.
 * @limit count: credentials of a presentation
 */
export const maxPresented = 32

export interface PresentationProof {
  readonly created?: string
  /** Absolute id of a key of the holder. */
  readonly verificationMethod: string
  readonly realm: string
  readonly nonce: string
  readonly signatureText: string
  /** 64 bytes, r‖s. */
  readonly signature: Uint8Array
}

export interface Presentation {
  readonly context: readonly string[]
  readonly id?: string
  readonly types: readonly string[]
  /** DID. */
  readonly holder: string
  readonly created?: string
  /** By id. */
  readonly credentials: readonly Credential[]
  readonly proof: PresentationProof
  /** Canonical text without the proof, then realm and nonce: what the holder signs. */
  readonly signedText: string
}

const members = new Set(['@context', 'id', 'type', 'holder', 'created', 'verifiableCredential', 'proof'])
const proofMembers = new Set(['type', 'created', 'verificationMethod', 'realm', 'nonce', 'signature'])

/** Reads a presentation, compact or normalised. Throws a {@link RuleError}; verifies nothing. */
export function parsePresentation(value: JsonValue, rules: IdRules): Presentation {
  const object = asObject(value, 'the presentation')
  refuseUnknown(object, members, '')
  const proofObject = asObject(object.get('proof') ?? null, 'proof')
  const named = optionalText(object, 'holder', '')
  const proof = parseProof(proofObject, rules, named)
  const holder = didText(named ?? didPart(proof.verificationMethod), 'holder', rules)
  if (didPart(proof.verificationMethod) !== holder) {
    throw new RuleError('credential-key', `proof.verificationMethod names no key of the holder ${holder}`)
  }
  const id = object.has('id') ? ownId(object, '', rules, holder) : undefined
  const created = optionalDate(object, 'created', '')
  if (created === undefined && proof.created === undefined) throw new RuleError('document-date', 'created is missing')
  const unsigned = {
    context: textList(object, '@context', ''),
    ...defined({ id }),
    types: typesOf(object),
    holder,
    ...defined({ created }),
    credentials: credentialsOf(object, rules, holder),
  }
  const text = presentationText({ ...unsigned, holder: named })
  return { ...unsigned, proof, signedText: text + proof.realm + proof.nonce }
}

function parseProof(object: JsonObject, rules: IdRules, holder: string | undefined): PresentationProof {
  refuseUnknown(object, proofMembers, 'proof')
  requireSignatureType(object, 'proof')
  const method = requiredText(object, 'verificationMethod', 'proof')
  const relative = method.startsWith('#')
  const verificationMethod = relative && holder === undefined ? undefined : absoluteId(method, holder ?? '', rules)
  if (verificationMethod === undefined) {
    throw new RuleError('document-id', `proof.verificationMethod is no key id: ${method.slice(0, 200)}`)
  }
  return {
    ...defined({ created: optionalDate(object, 'created', 'proof') }),
    verificationMethod,
    realm: requiredText(object, 'realm', 'proof'),
    nonce: requiredText(object, 'nonce', 'proof'),
    ...signatureMember(object, 'signature', 'proof'),
  }
}

/** The types as they stand: the text that is signed keeps their order. */
function typesOf(object: JsonObject): readonly string[] {
  const value = object.get('type')
  const types = typeof value === 'string' ? [value] : textList(object, 'type', '')
  types.forEach((type, index) => typeText(type, `type[${index}]`))
  if (types.includes(presentationType)) return types
  throw new RuleError('credential-type', `type does not name ${presentationType}`)
}

function credentialsOf(object: JsonObject, rules: IdRules, holder: string): readonly Credential[] {
  const values = list(object, 'verifiableCredential', '')
  requireFew(values.length)
  return sortedById(
    values.map((value, index) => parseCredential(value, `verifiableCredential[${index}]`, rules, holder)),
  )
}

/** Credentials in the order in which a presentation has them. Throws a {@link RuleError} for two of one id. */
export function sortedById(credentials: Credential[]): readonly Credential[] {
  if (new Set(credentials.map(({ id }) => id)).size !== credentials.length) {
    throw new RuleError('document-duplicate-id', 'verifiableCredential holds two credentials of one id')
  }
  return credentials.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Throws a {@link RuleError} for more credentials than a presentation holds. */
export function requireFew(credentials: number): void {
  if (credentials <= maxPresented) return
  throw new RuleError(
    'document-entries',
    `the presentation has ${credentials} credentials, and ${maxPresented} are taken`,
  )
}

type Unsigned = Omit<Presentation, 'holder' | 'proof' | 'signedText'> & { readonly holder?: string | undefined }

/** The canonical text of a presentation without its proof. */
export function presentationText({ context, id, types, holder, created, credentials }: Unsigned): string {
  const type = types.length === 1 ? types[0] : types
  const before = { ...(context.length === 0 ? {} : { '@context': context }), id, type, holder, created }
  const texts = credentials.map(({ text }) => text).join(',')
  return `${JSON.stringify(before).slice(0, -1)},"verifiableCredential":[${texts}]}`
}

/** The canonical text of a presentation with its proof, as it is handed over. */
export function withProof(text: string, proof: Omit<PresentationProof, 'signature'>): string {
  const { created, verificationMethod, realm, nonce, signatureText } = proof
  const member = { type: signatureType, created, verificationMethod, realm, nonce, signature: signatureText }
  return `${text.slice(0, -1)},"proof":${JSON.stringify(member)}}`
}
