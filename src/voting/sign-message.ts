import { sign } from '../base/crypto/keys.js'
import { type Confirm, proposalHash, proposalUnsigned, voteUnsigned } from '../base/primitives/confirm.js'
import type { Hash } from '../base/primitives/hash.js'
import { preimage, type SignedMessage, type UnsignedMessage } from './tendermint/message.js'

/** A key that signs: r‖s of SHA-256 of a message. */
export interface KeySigner {
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/** The confirm of a chain with one validator: proposal and vote of the same key. */
export function soloConfirmBy(signer: KeySigner, blockHash: Hash, viewOffset: number): Confirm {
  const sponsor = signer.publicKey
  const unsignedProposal = { sponsor, blockHash, viewOffset }
  const proposal = { ...unsignedProposal, signature: signer.sign(proposalUnsigned(unsignedProposal)) }
  const unsignedVote = { proposalHash: proposalHash(unsignedProposal), signer: sponsor, accept: true }
  const vote = { ...unsignedVote, signature: signer.sign(voteUnsigned(unsignedVote)) }
  return { proposal, votes: [vote] }
}

/** Signs a voting message; a proposal also gets the family's signature. `privateKey` must be the signer's key. */
export function signMessage(message: UnsignedMessage, genesis: Hash, privateKey: Uint8Array): SignedMessage {
  const signature = sign(preimage(message, genesis), privateKey)
  if (message.kind !== 'proposal') return { ...message, signature }
  const { proposal } = message
  return { ...message, signature, proposal: { ...proposal, signature: sign(proposalUnsigned(proposal), privateKey) } }
}
