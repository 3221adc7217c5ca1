import { decodeSignature } from '../did/base64url.js'
import { neededControllers } from '../did/control.js'
import { didPart, relativeId } from '../did/identifier.js'
import type { DidDocument, DidKey } from '../did/model.js'
import { signedText } from '../did/operation.js'
import type { ResolvedTransaction } from '../did/resolution.js'
import { parseTicket } from '../did/ticket.js'
import { displayHash, equalBytes, fromUtf8 } from '../../base/primitives/bytes.js'
import { hasName } from '../../base/primitives/did-name.js'
import { operationForm } from '../../base/primitives/did-operation.js'
import type { Entry } from './history.js'
import type { SignatureDue } from './signature-checks.js'
import { fail } from './proof-failure.js'
import { chainIds } from '../did/chain-ids.js'

/** The signature of an operation, by a key of a document that is proved. */

/** Signatures that are due, and the key that made that of the operation if they verify. */
export interface OperationSignature {
  readonly due: readonly SignatureDue[]
  /** Id of the key: `#fragment` of the own DID, else absolute. Undefined: it is one of a controller, whose document is not shown. */
  readonly signedBy: string | undefined
}

/** A transaction of a DID with the documents whose keys can have signed it. */
export interface SignedOperation {
  readonly transaction: ResolvedTransaction
  readonly did: string
  /** Its own document; undefined: a deactivation. */
  readonly document: DidDocument | undefined
  /** The document before; undefined: it is not shown. */
  readonly before: DidDocument | undefined
  /** The entry before, if known. */
  readonly entryBefore: Entry | undefined
}

/**
 * The signature to verify; undefined where the document with the key is not shown, which follows from the proved entries alone. Throws
 * `answer-signature` for a key that has no right to sign, and for a text that is no signature.
 */
export function operationSignature(signed: SignedOperation): OperationSignature | undefined {
  const { transaction, did, document, before } = signed
  if (hasName(did)) return namedSignature(signed)
  const { header, proof } = transaction.operation
  const form = operationForm(header)
  const signing = form?.signedIn === 'payload' ? document : before
  if (signing === undefined) return undefined
  const { verificationMethod } = proof
  const id = verificationMethod.startsWith('#') ? did + verificationMethod : verificationMethod
  const keys = keysOf(signing, form?.authorised === true)
  const key = keys.find((one) => one.id === id)?.publicKey
  if (key === undefined) return fail('answer-signature', `${verificationMethod.slice(0, 300)} has no right to sign it`)
  // The signature says which key made it, not by which name: of several names it is always the first.
  const { id: name } = keys.find(({ publicKey }) => equalBytes(publicKey, key)) as DidKey
  return { due: [dueBy(key, transaction)], signedBy: relativeId(name, did) }
}

/**
 * {@link operationSignature} of a DID with a name. An own key, and the key that the DID of a controller is made of, need no further document; any other key of a
 * controller stands in one that is not shown, so that nothing but its right to sign is checked.
 */
function namedSignature(signed: SignedOperation): OperationSignature | undefined {
  const { transaction, did, document, before } = signed
  const { header, proof } = transaction.operation
  const ticket = operationForm(header)?.ticket === true ? ticketDue(signed, header.ticket ?? '') : []
  const listing = document ?? before
  if (listing === undefined) return undefined
  const { verificationMethod } = proof
  const id = verificationMethod.startsWith('#') ? did + verificationMethod : verificationMethod
  const signer = didPart(id)
  if (listing.controllers.includes(signer)) {
    // A deactivation is by that key alone.
    return document === undefined
      ? { due: [dueBy(signer, transaction)], signedBy: id }
      : { due: ticket, signedBy: undefined }
  }
  const key = document?.authentication.get(id)?.publicKey
  if (key === undefined) return fail('answer-signature', `${verificationMethod.slice(0, 300)} has no right to sign it`)
  return { due: [dueBy(key, transaction), ...ticket], signedBy: relativeId(id, did) }
}

/** The signatures of a ticket, which is for this DID and the operation before; with the document before, by as many of its controllers as it needs. */
function ticketDue({ did, document, before, entryBefore }: SignedOperation, text: string): readonly SignatureDue[] {
  const wrong = (why: string): never => fail('answer-signature', `the ticket ${why}`)
  const ticket = read(() => parseTicket(text, chainIds))
  const signers = ticket.proofs.map(({ verificationMethod }) => didPart(verificationMethod))
  if (ticket.id !== did) wrong(`is for ${ticket.id}`)
  if (entryBefore !== undefined && ticket.txid !== displayHash(entryBefore.txid)) wrong('follows another operation')
  if (document?.proofs.some(({ creator }) => didPart(creator) === ticket.to) !== true) wrong(`gives it to ${ticket.to}`)
  if (new Set(signers).size !== signers.length) wrong('is signed twice by one controller')
  if (before !== undefined) {
    if (signers.some((signer) => !before.controllers.includes(signer))) wrong('is signed by another DID')
    if (signers.length !== neededControllers(before)) wrong(`has ${signers.length} signatures`)
  }
  const message = fromUtf8(ticket.signingText)
  return ticket.proofs.map(({ signature }, i) => ({ key: signers[i] as string, message, signature }))
}

function read<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    return fail('answer-signature', (error as Error).message)
  }
}

function dueBy(key: Uint8Array | string, { operation }: ResolvedTransaction): SignatureDue {
  const { header, payload, proof } = operation
  const signature = decodeSignature(proof.signature) ?? fail('answer-signature', 'the text is no signature')
  const texts = { ...header, ...proof, payload, proofType: '' }
  return { key, message: fromUtf8(signedText(texts)), signature }
}

/** The keys of a document that may sign an operation; those of other DIDs only where the operation permits it. */
function keysOf({ authentication, authorization }: DidDocument, authorised: boolean): readonly DidKey[] {
  return [...authentication.values(), ...(authorised ? authorization.values() : [])]
}
