import type { DidOperation } from '../../primitives/did-operation.js'
import type { Steps } from '../../primitives/steps.js'
import type { DidRules } from '../did-rules.js'
import type { DidDocument } from '../model.js'
import type { AppliedOperation, DidState } from '../state.js'
import type { DocumentReads } from './document-reads.js'

export interface WithDocument {
  readonly document: DidDocument
  /** Length of the decoded payload in bytes. */
  readonly payloadSize: number
}

/** What an operation says of its DID, read by its own row. */
export type OperationSubject = { readonly did: string } & (
  | ({ readonly kind: 'create' } & WithDocument)
  | ({ readonly kind: 'update'; readonly previousTxid: string } & WithDocument)
  | { readonly kind: 'deactivate' }
)

/** An operation with valid texts and a parsed document, not yet checked against any state. */
export type ParsedOperation = OperationSubject & {
  /** Absolute id of the key that signs. */
  readonly signer: string
  /** The signed bytes. */
  readonly message: Uint8Array
  /** 64 bytes, r‖s. */
  readonly signature: Uint8Array
}

/** A parsed operation of one kind. */
export type ParsedAs<K extends ParsedOperation['kind']> = Extract<ParsedOperation, { kind: K }>

/** What one kind of operation adds to the rules of all. Pure; refuses by throwing a RuleError. */
export interface OperationRow<K extends ParsedOperation['kind']> {
  /** Reads the payload, and what else the kind has. Needs no state. */
  parse(operation: DidOperation, rules: DidRules): Steps<Extract<OperationSubject, { kind: K }>>
  /** Applies it to the state of its DID before; undefined: there is none. */
  apply(previous: DidState | undefined, operation: ParsedAs<K>, reads: DocumentReads): Steps<AppliedOperation>
}
