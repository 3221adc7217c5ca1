import { publicKeyOf, sign } from '../crypto/keys.js'
import { type Confirm, proposalHash, proposalUnsigned, voteUnsigned } from '../primitives/confirm.js'
import type { Hash } from '../primitives/hash.js'

/** The proposal of a block by a sponsor, and the vote of the same key: all that a chain with one validator needs. */
export function confirmAlone(blockHash: Hash, viewOffset: number, privateKey: Uint8Array): Confirm {
  const sponsor = publicKeyOf(privateKey)
  const unsignedProposal = { sponsor, blockHash, viewOffset }
  const proposal = { ...unsignedProposal, signature: sign(proposalUnsigned(unsignedProposal), privateKey) }
  const unsignedVote = { proposalHash: proposalHash(unsignedProposal), signer: sponsor, accept: true }
  const vote = { ...unsignedVote, signature: sign(voteUnsigned(unsignedVote), privateKey) }
  return { proposal, votes: [vote] }
}
