import * as form from '../../base/primitives/forms.js'
import type { Header } from '../../base/primitives/header.js'
import { maxAuxPowSize } from '../../base/primitives/auxpow.js'
import { encodeMessage, parseMessage, type VotingMessage } from '../../voting/tendermint/message.js'
import {
  bytesListCodec,
  chainProtocol,
  type Codec,
  codec,
  type Exchange,
  type GossipTopic,
  header,
  opaqueCodec,
} from './exchange.js'

/** @limit bytes: summary of the votes that a node has */
const summaryBytes = 64 * 1024
/** @limit count: voting messages of an answer */
export const maxMissingVotes = 4096
/** @limit bytes: each voting message of an answer, and so all of them */
export const missingVoteBytes = 512 * 1024
/** @limit bytes: answer with voting messages */
const votesAnswer = missingVoteBytes + 16 * 1024
/** @limit ms: wait for an answer with voting messages */
const votesTimeout = 5_000
/** @limit bytes: proposal */
const proposalMessage = 64 * 1024
/** @limit bytes: vote */
const voteMessage = 512
/** @limit bytes: candidate */
const candidateBytes = 20 * 1024

/** Repairs lost gossip: request = summary of the votes that the node has; answer = votes that it lacks. Opaque bytes. */
export const votesExchange: Exchange<Uint8Array, readonly Uint8Array[]> = {
  protocol: chainProtocol('votes', summaryBytes, votesAnswer, votesTimeout),
  question: opaqueCodec(summaryBytes),
  answer: bytesListCodec(maxMissingVotes, missingVoteBytes),
}

/** A message of the voting, at most `most` bytes; decoding refuses bytes that are none with `vote-malformed`. */
function votingCodec(most: number): Codec<VotingMessage> {
  const { encode, decode } = opaqueCodec(most)
  return { encode: (message) => encode(encodeMessage(message)), decode: (bytes) => parseMessage(decode(bytes)) }
}

/** A proposal with its header and the prevotes of its valid view. */
export const proposalTopic: GossipTopic<VotingMessage> = {
  topic: { name: 'proposals', version: 1, size: proposalMessage },
  message: votingCodec(proposalMessage),
}

/** A prevote or precommit. */
export const voteTopic: GossipTopic<VotingMessage> = {
  topic: { name: 'votes', version: 1, size: voteMessage },
  message: votingCodec(voteMessage),
}

/** A header with work by a miner, for a validator to propose. */
export interface Candidate {
  readonly header: Header
  /** Bytes of the AuxPow. */
  readonly auxPow: Uint8Array
}

export const candidateTopic: GossipTopic<Candidate> = {
  topic: { name: 'candidates', version: 1, size: candidateBytes },
  message: codec(form.record<Candidate>({ header, auxPow: form.varbytes(maxAuxPowSize) })),
}
