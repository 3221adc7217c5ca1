import { RuleError } from '../../errors/rule-error.js'
import { fromUtf8, ownText } from '../../primitives/bytes.js'
import type { SignatureCheck } from '../../primitives/signature.js'
import type { Credential } from '../model.js'
import type { DidContext, DidState } from '../state.js'

/** What operations with credentials share: the issuer, and the check of the proof that it made. */

/** The state of a credential's issuer, who must exist and not be deactivated. */
export function issuerState(credential: Credential, context: DidContext): DidState {
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
  if (key === undefined) {
    throw new RuleError(
      'credential-key',
      `${verificationMethod}, which ${credential.id} names, is no authentication key of its issuer`,
    )
  }
  return {
    message: fromUtf8(credential.signingText),
    keys: [key],
    signatures: [signature],
    code: 'credential-proof',
    subject: `proof of credential ${ownText(credential.id)}`,
  }
}
