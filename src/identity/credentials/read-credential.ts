/**
 * Reads and writes what DIDs sign outside of the chain, in two forms: JSON with the proof of this family, and JWT of the W3C data model 1.1.
 *
 *   text -> readSignedCredential, readSignedPresentation -> SignedCredential, SignedPresentation: both forms alike
 *   CredentialPlan -> members of JSON, payload of a JWT
 *
 * Imports did, errors, primitives; used by cli, library, verifier, wallet.
 * - Pure: no clock, no key, no resolver. A text of another form throws a RuleError.
 */
import { RuleError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { parseCredential } from '../did/credential.js'
import { parseDate } from '../did/date.js'
import type { IdRules } from '../did/identifier.js'
import type { Credential } from '../did/model.js'
import { fromPlain } from '../did/plain-json.js'
import { isJwt } from './compact-jws.js'
import { readJwtCredential } from './jwt-credential.js'
import type { SignedCredential } from './signed-credential.js'

/** Reads a credential: JSON text, a plain object, or the text of a JWT. Throws a {@link RuleError}; verifies nothing. */
export function readSignedCredential(credential: string | object, rules: IdRules): SignedCredential {
  if (typeof credential === 'string' && isJwt(credential.trim())) return readJwtCredential(credential.trim(), rules)
  return signedJson(parseCredential(fromPlain(credential), '', rules, undefined))
}

/** A credential with the proof of this family. */
export function signedJson(read: Credential): SignedCredential {
  const { id, types, issuer, subject, claims, proof, signingText, text } = read
  const expires = read.expirationDate === undefined ? undefined : secondsOf(read.expirationDate)
  return {
    format: 'ledger',
    id,
    types,
    issuer,
    subject,
    issued: secondsOf(read.issuanceDate),
    ...defined({ expires }),
    claims,
    key: proof.verificationMethod,
    signedText: signingText,
    signature: proof.signature,
    statusOnChain: true,
    text,
  }
}

function secondsOf(date: string): number {
  const seconds = parseDate(date)
  if (seconds === undefined) throw new RuleError('document-date', `${date} is no date`)
  return seconds
}
