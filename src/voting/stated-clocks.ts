import { mapKey } from '../base/primitives/bytes.js'
import { viewOf, type VotingMessage } from './tendermint/message.js'

/**
 * How far the clocks of validators seem to be ahead of the own one, by the times of the blocks that they propose: of each the
 * latest. A block made for view 0 carries the clock of its proposer; one that is proposed again is older, and is left out.
 */
export class StatedClocks {
  /** Milliseconds by key; no more keys than the chain has had validators. */
  readonly #offsets = new Map<string, number>()

  /** Takes an authentic message that arrived at `now`, in Unix milliseconds. */
  note(message: VotingMessage, now: number): void {
    if (message.kind !== 'proposal' || message.validView >= 0 || viewOf(message) > 0) return
    this.#offsets.set(mapKey(message.proposal.sponsor), message.header.time * 1000 - now)
  }

  /** The offsets of those of the keys that are known, in milliseconds. */
  of(keys: readonly Uint8Array[]): number[] {
    return keys.flatMap((key) => this.#offsets.get(mapKey(key)) ?? [])
  }
}
