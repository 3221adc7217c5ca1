import type { DidOperation, OperationName, operationForms } from '../../../base/primitives/did-operation.js'
import type { Steps } from '../../../base/primitives/steps.js'
import type { DidRules } from '../did-rules.js'
import type { Credential, DidDocument } from '../model.js'
import type { AppliedOperation, DidState } from '../state.js'
import type { Ticket } from '../ticket.js'
import type { DocumentReads } from './document-reads.js'

export interface WithDocument {
  readonly document: DidDocument
  /** Length of the decoded payload in bytes. */
  readonly payloadSize: number
}

/** Members that follow from the payload of an operation, by the form that its row names. */
interface PayloadMembers {
  document: WithDocument
  did: unknown
  credential: { readonly credential: Credential }
  'credential-id': { readonly credentialId: string }
}

type Form<K extends OperationName> = (typeof operationForms)[K]
type SubjectOf<K extends OperationName> = {
  readonly kind: K
  readonly owner: string
} & PayloadMembers[Form<K>['payload']] &
  (Form<K>['previousTxid'] extends true ? { readonly previousTxid: string } : unknown) &
  (Form<K>['ticket'] extends true ? { readonly ticket: Ticket } : unknown)

/** Subject of an operation, read by its own row. `owner` is its DID, or the holder of its credential: the base of key ids. */
export type OperationSubject = { [K in OperationName]: SubjectOf<K> }[OperationName]

/** An operation with valid texts and a parsed document or credential, not yet checked against any state. */
export type ParsedOperation = OperationSubject & {
  /** The DID that it changes; of a declare or revoke, the DID that signs. */
  readonly did: string
  /** Absolute id of the key that signs. */
  readonly signer: string
  /** The signed bytes. */
  readonly message: Uint8Array
  /** 64 bytes, r‖s. */
  readonly signature: Uint8Array
}

/** A parsed operation of one kind. */
export type ParsedAs<K extends ParsedOperation['kind']> = Extract<ParsedOperation, { kind: K }>

/** Rules of one kind of operation, beside those of all. Pure; refuses by throwing a RuleError. */
export interface OperationRow<K extends ParsedOperation['kind']> {
  /** Reads the payload, and what else the kind has. Needs no state. */
  parse(operation: DidOperation, rules: DidRules): Steps<Extract<OperationSubject, { kind: K }>>
  /** Applies it to the state of its `did` before; undefined: there is none. */
  apply(previous: DidState | undefined, operation: ParsedAs<K>, reads: DocumentReads): Steps<AppliedOperation>
}
