import type { Chain } from '../ledger/chain/chain.js'
import { confirmVotes } from './confirm-votes.js'
import type { TendermintMachine } from './tendermint/machine.js'
import { encodeMessage } from './tendermint/message.js'
import { parseSummary } from './tendermint/summary.js'

/** @tuning bytes: messages of an answer to a summary */
const missingBytes = 512 * 1024

/**
 * Encoded messages that a peer with this summary lacks, at most 512 KiB; for a decided height the precommits of its confirm.
 * Throws `vote-malformed` for bytes that are no summary.
 */
export function missingMessages(
  summary: Uint8Array,
  machine: Pick<TendermintMachine, 'height' | 'missing'>,
  chain: Chain,
): Uint8Array[] {
  const peer = parseSummary(summary)
  const messages = peer.height === machine.height ? machine.missing(peer) : confirmVotes(chain, peer.height)
  const answer: Uint8Array[] = []
  let room = missingBytes
  for (const message of messages) {
    const bytes = encodeMessage(message)
    room -= bytes.length + 3
    if (room < 0) break
    answer.push(bytes)
  }
  return answer
}
