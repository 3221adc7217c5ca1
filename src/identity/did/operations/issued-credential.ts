import { RuleError } from '../../../base/errors/rule-error.js'
import { fromUtf8, ownText } from '../../../base/primitives/bytes.js'
import type { SignatureCheck } from '../../../base/primitives/signature.js'
import { formatDate } from '../date.js'
import type { KnownDocument } from '../known-document.js'
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
export function requireIssuerKeys(keys: readonly IssuerKey[], context: Pick<DidContext, 'issuer' | 'time'>): void {
  for (const { issuer, credential, id, expiresAt } of keys) {
    if (credential === undefined) {
      const { document } = controllerState(issuer, context)
      if (expiresAt !== undefined) requireUnexpired(issuer, document.expiresAt, context)
      if (id !== '' && !document.authentication.has(id)) refuseControllerKey(id)
    } else {
      const { document } = issuerState({ issuer, id: credential }, context)
      if (id.includes('#') && !document.authentication.has(id)) refuseKey(id, credential)
    }
  }
}

/** Whether a fact on which an operation rests still holds; `document`: the last one of its DID, undefined where that has ended. */
export function stillHolds(
  { id, key, expiresAt = 0 }: Pick<IssuerKey, 'id' | 'key' | 'expiresAt'>,
  document: KnownDocument | undefined,
): boolean {
  if (document === undefined || document.expiresAt < expiresAt) return false
  if (id.includes('#')) return document.authentication.get(id) === key
  return id === '' || document.control?.controllers.includes(id) === true
}

/** The state of a controller, who must exist and not be deactivated. */
export function controllerState(did: string, context: Pick<DidContext, 'issuer'>): DidState {
  const state = context.issuer(did)
  if (state?.status === 'valid') return state
  const what = state === undefined ? 'does not exist: it has to be on the chain first' : 'is deactivated'
  throw new RuleError('did-controller', `${did}, a controller, ${what}`)
}

/** Refuses a controller that signs, and whose document had expired by the time of the block before. */
export function requireUnexpired(did: string, expiresAt: number, { time }: Pick<DidContext, 'time'>): void {
  if (expiresAt > time) return
  const when = `expired at ${formatDate(expiresAt)}`
  throw new RuleError('did-controller', `${did}, a controller, ${when}: it can sign again once its document is renewed`)
}

export function refuseControllerKey(id: string): never {
  throw new RuleError('did-controller', `${id} is no authentication key of its DID, which is a controller`)
}

function refuseKey(id: string, credential: string): never {
  throw new RuleError('credential-key', `${id}, which ${credential} names, is no authentication key of its issuer`)
}
