import { UserError } from '../../base/errors/rule-error.js'
import { operationForms } from '../../base/primitives/did-operation.js'
import { relativeId } from '../../identity/did/identifier.js'
import type { DidDocument } from '../../identity/did/model.js'
import { parseTicket, type Ticket } from '../../identity/did/ticket.js'
import type { CurrentIdentity } from './did-identity.js'
import type { NamedDraft } from './named-identity.js'
import { chainIds } from '../../identity/did/chain-ids.js'

/** Differences between the document of a draft and that on the chain, for controllers who are asked to sign it. */

/** One difference. Without `before` the draft adds it, without `after` it removes it. */
export interface DraftChange {
  /** Member of the document. */
  readonly member: string
  /** Entry of a list: a DID, a URI, or the id of a key, service or credential from the `#` on. */
  readonly id?: string
  readonly before?: unknown
  readonly after?: unknown
}

/**
 * Everything in which the document of a draft differs from the last one of its DID, in the order of the canonical text, which is what a
 * controller signs. `current`: what the chain has; undefined: the DID does not exist. A {@link UserError} for a draft that the chain would
 * refuse because of its last operation: the signature could only serve another purpose.
 */
export function reviewDraft(draft: NamedDraft, current: CurrentIdentity | undefined): readonly DraftChange[] {
  requireNext(draft, current)
  const [before, after] = [entriesOf(current?.document), entriesOf(draft.document)]
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((key) => {
    const [old, next] = [before.get(key), after.get(key)]
    if (old !== undefined && next !== undefined && old.text === next.text) return []
    const { member, id } = (next ?? old) as Entry
    return [
      { member, ...(id && { id }), ...(old && { before: old.value }), ...(next && { after: next.value }) },
    ] as DraftChange[]
  })
}

/** A {@link UserError} for a ticket that no transfer can bring to the chain any more. */
export function requireTicketFollows(ticket: Pick<Ticket, 'id' | 'txid'>, { txid }: CurrentIdentity): void {
  if (ticket.txid === txid) return
  throw new UserError(
    `the ticket for ${ticket.id} follows the operation ${ticket.txid}, and the last one is ${txid}: make another ticket`,
  )
}

interface Entry extends Pick<DraftChange, 'member' | 'id'> {
  readonly value: unknown
  /** Canonical: equal for equal values. */
  readonly text: string
}

/** The canonical text in parts: a member, or an entry of a member that is a list. */
function entriesOf(document: DidDocument | undefined): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  if (document === undefined) return entries
  const put = (entry: Omit<Entry, 'text'>) => {
    entries.set(JSON.stringify([entry.member, entry.id]), { ...entry, text: JSON.stringify(entry.value) })
  }
  for (const [member, value] of Object.entries(JSON.parse(document.signingText) as object)) {
    const items: readonly unknown[] = listOf(member, value)
    for (const item of items) put({ member, ...idOf(item, document.id), value: item })
    if (items.length === 0) put({ member, value })
  }
  return entries
}

/** The entries of a member; none of one that is compared as a whole: the order of contexts counts, and no other member is a list. */
function listOf(member: string, value: unknown): readonly unknown[] {
  if (member === '@context') return []
  return member === 'controller' || Array.isArray(value) ? [value].flat() : []
}

/** The name of an entry, which no other one of its list has: a text is its own. */
function idOf(item: unknown, did: string): { readonly id: string } {
  const id = typeof item === 'string' ? item : (item as { readonly id: string }).id
  return { id: id.includes('#') ? relativeId(id, did) : id }
}

/** Refuses a draft that cannot be the next operation of its DID. */
function requireNext({ operation, document, previousTxid, ticket }: NamedDraft, current: CurrentIdentity | undefined) {
  const { id } = document
  const form = operationForms[operation]
  if (current === undefined) {
    if (form.after.some((effect) => effect === 'nothing')) return
    throw new UserError(`the draft is of ${operation}, and ${id} does not exist on this chain`)
  }
  if (form.ticket) return requireTicketFollows(ticketOf(ticket, id), current)
  if (!form.previousTxid) throw new UserError(`the draft is of ${operation}, and ${id} exists on this chain already`)
  if (previousTxid !== current.txid) {
    throw new UserError(
      `the draft follows the operation ${previousTxid ?? 'of nothing'}, and the last one of ${id} is ${current.txid}: begin again`,
    )
  }
  const controlOf = ({ controllers, multisig }: DidDocument) => `${controllers.join()} ${multisig ?? ''}`
  if (controlOf(document) !== controlOf(current.document)) {
    throw new UserError(`the draft is of ${operation}, and has other controllers than ${id}: that takes a ticket`)
  }
}

function ticketOf(text: string | undefined, id: string): Ticket {
  const ticket = parseTicket(text ?? '', chainIds)
  if (ticket.id === id) return ticket
  throw new UserError(`the draft is for ${id}, and its ticket for ${ticket.id}`)
}
