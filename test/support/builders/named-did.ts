import {
  addDocumentProof,
  buildCreate,
  buildDeactivate,
  buildDidTransfer,
  buildUpdate,
  type DocumentPlan,
  draftDocument,
} from '../../../src/identity/did/build.js'
import type { DidRules } from '../../../src/identity/did/did-rules.js'
import type { DidDocument } from '../../../src/identity/did/model.js'
import { addTicketProof, draftTicket, type Ticket } from '../../../src/identity/did/ticket.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { created, didRules, expires, type Holder, signer, specification } from './did.js'

/** Rules of a chain whose DIDs may have names. */
export const namedRules: DidRules = { ...didRules, names: true }

export function named(name: string): string {
  return `did:ledger:${name}`
}

const defaultKey = ({ did }: Holder) => `${did}#primary`

/** Who controls a DID: as a document names it. */
export function controlBy(controllers: readonly Holder[], needed = 1): DocumentPlan['control'] {
  const dids = controllers.map(({ did }) => did)
  return dids.length === 1 ? { controllers: dids } : { controllers: dids, multisig: `${needed}:${dids.length}` }
}

/** The document of a name, signed by holders; `by` are the controllers. */
export function namedDocument(
  name: string,
  { by, needed = 1, signers = by.slice(0, needed), plan = {} }: NamedParts,
): DidDocument {
  const common = { method: 'ledger', did: named(name), keys: [], expires, created }
  const control = controlBy(by, needed)
  return signers.reduce(signedBy, draftDocument({ ...common, ...(control && { control }), ...plan }))
}

/** A document with one proof more. */
export function signedBy(document: DidDocument, holder: Holder): DidDocument {
  return addDocumentProof(document, { key: defaultKey(holder), created }, signer(holder.primary))
}

export interface NamedParts {
  readonly by: readonly Holder[]
  readonly needed?: number
  readonly signers?: readonly Holder[]
  readonly plan?: Partial<DocumentPlan>
}

const byKeyOf = (holder: Holder) => ({ specification, verificationMethod: defaultKey(holder) })

/** A create, signed by the default key of a holder. */
export function createNamed(document: DidDocument, holder: Holder): DidOperation {
  return buildCreate(document, byKeyOf(holder), signer(holder.primary))
}

export function updateNamed(document: DidDocument, previousTxid: string, holder: Holder): DidOperation {
  return buildUpdate(document, { ...byKeyOf(holder), previousTxid }, signer(holder.primary))
}

export function transferNamed(document: DidDocument, ticket: Ticket, holder: Holder): DidOperation {
  return buildDidTransfer(document, { ...byKeyOf(holder), ticket }, signer(holder.primary))
}

export function deactivateNamed(name: string, holder: Holder): DidOperation {
  return buildDeactivate(named(name), byKeyOf(holder), signer(holder.primary))
}

/** A ticket that holders sign with their default keys. */
export function ticketOf(
  name: string,
  { to, txid, signers }: { readonly to: Holder; readonly txid: string; readonly signers: readonly Holder[] },
): Ticket {
  return signers.reduce(
    (ticket, holder) => addTicketProof(ticket, { key: defaultKey(holder), created }, signer(holder.primary)),
    draftTicket({ id: named(name), to: to.did, txid }),
  )
}
