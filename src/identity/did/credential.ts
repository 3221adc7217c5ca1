import { hasName } from '../../base/primitives/did-name.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'
import { credentialSigningText, credentialText } from './canonical.js'
import { absoluteId, didPart, type IdRules } from './identifier.js'
import {
  asObject,
  didText,
  optionalDate,
  optionalText,
  ownId,
  path,
  refuseUnknown,
  requiredDate,
  requiredText,
  requireSignatureType,
  signatureMember,
  textList,
  typeText,
} from './member-readers.js'
import type { Credential, CredentialProof } from './model.js'

const credentialMembers: ReadonlySet<string> = new Set([
  '@context',
  'id',
  'type',
  'issuer',
  'issuanceDate',
  'expirationDate',
  'credentialSubject',
  'proof',
])
const proofMembers: ReadonlySet<string> = new Set([
  'type',
  'created',
  'verificationMethod',
  'nonce',
  'realm',
  'signature',
])

/**
 * Reads a credential in compact or normalised form. `holder` is the DID of its document: the default of the subject's id, and its
 * only valid value. Without a holder (a credential on its own) the subject is credentialSubject.id, or the DID of an absolute id.
 * The issuer defaults to the subject; the proof's key is relative to the issuer, and on a chain must be a key of the issuer.
 * Throws a {@link RuleError}; verifies nothing.
 */
export function parseCredential(
  value: JsonValue,
  where: string,
  rules: IdRules,
  holder: string | undefined,
): Credential {
  const object = asObject(value, where || 'the credential')
  refuseUnknown(object, credentialMembers, where)
  const subjectMembers = asObject(object.get('credentialSubject') ?? null, path(where, 'credentialSubject'))
  const idMember = requiredText(object, 'id', where)
  const subject = subjectOf(subjectMembers, idMember, where, rules, holder)
  const id = ownId(object, where, rules, subject)
  const expirationDate = optionalDate(object, 'expirationDate', where)
  const claims = new Map(subjectMembers)
  claims.delete('id')
  const issuer = optionalText(object, 'issuer', where) ?? subject
  const unsigned = {
    context: textList(object, '@context', where),
    id,
    types: typesOf(object, where),
    issuer: issuer === subject ? subject : didText(issuer, path(where, 'issuer'), rules),
    issuanceDate: requiredDate(object, 'issuanceDate', where),
    ...defined({ expirationDate }),
    subject,
    claims,
  }
  const signingText = credentialSigningText(unsigned)
  const proof = parseProof(object.get('proof') ?? null, path(where, 'proof'), rules, unsigned.issuer)
  return { ...unsigned, proof, signingText, text: credentialText({ signingText, proof }) }
}

function subjectOf(
  members: JsonObject,
  idMember: string,
  where: string,
  rules: IdRules,
  holder: string | undefined,
): string {
  const name = path(where, 'credentialSubject.id')
  const given = optionalText(members, 'id', path(where, 'credentialSubject'))
  if (holder === undefined) return didText(given ?? didPart(idMember), name, rules)
  if (given !== undefined && given !== holder) throw new RuleError('credential-subject', `${name} is not ${holder}`)
  return holder
}

/** The sorted types; the member may also be a single string. */
function typesOf(object: JsonObject, where: string): readonly string[] {
  const name = path(where, 'type')
  const value = object.get('type')
  const types = typeof value === 'string' ? [value] : [...textList(object, 'type', where)]
  types.forEach((type, index) => typeText(type, `${name}[${index}]`))
  if (types.length === 0) throw new RuleError('credential-type', `${name} is missing or empty`)
  if (new Set(types).size !== types.length) throw new RuleError('credential-type', `${name} names a type twice`)
  return types.sort()
}

function parseProof(value: JsonValue, where: string, rules: IdRules, issuer: string): CredentialProof {
  const object = asObject(value, where)
  refuseUnknown(object, proofMembers, where)
  requireSignatureType(object, where)
  const method = requiredText(object, 'verificationMethod', where)
  const verificationMethod = absoluteId(method, issuer, rules)
  const methodPath = path(where, 'verificationMethod')
  if (verificationMethod === undefined) {
    throw new RuleError('document-id', `${methodPath} is no key id: ${method.slice(0, 200)}`)
  }
  // That of a name may be one of its controllers.
  if (rules.chain && didPart(verificationMethod) !== issuer && !hasName(issuer)) {
    throw new RuleError('credential-key', `${methodPath} names no key of the issuer ${issuer}`)
  }
  const created = optionalDate(object, 'created', where)
  const nonce = optionalText(object, 'nonce', where)
  const realm = optionalText(object, 'realm', where)
  return {
    ...defined({ created }),
    verificationMethod,
    ...defined({ nonce, realm }),
    ...signatureMember(object, 'signature', where),
  }
}
