import { RuleError } from '../../../base/errors/rule-error.js'
import type { SignatureCheck } from '../../../base/primitives/signature.js'
import type { DidState } from '../state.js'
import type { ParsedOperation } from './operation-row.js'

/** Checks that the operation costs by itself: its signature, and the proof of a document. */
export const operationCost = 2

/** The check of the operation's signature; `did-signer` without a key. `listed` says where the key has to stand. */
export function operationCheck(
  operation: ParsedOperation,
  key: Uint8Array | undefined,
  listed: string,
): SignatureCheck {
  if (key === undefined) throw new RuleError('did-signer', `${operation.signer} does not stand in ${listed}`)
  return {
    message: operation.message,
    keys: [key],
    signatures: [operation.signature],
    code: 'did-signature',
    subject: `${operation.kind} operation of ${operation.did}`,
  }
}

/** The state of the DID that an operation changes, or that declares or revokes; `did-unknown` or `did-deactivated` if it has none. */
export function requireValid(previous: DidState | undefined, did: string): DidState {
  if (previous === undefined) throw new RuleError('did-unknown', `${did} does not exist`)
  refuseDeactivated(previous, did)
  return previous
}

export function refuseDeactivated({ status }: DidState, did: string): void {
  if (status === 'deactivated') throw new RuleError('did-deactivated', `${did} is deactivated, which is final`)
}
