import { RuleError } from '../../base/errors/rule-error.js'
import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'
import { didPart, type IdRules } from '../did/identifier.js'
import { isCredentialId } from '../did/operations/credential-operation.js'

/**
 * The `credentialStatus` of W3C credentials whose state is what the chain says of their id (docs/credential-status.md): declared or not,
 * and revoked by holder or issuer or not. It has two members, and both follow from the id of the credential.
 */

export const statusType = 'DidLedgerStatus2026'

/** The member of a `@context` that gives the type a meaning in JSON-LD. */
export const statusContext = { [statusType]: `urn:didledger:${statusType}` }

/** The status of a credential whose id is absolute, `did:ledger:…#name`. */
export function statusOf(id: string): { readonly id: string; readonly type: string } {
  const holder = didPart(id)
  return { id: `${holder}?credentialStatus=${encodeURIComponent(id.slice(holder.length + 1))}`, type: statusType }
}

/** Throws a {@link RuleError} unless a member `credentialStatus` is the one that {@link statusOf} gives for the id of its credential. */
export function requireStatus(status: JsonValue, credential: string | undefined, rules: IdRules): void {
  if (!(status instanceof Map))
    throw new RuleError('document-form', 'credentialStatus is no object; one status can be checked')
  requireKnownStatus(status)
  if (credential === undefined || !isCredentialId(credential, rules)) {
    throw new RuleError(
      'document-id',
      `a credential with a ${statusType} has an id of the form did:${rules.method}:…#name`,
    )
  }
  const expected = statusOf(credential)
  if (status.get('id') === expected.id) return
  throw new RuleError('document-id', `credentialStatus.id is not that of this credential, ${expected.id}`)
}

function requireKnownStatus(status: JsonObject): void {
  const type = status.get('type')
  if (type !== statusType) {
    throw new RuleError(
      'document-form',
      `credentialStatus.type is ${JSON.stringify(type)}; only ${statusType} can be checked`,
    )
  }
}
