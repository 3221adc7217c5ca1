import { RuleError } from '../../base/errors/rule-error.js'
import { encodeBase64url } from '../did/base64url.js'
import { parseCredential } from '../did/credential.js'
import { absoluteId, didPart, type IdRules } from '../did/identifier.js'
import type { Credential } from '../did/model.js'
import { fromPlain } from '../did/plain-json.js'

/** A credential before it is signed. */
export interface CredentialPlan {
  /** Absolute, of the DID of its subject. */
  readonly id: string
  readonly types: readonly string[]
  /** A DID. */
  readonly issuer: string
  /** The DID that it is about. */
  readonly subject: string
  /** JSON values by name. */
  readonly claims: Readonly<Record<string, unknown>>
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly issued: string
  readonly expires?: string
  /** JSON-LD contexts. */
  readonly context?: readonly string[]
}

/** The members of a credential in the form of documents, without its proof. */
export function membersOf(plan: CredentialPlan): Record<string, unknown> {
  const { id, types, issuer, subject, claims, issued, expires, context = [] } = plan
  if ('id' in claims) throw new RuleError('credential-subject', 'the claims name an id; that of the subject is its DID')
  return {
    ...(context.length === 0 ? {} : { '@context': context }),
    id,
    type: types,
    issuer,
    issuanceDate: issued,
    ...(expires === undefined ? {} : { expirationDate: expires }),
    credentialSubject: { id: subject, ...claims },
  }
}

/** A plan as a credential that a chain takes, but for its signature: a {@link RuleError} says why it is none. */
export function requireCredential(plan: CredentialPlan, rules: IdRules): Credential {
  if (absoluteId(plan.id, '', rules) === undefined || didPart(plan.id) !== plan.subject) {
    throw new RuleError(
      'document-id',
      `the id of the credential is no fragment of its subject ${plan.subject}: ${plan.id}`,
    )
  }
  const proof = { verificationMethod: `${plan.issuer}#key`, signature: encodeBase64url(new Uint8Array(64)) }
  return parseCredential(fromPlain({ ...membersOf(plan), proof }), '', rules, plan.subject)
}
