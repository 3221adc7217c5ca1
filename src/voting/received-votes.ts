import { equalBytes } from '../base/primitives/bytes.js'
import type { Summary, ViewSummary } from './tendermint/summary.js'

/** Votes of one validator that a node has at the open height. */
export interface ReceivedVotes {
  /** 33-byte public key. */
  readonly publicKey: Uint8Array
  /** Whether it is the key of this node. */
  readonly own: boolean
  /** Whether any message of it is kept, of whatever view. */
  readonly heard: boolean
  /** Whether its prevote, and its precommit, of the present view is kept; also one for no block. */
  readonly prevote: boolean
  readonly precommit: boolean
}

/** The votes behind a summary of the open height, in the order of its validators. */
export function receivedVotes(
  validators: readonly Uint8Array[],
  { height, view, views }: Pick<Summary, 'height' | 'view' | 'views'>,
  ownKey?: Uint8Array,
): ReceivedVotes[] {
  const present = views.find((entry) => entry.view === view)
  return validators.map((publicKey, index) => {
    const proposed = (entry: ViewSummary) => entry.proposal && (height + entry.view) % validators.length === index
    return {
      publicKey,
      own: ownKey !== undefined && equalBytes(publicKey, ownKey),
      heard: views.some((entry) => has(entry.prevotes, index) || has(entry.precommits, index) || proposed(entry)),
      prevote: present !== undefined && has(present.prevotes, index),
      precommit: present !== undefined && has(present.precommits, index),
    }
  })
}

/** A bit of a bitmap of validators, lowest bit of the first byte first. */
function has(bitmap: Uint8Array, index: number): boolean {
  return (((bitmap[index >> 3] ?? 0) >> (index & 7)) & 1) === 1
}
