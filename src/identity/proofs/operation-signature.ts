import { decodeSignature } from '../did/base64url.js'
import { relativeId } from '../did/identifier.js'
import type { DidDocument, DidKey } from '../did/model.js'
import { signedText } from '../did/operation.js'
import type { ResolvedTransaction } from '../did/resolution.js'
import { equalBytes, fromUtf8 } from '../../base/primitives/bytes.js'
import { operationForm } from '../../base/primitives/did-operation.js'
import type { SignatureDue } from './signature-checks.js'
import { fail } from './proof-failure.js'

/** The signature of an operation, by a key of a document that is proved. */

/** A signature that is due, and the key that made it if it verifies. */
export interface OperationSignature {
  readonly due: SignatureDue
  /** Id of the key: `#fragment` of the own DID, else absolute. */
  readonly signedBy: string
}

/** A transaction of a DID with the documents whose keys can have signed it. */
export interface SignedOperation {
  readonly transaction: ResolvedTransaction
  readonly did: string
  /** Its own document; undefined: a deactivation. */
  readonly document: DidDocument | undefined
  /** The document before; undefined: it is not shown. */
  readonly before: DidDocument | undefined
}

/**
 * The signature to verify; undefined where the document with the key is not shown, which follows from the proved entries alone. Throws
 * `answer-signature` for a key that has no right to sign, and for a text that is no signature.
 */
export function operationSignature({
  transaction,
  did,
  document,
  before,
}: SignedOperation): OperationSignature | undefined {
  const { header, payload, proof } = transaction.operation
  const form = operationForm(header)
  const signing = form?.signedIn === 'payload' ? document : before
  if (signing === undefined) return undefined
  const { verificationMethod } = proof
  const id = verificationMethod.startsWith('#') ? did + verificationMethod : verificationMethod
  const keys = keysOf(signing, form?.authorised === true)
  const key = keys.find((one) => one.id === id)?.publicKey
  if (key === undefined) return fail('answer-signature', `${verificationMethod.slice(0, 300)} has no right to sign it`)
  const signature = decodeSignature(proof.signature) ?? fail('answer-signature', 'the text is no signature')
  const texts = { ...header, payload, proofType: '', verificationMethod, signature: proof.signature }
  // The signature says which key made it, not by which name: of several names it is always the first.
  const { id: name } = keys.find(({ publicKey }) => equalBytes(publicKey, key)) as DidKey
  return { due: { key, message: fromUtf8(signedText(texts)), signature }, signedBy: relativeId(name, did) }
}

/** The keys of a document that may sign an operation; those of other DIDs only where the operation permits it. */
function keysOf({ authentication, authorization }: DidDocument, authorised: boolean): readonly DidKey[] {
  return [...authentication.values(), ...(authorised ? authorization.values() : [])]
}
