import {
  addDocumentProof,
  buildCreate,
  buildDidTransfer,
  buildUpdate,
  draftDocument,
} from '../../identity/did/build.js'
import { documentText } from '../../identity/did/canonical.js'
import { mostControllers, neededControllers } from '../../identity/did/control.js'
import { parseDocument } from '../../identity/did/document.js'
import { parseDraftJson } from '../../identity/did/draft-json.js'
import { didPart } from '../../identity/did/identifier.js'
import { parseLibraryDocument } from '../../identity/did/library-document.js'
import type { DidDocument } from '../../identity/did/model.js'
import { addTicketProof, draftTicket, encodeTicket, parseTicket, type Ticket } from '../../identity/did/ticket.js'
import { encodeBase64url } from '../../identity/did/base64url.js'
import { UserError } from '../../base/errors/rule-error.js'
import { fromBase64url, fromUtf8, utf8 } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { hasName, nameRule } from '../../base/primitives/did-name.js'
import {
  type DidOperation,
  isOperationName,
  operationForms,
  type OperationName,
} from '../../base/primitives/did-operation.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { parseStrictJson } from '../../base/primitives/strict-json.js'
import type { KeyPair } from './accounts.js'
import { plannedAgreement, requireServices } from './core-members.js'
import { changedPlan, type CurrentIdentity, type DocumentChanges, type NewIdentity, signer } from './did-identity.js'
import { chainIds } from '../../identity/did/chain-ids.js'

/**
 * DIDs with a name, whose controllers sign one after another: a draft goes from hand to hand until it has as many proofs as it needs, and
 * the last one signs and sends the operation (format 9.6).
 */

/** An operation under way: a document, with the proofs that it has so far. */
export interface NamedDraft {
  readonly operation: OperationName
  readonly document: DidDocument
  /** Display hex of the operation that an update follows. */
  readonly previousTxid?: string
  /** Ticket of a transfer, in base64url. */
  readonly ticket?: string
}

/** A controller that signs: the key of its DID, and the absolute id that this has in its document. */
export interface Controller {
  readonly pair: KeyPair
  readonly key: string
}

/** The controllers of a DID, and how many of them sign. */
export interface Controllers {
  readonly controllers: readonly string[]
  /** 1 when absent. */
  readonly needed?: number
}

export interface NamedIdentity extends Controllers, Omit<NewIdentity, 'recovery'> {
  /** The full DID. */
  readonly did: string
}

/** The draft of a new document under controllers; with a ticket it takes the place of the document of the DID that this gives away. */
export function namedDraft(identity: NamedIdentity, created: string, ticket?: Ticket): NamedDraft {
  const { did, services, keyAgreement = [], alsoKnownAs = [], expires } = identity
  requireName(did)
  requireServices(services)
  const members = { services, alsoKnownAs, keyAgreement: plannedAgreement(keyAgreement, did) }
  const control = controlOf(identity)
  const document = draftDocument({ method: didMethod, did, control, keys: [], ...members, expires, created })
  const operation = operationThat(({ subject, after, ticket: isGiven }) => {
    return subject === 'did' && (ticket === undefined ? after.some((effect) => effect === 'nothing') : isGiven)
  })
  return { operation, document, ...defined({ ticket: ticket && encodeTicket(ticket) }) }
}

/** The draft of an update. */
export function changedDraft(current: CurrentIdentity, changes: DocumentChanges, created: string): NamedDraft {
  const document = draftDocument(changedPlan(current.document, changes, created))
  return { operation: operationThat(({ previousTxid }) => previousTxid), document, previousTxid: current.txid }
}

/**
 * Adds the proof of a controller to a draft. A {@link UserError} where it is none, has signed, there are enough, or the DID has no name.
 * It signs the whole document, which `reviewDraft` shows.
 */
export function signDraft(draft: NamedDraft, { pair, key }: Controller, created: string): NamedDraft {
  const { document } = draft
  requireName(document.id)
  requireUnsigned(
    document.proofs.map(({ creator }) => creator),
    key,
    { ...document, needed: neededControllers(document) },
  )
  return { ...draft, document: addDocumentProof(document, { key, created }, signer(pair)) }
}

/** How many controllers have yet to sign a draft. */
export function missingProofs({ document }: NamedDraft): number {
  return neededControllers(document) - document.proofs.length
}

/** The operation of a draft that has all its proofs, signed by one of the controllers. Throws what the chain would refuse of its document. */
export function draftOperation(draft: NamedDraft, { pair, key }: Controller, specification: string): DidOperation {
  const { document, previousTxid, ticket } = draft
  const missing = missingProofs(draft)
  if (missing > 0) throw new UserError(`${missing} more of the controllers of ${document.id} have to sign`)
  parseDocument(parseStrictJson(documentText(document), { depth: 16, tokens: 20_000 }), chainIds)
  const plan = { specification, verificationMethod: key }
  if (ticket !== undefined)
    return buildDidTransfer(document, { ...plan, ticket: parseTicket(ticket, chainIds) }, signer(pair))
  if (previousTxid !== undefined) return buildUpdate(document, { ...plan, previousTxid }, signer(pair))
  return buildCreate(document, plan, signer(pair))
}

/** The ticket that gives a DID to another one, without proofs. */
export function ticketFor({ document, txid }: CurrentIdentity, to: string): Ticket {
  return draftTicket({ id: document.id, to, txid })
}

/** Adds the proof of a controller of `document`, the last one of its DID, to a ticket. */
export function signTicket(ticket: Ticket, { pair, key }: Controller, document: DidDocument, created: string): Ticket {
  const needed = neededControllers(document)
  requireUnsigned(
    ticket.proofs.map(({ verificationMethod }) => verificationMethod),
    key,
    { id: document.id, controllers: document.controllers, needed },
  )
  return addTicketProof(ticket, { key, created }, signer(pair))
}

/** The JSON text of a draft, for a file. */
export function draftText({ operation, document, previousTxid, ticket }: NamedDraft): string {
  const members = {
    operation,
    ...defined({ previousTxid, ticket }),
    document: JSON.parse(documentText(document)) as unknown,
  }
  return `${JSON.stringify(members, null, 2)}\n`
}

/** Reads the text of a draft; a {@link UserError} for anything else. */
export function readDraft(text: string): NamedDraft {
  const object = parseDraftJson(text)
  const fault = new UserError('it holds no draft: an object with operation and document')
  if (!(object instanceof Map)) throw fault
  const [operation, document, previousTxid, ticket] = ['operation', 'document', 'previousTxid', 'ticket'].map((name) =>
    object.get(name),
  )
  const texts = [previousTxid, ticket]
  if (typeof operation !== 'string' || !isOperationName(operation) || document === undefined) throw fault
  if (texts.some((value) => value !== undefined && typeof value !== 'string')) throw fault
  return {
    operation,
    document: parseLibraryDocument(document, { method: didMethod, chain: false }),
    ...defined({ previousTxid: previousTxid as string | undefined, ticket: ticket as string | undefined }),
  }
}

/** The JSON text of a ticket, for a file: as the SDKs of the family write it. */
export function ticketText(ticket: Ticket): string {
  const json = utf8(fromBase64url(encodeTicket(ticket))) ?? ''
  return `${JSON.stringify(JSON.parse(json), null, 2)}\n`
}

/** Reads the text of a ticket that has a proof at least, JSON or base64url. */
export function readTicket(text: string): Ticket {
  const trimmed = text.trim()
  return parseTicket(trimmed.startsWith('{') ? encodeBase64url(fromUtf8(trimmed)) : trimmed, chainIds)
}

function controlOf({ controllers, needed = 1 }: Controllers): { controllers: readonly string[]; multisig?: string } {
  const all = [...new Set(controllers)].sort()
  if (all.length > mostControllers)
    throw new UserError(`${all.length} controllers, of which at most ${mostControllers} are allowed`)
  if (needed < 1 || needed > all.length) throw new UserError(`${needed} of ${all.length} controllers cannot sign`)
  return all.length === 1 ? { controllers: all } : { controllers: all, multisig: `${needed}:${all.length}` }
}

function requireUnsigned(
  signed: readonly string[],
  key: string,
  {
    id,
    controllers,
    needed,
  }: { readonly id: string; readonly controllers: readonly string[]; readonly needed: number },
): void {
  const did = didPart(key)
  if (!controllers.includes(did))
    throw new UserError(`${did} is no controller of ${id}: those are ${controllers.join(', ')}`)
  if (signed.some((other) => didPart(other) === did)) throw new UserError(`${did} has signed it already`)
  if (signed.length >= needed) throw new UserError(`it has the ${needed} signatures that it needs, and takes no more`)
}

function requireName(did: string): void {
  if (hasName(did)) return
  throw new UserError(`${did} is not a DID with a name: ${nameRule}`)
}

function operationThat(is: (form: (typeof operationForms)[OperationName]) => boolean): OperationName {
  return (Object.keys(operationForms) as OperationName[]).find((name) => is(operationForms[name])) as OperationName
}
