/**
 * The entry `didledger/wallet`: that of `didledger-client/wallet`, what reads the spec of a chain, and DIDs with names. The small package does without: with
 * typebox it would be a sixth larger, and a program that talks to a node has the rules from there.
 */
export * from './wallet-client-entry.js'
export { codes } from './client-codes.js'
export {
  changedDraft,
  type Controller,
  type Controllers,
  draftOperation,
  draftText,
  missingProofs,
  type NamedDraft,
  namedDraft,
  type NamedIdentity,
  readDraft,
  readTicket,
  signDraft,
  signTicket,
  ticketFor,
  ticketText,
} from '../../clients/wallet/named-identity.js'
export { type DraftChange, requireTicketFollows, reviewDraft } from '../../clients/wallet/review-draft.js'
export { chainTerms } from '../../clients/wallet/terms.js'
export { parseSpec } from '../../base/primitives/spec-file.js'
