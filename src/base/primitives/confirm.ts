import { RuleError } from '../errors/rule-error.js'
import { displayHash, joined, toHex } from './bytes.js'
import { decodeAll, type Reader } from './codec.js'
import { type Hash, sha256d } from './hash.js'

/** A sponsor's signed proposal of a block for its height (format 6.1). */
export interface Proposal {
  /** 33-byte public key. */
  readonly sponsor: Uint8Array
  readonly blockHash: Hash
  readonly viewOffset: number
  /** 64 bytes over SHA-256 of the fields before it. */
  readonly signature: Uint8Array
}

/** A validator's signed vote on a proposal (format 6.2). */
export interface Vote {
  readonly proposalHash: Hash
  readonly signer: Uint8Array
  readonly accept: boolean
  readonly signature: Uint8Array
}

/** A proposal and the votes that confirm it (format 6.3). */
export interface Confirm {
  readonly proposal: Proposal
  readonly votes: readonly Vote[]
}

const keySize = 33
const signatureSize = 64
const voteSize = 132
/**
 * As many as a validator set may have members.
 * @limit count: votes of a confirm
 */
const maxVotes = 100n

/** The bytes that the sponsor signs. */
export function proposalUnsigned(proposal: Omit<Proposal, 'signature'>): Uint8Array {
  return joined(...sized(proposal.sponsor), proposal.blockHash, proposal.viewOffset)
}

/** The hash by which votes name a proposal: sha256d of the unsigned proposal. */
export function proposalHash(proposal: Omit<Proposal, 'signature'>): Hash {
  return sha256d(proposalUnsigned(proposal))
}

/** The bytes that a voter signs. */
export function voteUnsigned(vote: Omit<Vote, 'signature'>): Uint8Array {
  return joined(vote.proposalHash, ...sized(vote.signer), Uint8Array.of(vote.accept ? 1 : 0))
}

export function proposalBytes(proposal: Proposal): Uint8Array {
  return joined(proposalUnsigned(proposal), ...sized(proposal.signature))
}

export function voteBytes(vote: Vote): Uint8Array {
  return joined(voteUnsigned(vote), ...sized(vote.signature))
}

export function confirmBytes(confirm: Confirm): Uint8Array {
  // The count has eight bytes.
  return joined(proposalBytes(confirm.proposal), confirm.votes.length, 0, ...confirm.votes.map(voteBytes))
}

/** A key or signature behind its length. */
function sized(bytes: Uint8Array): readonly Uint8Array[] {
  return [Uint8Array.of(bytes.length), bytes]
}

/** Decodes exactly one confirm; `confirm-malformed` for anything else. The vote count is bounded before allocation. */
export function parseConfirm(bytes: Uint8Array): Confirm {
  const fail = (reason: string) => new RuleError('confirm-malformed', reason)
  return decodeAll(
    bytes,
    (reader) => {
      const proposal = readProposal(reader)
      const count = reader.u64()
      if (count > maxVotes) throw fail(`${count} votes where at most ${maxVotes} are possible`)
      return { proposal, votes: reader.items(Number(count), voteSize, () => readVote(reader, fail)) }
    },
    fail,
  )
}

/** Reads the bytes of {@link proposalBytes}. */
export function readProposal(reader: Reader): Proposal {
  return {
    sponsor: reader.fixedbytes(keySize),
    blockHash: reader.hash(),
    viewOffset: reader.u32(),
    signature: reader.fixedbytes(signatureSize),
  }
}

function readVote(reader: Reader, fail: (reason: string) => Error): Vote {
  const hash = reader.hash()
  const signer = reader.fixedbytes(keySize)
  const accept = reader.u8()
  if (accept > 1) throw fail('the accept byte of a vote is neither 0 nor 1')
  return { proposalHash: hash, signer, accept: accept === 1, signature: reader.fixedbytes(signatureSize) }
}

/** The `result` object of the confirm endpoints. */
export interface ConfirmJson {
  blockhash: string
  sponsor: string
  viewoffset: number
  votes: { signer: string; accept: boolean }[]
}

export function confirmJson({ proposal, votes }: Confirm): ConfirmJson {
  return {
    blockhash: displayHash(proposal.blockHash),
    sponsor: toHex(proposal.sponsor),
    viewoffset: proposal.viewOffset,
    votes: votes.map(({ signer, accept }) => ({ signer: toHex(signer), accept })),
  }
}
