import { isByKeyOf } from '../../base/crypto/key-of-did.js'
import { verify } from '../../base/crypto/verify.js'
import { equalBytes, fromUtf8 } from '../../base/primitives/bytes.js'
import { type DidOperation, operationForm } from '../../base/primitives/did-operation.js'
import { neededControllers } from '../../identity/did/control.js'
import { didPart } from '../../identity/did/identifier.js'
import type { DidDocument } from '../../identity/did/model.js'
import { parseTicket, type Ticket } from '../../identity/did/ticket.js'

/**
 * Operations of DIDs with a name held against signatures of controllers (format 9.6). That a controller has signed follows from its DID,
 * which is the hash of its default key; its document is needed for its other keys alone.
 */

/**
 * A part of such an operation that could not be checked. `signature`: that of the operation, by a key of a controller whose document was
 * not given. `controllers`: that those who signed control the DID, for the document before was not given.
 */
export type UncheckedPart = 'signature' | 'controllers'

export interface NamedOperation {
  readonly operation: DidOperation
  /** Signed text of the operation. */
  readonly text: string
  readonly signature: Uint8Array
  /** Absolute id of the key that signs it. */
  readonly signer: string
  /** The document in the payload; undefined for one that has none. */
  readonly document: DidDocument | undefined
  /** The last document of the DID before; undefined: it was not given, or there is none. */
  readonly before: DidDocument | undefined
  /** Documents of controllers, as they are now. */
  readonly controllers: readonly DidDocument[]
  readonly method: string
}

/** A part that does not hold, with the reason. */
export class NamedFault extends Error {}

/** Checks an operation of a DID with a name. Throws a {@link NamedFault}; returns what could not be checked. */
export function checkNamed(named: NamedOperation): UncheckedPart[] {
  const { operation, document, before } = named
  const form = operationForm(operation)
  const unchecked: UncheckedPart[] = []
  if (document !== undefined) requireProofs(document, named.method)
  if (form?.ticket === true) requireTicket(named)
  if (form?.previousTxid === true && before !== undefined && document !== undefined) requireSame(before, document)
  if (form?.subject === 'did' && !form.after.includes('nothing') && before === undefined) unchecked.push('controllers')
  if (!isSigned(named)) unchecked.push('signature')
  return unchecked
}

/** As many proofs as the document needs, each by another of its controllers, with its default key. */
function requireProofs(document: DidDocument, method: string): void {
  const { id, controllers, proofs, signingText } = document
  const creators = proofs.map(({ creator }) => didPart(creator))
  requireSigners(`the document of ${id}`, creators, { controllers, needed: neededControllers(document) })
  requireDefaultKeys('the document', creators, { proofs, signingText }, method)
}

/** A ticket for this DID that gives it to a controller who signed the document and, with the document before, is signed by those before. */
function requireTicket({ operation, document, before, method }: NamedOperation): void {
  const ticket = parseTicket(operation.ticket ?? '', { method, chain: true, names: true })
  if (ticket.id !== document?.id) fault(`the ticket is for ${ticket.id}`)
  if (!document?.proofs.some(({ creator }) => didPart(creator) === ticket.to)) {
    fault(`the ticket gives the DID to ${ticket.to}, who is no controller that signed the document`)
  }
  const signers = ticket.proofs.map(({ verificationMethod }) => didPart(verificationMethod))
  if (before !== undefined) {
    requireSigners('the ticket', signers, { controllers: before.controllers, needed: neededControllers(before) })
  }
  requireDefaultKeys('the ticket', signers, ticket, method)
}

/** Each proof is by the default key of its signer, in the same order. */
function requireDefaultKeys(
  where: string,
  signers: readonly string[],
  { proofs, signingText }: { readonly proofs: Ticket['proofs'] | DidDocument['proofs']; readonly signingText: string },
  method: string,
): void {
  const message = fromUtf8(signingText)
  for (const [i, { signature }] of proofs.entries()) {
    const did = signers[i] as string
    if (!isByKeyOf(did, message, signature, method)) fault(`the proof of ${did} in ${where} is not by its default key`)
  }
}

function requireSigners(
  what: string,
  signers: readonly string[],
  { controllers, needed }: { readonly controllers: readonly string[]; readonly needed: number },
): void {
  const other = signers.find((did) => !controllers.includes(did))
  if (other !== undefined) fault(`${what} is signed by ${other}, which is not a controller`)
  const count = new Set(signers).size
  if (count === needed && signers.length === needed) return
  fault(`${what} has ${signers.length} proofs by ${count} controllers, but ${needed} are needed`)
}

function requireSame(before: DidDocument, next: DidDocument): void {
  const [one, other] = [before, next].map(({ controllers, multisig }) => JSON.stringify([controllers, multisig]))
  if (one !== other) fault(`an update changes the controllers of ${next.id}, or how many of them sign`)
}

/** Whether a key with the right to do so made the signature; false where the document with that key was not given. */
function isSigned({
  operation,
  text,
  signature,
  signer,
  document,
  before,
  controllers,
  method,
}: NamedOperation): boolean {
  const form = operationForm(operation)
  const [isEnd, message] = [form?.payload === 'did', fromUtf8(text)]
  const listing = document ?? before
  // Who controls it stands in a document that was not given.
  if (listing === undefined) return false
  const did = didPart(signer)
  if (did === listing.id && !isEnd) return isBy(listing, signer, message, signature)
  const mayControl = form?.subject === 'did' || form?.inNameOf === 'holder'
  if (!mayControl || !listing.controllers.includes(did))
    fault(`${signer} may not sign this operation for ${listing.id}`)
  if (isByKeyOf(did, message, signature, method)) return isNamedRight(signer, controllers)
  if (isEnd) fault(`the signature is not by the default key of ${did}`)
  const given = controllers.find(({ id }) => id === did)
  return given !== undefined && isBy(given, signer, message, signature)
}

/** Whether the default key stands under the id that the operation names, as far as its document was passed in. */
function isNamedRight(signer: string, controllers: readonly DidDocument[]): boolean {
  const given = controllers.find(({ id }) => id === didPart(signer))
  const key = given?.authentication.get(signer)?.publicKey
  const wrong = given !== undefined && (key === undefined || !equalBytes(key, given.defaultKey?.publicKey ?? key))
  return wrong ? fault(`${signer} is not the default key of its DID, which signed`) : true
}

function isBy(
  { authentication, id }: DidDocument,
  signer: string,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const key = authentication.get(signer)?.publicKey ?? fault(`${signer} is no authentication key of ${id}`)
  return verify(key, message, signature) || fault(`the proof of the operation does not verify under ${signer}`)
}

function fault(reason: string): never {
  throw new NamedFault(reason)
}
