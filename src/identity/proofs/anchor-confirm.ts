import { equalBytes } from '../../base/primitives/bytes.js'
import { Reader, Writer } from '../../base/primitives/codec.js'
import { type Confirm, proposalHash, proposalUnsigned, voteUnsigned } from '../../base/primitives/confirm.js'
import type { Header } from '../../base/primitives/header.js'
import type { SignatureDue } from './signature-checks.js'
import { fail } from './proof-failure.js'

/**
 * A confirm as an anchor carries it: view u32, signature of the proposal, a bit for each validator that votes, their signatures. The
 * rest follows from the header and the keys.
 */

const signatureSize = 64

/** Validators that have to vote: ⌊2N/3⌋ + 1. */
export function quorumOf(count: number): number {
  return Math.floor((2 * count) / 3) + 1
}

/** Bytes of a confirm by all of so many validators. */
export function longestConfirm(count: number): number {
  return 4 + signatureSize + Math.ceil(count / 8) + signatureSize * count
}

/** The whole confirm. Throws `confirm-form` and `confirm-quorum`; verifies nothing. */
export function readConfirm(bytes: Uint8Array, header: Header, keys: readonly Uint8Array[]): Confirm {
  const places = Math.ceil(keys.length / 8)
  if (bytes.length < longestConfirm(0) + places) fail('confirm-form', `${bytes.length} bytes`)
  const reader = new Reader(bytes)
  const viewOffset = reader.u32()
  const signature = reader.take(signatureSize)
  const voters = votersIn(reader.take(places), keys.length)
  if (reader.remaining !== voters.length * signatureSize) {
    fail('confirm-form', `${reader.remaining} bytes for ${voters.length} signatures`)
  }
  const quorum = quorumOf(keys.length)
  if (voters.length < quorum) fail('confirm-quorum', `${voters.length} votes, ${quorum} needed`)
  const sponsor = keys[(header.height + viewOffset) % keys.length] as Uint8Array
  const proposal = { sponsor, blockHash: header.hash, viewOffset, signature }
  const hash = proposalHash(proposal)
  const votes = voters.map((place) => ({
    proposalHash: hash,
    signer: keys[place] as Uint8Array,
    accept: true,
    signature: reader.take(signatureSize),
  }))
  return { proposal, votes }
}

function votersIn(bitmap: Uint8Array, count: number): number[] {
  const voters: number[] = []
  for (let place = 0; place < bitmap.length * 8; place++) {
    if (((bitmap[place >> 3] as number) & (0x80 >> (place & 7))) === 0) continue
    if (place >= count) fail('confirm-form', `a vote of validator ${place} of ${count}`)
    voters.push(place)
  }
  return voters
}

/** The signatures of a confirm. */
export function signaturesOf({ proposal, votes }: Confirm): SignatureDue[] {
  return [
    { key: proposal.sponsor, message: proposalUnsigned(proposal), signature: proposal.signature },
    ...votes.map((vote) => ({ key: vote.signer, message: voteUnsigned(vote), signature: vote.signature })),
  ]
}

/** A confirm by these keys as an anchor carries it: of the votes the first ones, a quorum unless given, by the place of the validator. */
export function compactConfirm(
  { proposal, votes }: Confirm,
  keys: readonly Uint8Array[],
  most = quorumOf(keys.length),
): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil(keys.length / 8))
  const signatures: Uint8Array[] = []
  for (const [place, key] of keys.entries()) {
    const vote = votes.find(({ signer }) => equalBytes(signer, key))
    if (vote === undefined || signatures.length === most) continue
    bitmap[place >> 3] = (bitmap[place >> 3] as number) | (0x80 >> (place & 7))
    signatures.push(vote.signature)
  }
  const writer = new Writer(longestConfirm(signatures.length)).u32(proposal.viewOffset)
  writer.bytes(proposal.signature).bytes(bitmap)
  for (const signature of signatures) writer.bytes(signature)
  return writer.finish()
}
