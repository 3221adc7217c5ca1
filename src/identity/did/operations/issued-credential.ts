import { RuleError } from '../../../base/errors/rule-error.js'
import { fromUtf8, ownText } from '../../../base/primitives/bytes.js'
import type { SignatureCheck } from '../../../base/primitives/signature.js'
import type { Credential } from '../model.js'
import type { DidContext, DidState, IssuerKey } from '../state.js'

/** Common code of operations with credentials: the issuer, and the check of the proof that it made. */

/** The state of a credential's issuer, who must exist and not be deactivated. */
export function issuerState(
  credential: Pick<Credential, 'issuer' | 'id'>,
  context: Pick<DidContext, 'issuer'>,
): DidState {
  const state = context.issuer(credential.issuer)
  if (state === undefined) {
    throw new RuleError('credential-issuer-unknown', `${credential.issuer}, issuer of ${credential.id}, does not exist`)
  }
  if (state.status === 'deactivated') {
    throw new RuleError(
      'credential-issuer-deactivated',
      `${credential.issuer}, issuer of ${credential.id}, is deactivated`,
    )
  }
  return state
}

/** The check of a credential's proof; `credential-key` without a key of its issuer. */
export function credentialCheck(credential: Credential, key: Uint8Array | undefined): SignatureCheck {
  const { verificationMethod, signature } = credential.proof
  if (key === undefined) refuseKey(verificationMethod, credential.id)
  return {
    message: fromUtf8(credential.signingText),
    keys: [key],
    signatures: [signature],
    code: 'credential-proof',
    subject: `proof of credential ${ownText(credential.id)}`,
  }
}

/**
 * Refuses, as an evaluation of the operation would, one of which an issuer has a key no more. An update names the operation before
 * it, and a declare always has the proof of its credential checked, so that nothing else can have made the key dispensable.
 */
export function requireIssuerKeys(keys: readonly IssuerKey[], context: Pick<DidContext, 'issuer'>): void {
  for (const { issuer, credential, id } of keys) {
    const { document } = issuerState({ issuer, id: credential }, context)
    if (!document.authentication.has(id)) refuseKey(id, credential)
  }
}

function refuseKey(id: string, credential: string): never {
  throw new RuleError('credential-key', `${id}, which ${credential} names, is no authentication key of its issuer`)
}
