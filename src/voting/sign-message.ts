import { sign } from '../base/crypto/keys.js'
import { InvariantError } from '../base/errors/rule-error.js'
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

/** The texts that the author of a message signs, each with a signature of its own: for a proposal also the family's. */
export function signedTexts(message: UnsignedMessage, genesis: Hash): Uint8Array[] {
  const text = preimage(message, genesis)
  return message.kind === 'proposal' ? [text, proposalUnsigned(message.proposal)] : [text]
}

/** The signatures of the {@link signedTexts} of a message, in their order. */
export function signaturesOf(message: SignedMessage): Uint8Array[] {
  return message.kind === 'proposal' ? [message.signature, message.proposal.signature] : [message.signature]
}

/** A message with the signatures of its {@link signedTexts}, in their order. */
export function withSignatures(message: UnsignedMessage, signatures: readonly Uint8Array[]): SignedMessage {
  const [signature, family] = signatures
  if (signature === undefined) throw new InvariantError('a message without a signature')
  if (message.kind !== 'proposal') return { ...message, signature }
  if (family === undefined) throw new InvariantError("a proposal without the family's signature")
  return { ...message, signature, proposal: { ...message.proposal, signature: family } }
}

/** Signs a voting message. `privateKey` must be the signer's key. */
export function signMessage(message: UnsignedMessage, genesis: Hash, privateKey: Uint8Array): SignedMessage {
  const texts = signedTexts(message, genesis)
  return withSignatures(
    message,
    texts.map((text) => sign(text, privateKey)),
  )
}
