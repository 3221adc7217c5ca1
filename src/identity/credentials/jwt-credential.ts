import { RuleError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'
import { parseDate } from '../did/date.js'
import type { IdRules } from '../did/identifier.js'
import { asObject, didText, list, optionalText, requiredText, textList } from '../did/member-readers.js'
import { type CompactJws, keyOfHeader, optionalTime, readJws } from './compact-jws.js'
import type { CredentialPlan } from './credential-plan.js'
import { requireStatus, statusContext, statusOf } from './credential-status.js'
import type { SignedCredential } from './signed-credential.js'

/** Credentials as JWT, by §6.3.1 of the W3C data model 1.1: registered claims for issuer, subject, id and dates, the rest in `vc`. */

export const w3cContext = 'https://www.w3.org/2018/credentials/v1'
export const credentialType = 'VerifiableCredential'

/** The payload of a credential; its status is what the chain says of its id. */
export function jwtCredentialPayload(plan: CredentialPlan): object {
  const { id, issuer, subject, issued, expires, types, claims, context = [] } = plan
  return {
    iss: issuer,
    sub: subject,
    jti: id,
    nbf: parseDate(issued),
    ...(expires === undefined ? {} : { exp: parseDate(expires) }),
    vc: {
      '@context': [...new Set([w3cContext, ...context]), statusContext],
      type: [...new Set([credentialType, ...types])],
      credentialSubject: { ...claims, id: subject },
      credentialStatus: statusOf(id),
    },
  }
}

/** Reads a credential from the text of a JWT. Throws a {@link RuleError}; verifies nothing. */
export function readJwtCredential(text: string, rules: IdRules): SignedCredential {
  const jws = readJws(text)
  const { payload } = jws
  if (payload.has('aud'))
    throw new RuleError('document-member', 'aud is for presentations; a credential has no audience')
  const credential = asObject(payload.get('vc') ?? null, 'vc')
  const issuer = didText(requiredText(payload, 'iss', ''), 'iss', rules)
  requireW3c(credential, 'vc', credentialType)
  const { subject, claims } = subjectOf(payload, credential)
  const id = optionalText(payload, 'jti', '')
  const issued = optionalTime(payload, 'nbf') ?? optionalTime(payload, 'iat')
  if (issued === undefined) throw new RuleError('document-date', 'nbf is missing: the date of a credential')
  const expires = optionalTime(payload, 'exp')
  requireSame(credential, { id, issuer, issuanceDate: issued, expirationDate: expires })
  const status = credential.get('credentialStatus')
  if (status !== undefined) requireStatus(status, id, rules)
  return {
    format: 'jwt',
    ...defined({ id }),
    types: textList(credential, 'type', 'vc'),
    issuer,
    subject,
    issued,
    ...defined({ expires, key: keyOfHeader(jws, issuer, rules) }),
    claims,
    ...signedParts(jws),
    statusOnChain: status !== undefined,
  }
}

/** Text and signature that a key verifies. */
export function signedParts({ signedText, signature }: CompactJws): Pick<CompactJws, 'signedText' | 'signature'> {
  return { signedText, signature }
}

/** Throws a {@link RuleError} unless an object begins with the W3C context and has a type among its types. */
export function requireW3c(object: JsonObject, where: string, type: string): void {
  const [context] = list(object, '@context', where)
  if (context !== w3cContext)
    throw new RuleError('document-form', `${where}.@context does not begin with ${w3cContext}`)
  if (!textList(object, 'type', where).includes(type)) {
    throw new RuleError('credential-type', `${where}.type does not name ${type}`)
  }
}

function subjectOf(payload: JsonObject, credential: JsonObject): { subject: string; claims: JsonObject } {
  const members = asObject(credential.get('credentialSubject') ?? null, 'vc.credentialSubject')
  const claims = new Map(members)
  claims.delete('id')
  const [named, inside] = [optionalText(payload, 'sub', ''), optionalText(members, 'id', 'vc.credentialSubject')]
  const subject = named ?? inside
  if (subject === undefined) throw new RuleError('credential-subject', 'sub is missing: whom the credential is about')
  if (inside === undefined || inside === subject) return { subject, claims }
  throw new RuleError('credential-subject', `vc.credentialSubject.id is not ${subject}`)
}

/** Members of `vc` that repeat a registered claim say the same: readers differ in which of both they take. */
function requireSame(
  credential: JsonObject,
  claims: Readonly<Record<'id' | 'issuer' | 'issuanceDate' | 'expirationDate', string | number | undefined>>,
): void {
  for (const [name, claim] of Object.entries(claims)) {
    const member = credential.get(name)
    if (member === undefined || plainOf(member, typeof claim === 'string') === claim) continue
    throw new RuleError('document-form', `vc.${name} differs from the claim of the JWT that says the same`)
  }
}

/** The text of a member, the id of an issuer that is an object, or the seconds of a date. */
function plainOf(member: JsonValue, isText: boolean): JsonValue | undefined {
  const value = member instanceof Map ? member.get('id') : member
  if (isText || typeof value !== 'string') return value
  const seconds = Date.parse(value) / 1000
  return Number.isNaN(seconds) ? value : Math.floor(seconds)
}
