import { RuleError } from '../../../base/errors/rule-error.js'
import { operationForms } from '../../../base/primitives/did-operation.js'
import type { SignatureCheck } from '../../../base/primitives/signature.js'
import { keyOf, type KnownDocument } from '../known-document.js'
import type { DidState } from '../state.js'
import type { ParsedOperation } from './operation-row.js'

/** Checks that the operation costs by itself: its signature, and the proof of a document. */
export const operationCost = 2

/** The check of the operation's signature; `did-signer` without a key. `listed` describes where the key has to stand. */
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

/** The check of a signature by a key of the last document before, under the lists that the row of the operation names. */
export function checkByLast(
  operation: ParsedOperation,
  { authentication, authorization }: KnownDocument,
): SignatureCheck {
  const { kind, signer } = operation
  const { authorised } = operationForms[kind]
  const key = keyOf(authentication, signer) ?? (authorised ? keyOf(authorization, signer) : undefined)
  const lists = authorised ? 'authentication or authorization' : 'authentication'
  return operationCheck(operation, key, `${lists} of the last document on the chain`)
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
