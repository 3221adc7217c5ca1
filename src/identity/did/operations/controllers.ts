import { RuleError } from '../../../base/errors/rule-error.js'
import { fromUtf8 } from '../../../base/primitives/bytes.js'
import type { SignatureCheck } from '../../../base/primitives/signature.js'
import { didPart } from '../identifier.js'
import { type KnownControl, type KnownDocument, keyOf } from '../known-document.js'
import type { DidDocument } from '../model.js'
import type { Ticket } from '../ticket.js'
import type { DocumentReads } from './document-reads.js'

/** Rules of DIDs that have a name, and controllers instead of a default key. */

/** Controllers whose states are looked at for the cost of one signature check: a rule of the chain. */
const controllersPerCheck = 4

/**
 * Refuses a document of which a controller does not exist, or has ended: it could sign nothing. Returns what that costs, in
 * signature checks: those that sign nothing cost no check, but each is looked up.
 */
export function requireControllers({ controllers }: Pick<DidDocument, 'controllers'>, reads: DocumentReads): number {
  for (const did of controllers) reads.controller(did)
  return Math.floor(controllers.length / controllersPerCheck)
}

/** An update leaves the controllers and their number as they are: what they are comes from the document before, not from the new one. */
export function requireSameControl({ control, id }: KnownDocument, next: KnownControl): void {
  const isSame =
    control?.needed === next.needed &&
    control.controllers.length === next.controllers.length &&
    control.controllers.every((did, i) => did === next.controllers[i])
  if (isSame) return
  throw new RuleError(
    'did-controllers',
    `an update changes the controllers of ${id}, or how many of them sign: a transfer does`,
  )
}

/** The key that may sign an operation: an own one of a document, or one of a controller of it; undefined for any other. */
export function signingKeyOf(
  signer: string,
  {
    id,
    control,
    keys,
  }: { readonly id: string; readonly control: KnownControl | undefined; keys(id: string): Uint8Array | undefined },
  reads: DocumentReads,
): Uint8Array | undefined {
  const did = didPart(signer)
  if (did === id) return keys(signer)
  return control?.controllers.includes(did) === true ? reads.keyOfController(did, signer) : undefined
}

/** {@link signingKeyOf} by the authentication keys of a document on the chain. */
export function signingKeyOfKnown(
  signer: string,
  { id, control, authentication }: KnownDocument,
  reads: DocumentReads,
): Uint8Array | undefined {
  return signingKeyOf(signer, { id, control, keys: (key) => keyOf(authentication, key) }, reads)
}

/** The checks of the proofs that controllers made of a document. */
export function controllerChecks({ id, proofs, signingText }: DidDocument, reads: DocumentReads): SignatureCheck[] {
  const message = fromUtf8(signingText)
  return proofs.map(({ creator, signature }) => ({
    message,
    keys: [reads.defaultKeyOfController(didPart(creator), creator)],
    signatures: [signature],
    code: 'document-proof',
    subject: `document proof of ${id} by ${didPart(creator)}`,
  }))
}

/**
 * The checks of a ticket: it is for this DID and its last operation, and as many of the controllers before as needed signed it, each
 * once, with its default key.
 */
export function ticketChecks(
  { id, to, txid, proofs, signingText }: Ticket,
  {
    document,
    before,
    lastTxid,
  }: { readonly document: DidDocument; readonly before: KnownDocument; readonly lastTxid: string },
  reads: DocumentReads,
): SignatureCheck[] {
  const { control } = before
  if (id !== document.id || control === undefined) throw ticketFault(`is for ${id}, not for ${document.id}`)
  if (txid !== lastTxid) throw ticketFault(`is for the DID after ${txid}, whose last operation is ${lastTxid}`)
  if (!document.controllers.includes(to) || !document.proofs.some(({ creator }) => didPart(creator) === to)) {
    throw ticketFault(`gives the DID to ${to}, who is no controller that signed the document`)
  }
  const signers = new Set(proofs.map(({ verificationMethod }) => didPart(verificationMethod)))
  const others = [...signers].filter((did) => !control.controllers.includes(did))
  if (others.length > 0) throw ticketFault(`is signed by ${others[0]}, who is no controller of ${id} so far`)
  if (proofs.length !== control.needed || signers.size !== control.needed) {
    throw ticketFault(`has ${proofs.length} proofs of ${signers.size} controllers, and needs ${control.needed}`)
  }
  return proofs.map(({ verificationMethod: key, signature }) => ({
    message: fromUtf8(signingText),
    keys: [reads.defaultKeyOfController(didPart(key), key)],
    signatures: [signature],
    code: 'did-ticket-proof',
    subject: `ticket of ${id} by ${didPart(key)}`,
  }))
}

function ticketFault(what: string): RuleError {
  return new RuleError('did-ticket', `the ticket ${what}`)
}
