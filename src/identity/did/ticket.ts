import { RuleError } from '../../base/errors/rule-error.js'
import { fromUtf8, utf8 } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { type JsonValue, parseStrictJson } from '../../base/primitives/strict-json.js'
import { decodeBase64url, decodedLength, encodeBase64url } from './base64url.js'
import { mostControllers } from './control.js'
import { byText, documentJsonLimits } from './document.js'
import { absoluteId, type IdRules } from './identifier.js'
import { signatureType } from './model.js'
import {
  asObject,
  didText,
  optionalDate,
  refuseUnknown,
  requiredText,
  requireSignatureType,
  signatureMember,
} from './member-readers.js'

/** @limit bytes: decoded ticket of a transfer */
export const mostTicketBytes = 8 * 1024

const ticketMembers: ReadonlySet<string> = new Set(['id', 'to', 'txid', 'proof'])
const proofMembers: ReadonlySet<string> = new Set(['type', 'created', 'verificationMethod', 'signature'])
const txidForm = /^[0-9a-f]{64}$/

/** A signature of a controller under a ticket. */
export interface TicketProof {
  readonly created?: string
  /** Absolute id of the key. */
  readonly verificationMethod: string
  /** 64 bytes, r‖s. */
  readonly signature: Uint8Array
  readonly signatureText: string
}

/** A paper that controllers sign to give a DID with a name away (format 9.6). */
export interface Ticket {
  readonly id: string
  /** A DID that controls it from then on, and signs its next document. */
  readonly to: string
  /** Display hex of the operation that the transfer follows. */
  readonly txid: string
  readonly proofs: readonly TicketProof[]
  /** The text that each of them signs. */
  readonly signingText: string
}

/** The text that the controllers before sign. */
export function ticketSigningText({ id, to, txid }: Pick<Ticket, 'id' | 'to' | 'txid'>): string {
  return `{"id":"${id}","to":"${to}","txid":"${txid}"}`
}

/** A ticket without proofs yet. */
export function draftTicket(said: Pick<Ticket, 'id' | 'to' | 'txid'>): Ticket {
  return { ...said, proofs: [], signingText: ticketSigningText(said) }
}

/** A ticket with one proof more, by the default key of a controller so far; `key` is its absolute id. */
export function addTicketProof(
  ticket: Ticket,
  { key: verificationMethod, created }: { readonly key: string; readonly created: string },
  sign: (text: string) => Uint8Array,
): Ticket {
  const signature = sign(ticket.signingText)
  const proof = { created, verificationMethod, signature, signatureText: encodeBase64url(signature) }
  return {
    ...ticket,
    proofs: [...ticket.proofs, proof].sort((a, b) => byText(a.verificationMethod, b.verificationMethod)),
  }
}

/** A ticket as the header of a transfer has it: base64url of its JSON. */
export function encodeTicket({ proofs, signingText }: Ticket): string {
  const texts = proofs.map(({ created, verificationMethod, signatureText }) =>
    JSON.stringify({ type: signatureType, ...defined({ created }), verificationMethod, signature: signatureText }),
  )
  const proof = texts.length === 1 ? texts.join('') : `[${texts.join(',')}]`
  return encodeBase64url(fromUtf8(`${signingText.slice(0, -1)},"proof":${proof}}`))
}

/** Reads the ticket in the header of a transfer. Throws `did-ticket-form`, or the code of a member that is not as it has to be. */
export function parseTicket(text: string, rules: IdRules): Ticket {
  if (decodedLength(text.length) > mostTicketBytes) throw formFault(`is longer than ${mostTicketBytes} bytes`)
  const bytes = decodeBase64url(text)
  const json = bytes && utf8(bytes)
  if (json === undefined) throw formFault('is no UTF-8 in base64url')
  const object = asObject(parseStrictJson(json, documentJsonLimits), 'ticket')
  refuseUnknown(object, ticketMembers, 'ticket')
  const txid = requiredText(object, 'txid', 'ticket')
  if (!txidForm.test(txid)) throw formFault('names no transaction: txid is not 64 digits of hex')
  const id = didText(requiredText(object, 'id', 'ticket'), 'ticket.id', rules)
  const to = didText(requiredText(object, 'to', 'ticket'), 'ticket.to', { ...rules, names: false })
  const member = object.get('proof')
  const entries = Array.isArray(member) ? member : member === undefined ? [] : [member]
  if (entries.length === 0 || entries.length > mostControllers) {
    throw formFault(`has ${entries.length} proofs, not 1 to ${mostControllers}`)
  }
  const proofs = entries.map((entry, index) => parseTicketProof(entry, `ticket.proof[${index}]`, rules))
  return { id, to, txid, proofs, signingText: ticketSigningText({ id, to, txid }) }
}

function parseTicketProof(value: JsonValue, where: string, rules: IdRules): TicketProof {
  const object = asObject(value, where)
  refuseUnknown(object, proofMembers, where)
  requireSignatureType(object, where)
  const created = optionalDate(object, 'created', where)
  const text = requiredText(object, 'verificationMethod', where)
  const verificationMethod = text.startsWith('#') ? undefined : absoluteId(text, '', rules)
  if (verificationMethod === undefined) throw formFault(`has a proof of no key: ${text.slice(0, 200)}`)
  return { ...defined({ created }), verificationMethod, ...signatureMember(object, 'signature', where) }
}

function formFault(what: string): RuleError {
  return new RuleError('did-ticket-form', `the ticket ${what}`)
}
