import type { Action, DocumentChangeKind } from '../../base/primitives/chain-event.js'
import { toHex } from '../../base/primitives/bytes.js'
import { sha256 } from '../../base/primitives/hash.js'
import { fromUtf8 } from '../../base/primitives/bytes.js'
import { oneLine } from '../../base/runtime/visible-text.js'
import type { LightError } from '../light/light-error.js'
import type { ChangedPart } from './changed-parts.js'

/** Format of messages, named in each. */
export const watchFormat = 'didledger/watch/1'

/** The block by which a message is proved. */
export interface ProvedBy {
  readonly height: number
  readonly hash: string
  /** Unix seconds. */
  readonly time: number
  /** Seconds, by the clock of the watcher. */
  readonly age: number
}

/** An operation on a DID came onto the chain (`apply`), or left it with its block (`revert`). Proved by the watcher. */
export interface DidMessage {
  readonly format: typeof watchFormat
  /** Equal in every repetition of the message: 64 hex digits. */
  readonly id: string
  readonly kind: 'did'
  readonly action: Action
  readonly did: string
  /** Name of the operation: a transfer gives the DID away, a deactivation ends it. */
  readonly operation: string
  readonly txid: string
  readonly height: number
  /** Hash of the block of the operation; absent where it is not proved, since nodes prove recent blocks alone. */
  readonly blockHash?: string
  /** Time of that block in Unix seconds; absent where it left the chain and is not remembered. */
  readonly time?: number
  /** The key that signed it, where that was verified. */
  readonly signedBy?: string
  /** Whether the document before and after it meets the condition; of a list of DIDs: whether there is a document. */
  readonly change: DocumentChangeKind
  /** Parts of the document that differ; absent where the document before is not there any more. */
  readonly changed?: readonly ChangedPart[]
  readonly proved: ProvedBy
}

/** Something may have happened that cannot be told: ask for what is so now. */
export interface GapMessage {
  readonly format: typeof watchFormat
  readonly id: string
  readonly kind: 'gap'
  /** Code of the reason: `overloaded`, `event-gone`, `unknown-block`, `pruned`; of one operation that cannot be proved, the name of the failure. */
  readonly reason: string
  readonly text: string
}

/** Characters of the text of an operation that cannot be told. */
const longestGapText = 1000

export type WatchMessage = DidMessage | GapMessage

/** The id of a message about an operation: a function of the operation, its place and the action alone. */
export function messageId(parts: readonly (string | number)[]): string {
  return toHex(sha256(fromUtf8([watchFormat, ...parts].join('\n'))))
}

export function gapMessage(reason: string, text: string, place: string): GapMessage {
  return { format: watchFormat, id: messageId(['gap', reason, place]), kind: 'gap', reason, text }
}

/** An operation that is said or proved to be there, and cannot be told. */
export function gapOf(
  { did, txid, height }: { readonly did: string; readonly txid: string; readonly height: number },
  { failure, message }: LightError,
): GapMessage {
  const text = `operation ${txid} of ${did} at height ${height} cannot be proved with its document: ${message}`
  // A node may have said any of it, in any length.
  return gapMessage(failure, oneLine(text).slice(0, longestGapText), `${did} ${txid} ${height}`)
}
