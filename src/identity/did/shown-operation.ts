import { signatureType } from './model.js'
import type { ResolvedTransaction } from './resolution.js'
import {
  type DidOperation,
  type DidOperationJson,
  operationForm,
  operationJson,
} from '../../base/primitives/did-operation.js'

/**
 * An operation as the resolver shows it: the proof type written out or left out by the kind of operation; a key of `did` itself
 * named by its fragment alone.
 */
export function shownOperation(operation: DidOperation, did: string): DidOperationJson {
  const { header, payload, proof } = operationJson(operation)
  const own = proof.verificationMethod.startsWith(`${did}#`)
  const verificationMethod = own ? proof.verificationMethod.slice(did.length) : proof.verificationMethod
  const type = operationForm(operation)?.proofType ? { type: signatureType } : {}
  return { header, payload, proof: { ...type, verificationMethod, signature: proof.signature } }
}

/** The same with the id of its key in full, as clients of the family read it. */
export function withAbsoluteKey(transaction: ResolvedTransaction, did: string): ResolvedTransaction {
  const { operation } = transaction
  const { verificationMethod } = operation.proof
  if (!verificationMethod.startsWith('#')) return transaction
  const proof = { ...operation.proof, verificationMethod: did + verificationMethod }
  return { ...transaction, operation: { ...operation, proof } }
}
