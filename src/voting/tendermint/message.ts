import { proposerAt } from '../../ledger/consensus/check-confirm.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { compareBytes, concat, equalBytes, fromUtf8, mapKey, toHex } from '../../base/primitives/bytes.js'
import { CodecError, decodeAll, type Reader, Writer } from '../../base/primitives/codec.js'
import {
  type Confirm,
  type Proposal,
  proposalBytes,
  proposalHash,
  proposalUnsigned,
  readProposal,
  voteUnsigned,
} from '../../base/primitives/confirm.js'
import { type Hash, zeroHash } from '../../base/primitives/hash.js'
import { Header } from '../../base/primitives/header.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import { paramsAt, quorum, type Spec } from '../../base/primitives/spec.js'

/**
 * Messages of validators while a height is open, and their bytes: integers little-endian, hashes in internal order, keys
 * 33 raw bytes, fields in the order of the interfaces below; docs/voting.md shows them byte by byte.
 */

/** The proposer of a view names the block of that view. */
export interface ProposalMessage {
  readonly kind: 'proposal'
  /** That of the header. */
  readonly height: number
  /** The view whose `prevotes` make this block acceptable to validators locked in no later view; -1 without any. */
  readonly validView: number
  readonly header: Header
  /** The family's proposal of the block; its viewOffset is the view. */
  readonly proposal: Proposal
  /** The proposer's 64 bytes over {@link preimage}. */
  readonly signature: Uint8Array
  /** q or more prevotes of `validView` for this block, none when that is -1. */
  readonly prevotes: readonly PrevoteMessage[]
}

export interface PrevoteMessage {
  readonly kind: 'prevote'
  readonly height: number
  readonly view: number
  /** Undefined: for no block. */
  readonly blockHash: Hash | undefined
  /** 33-byte public key. */
  readonly signer: Uint8Array
  readonly signature: Uint8Array
}

/** The family's vote for a proposal, accept = 1. Its signed bytes lack the height: the header contains and proves it. */
export interface PrecommitMessage {
  readonly kind: 'precommit'
  /** That of the header. */
  readonly height: number
  readonly header: Header
  readonly proposal: Proposal
  readonly signer: Uint8Array
  readonly signature: Uint8Array
}

/** A precommit for no block. */
export interface NilPrecommitMessage {
  readonly kind: 'precommit-nil'
  readonly height: number
  readonly view: number
  readonly signer: Uint8Array
  readonly signature: Uint8Array
}

/** Proof that a block had a quorum of prevotes in a view. Unsigned: its prevotes are signed. */
export interface ProofMessage {
  readonly kind: 'proof'
  /** That of the header. */
  readonly height: number
  readonly view: number
  readonly header: Header
  readonly prevotes: readonly PrevoteMessage[]
}

/** A message signed by one validator. */
export type SignedMessage = ProposalMessage | PrevoteMessage | PrecommitMessage | NilPrecommitMessage

export type VotingMessage = SignedMessage | ProofMessage

/** A message before it is signed. */
export type UnsignedMessage =
  | (Omit<ProposalMessage, 'signature' | 'proposal'> & { readonly proposal: Omit<Proposal, 'signature'> })
  | Omit<PrevoteMessage, 'signature'>
  | Omit<PrecommitMessage, 'signature'>
  | Omit<NilPrecommitMessage, 'signature'>

/** The steps of a view, in their order. */
export type Step = 'propose' | 'prevote' | 'precommit'
export const steps: readonly Step[] = ['propose', 'prevote', 'precommit']

/**
 * A validView fits a signed integer.
 * @limit number: view
 */
export const maxView = 0x7fffffff
/**
 * No validator set is larger.
 * @limit count: prevotes behind a block
 */
const maxPrevotes = 100
const signerSize = 33
const signatureSize = 64

export function viewOf(message: VotingMessage | UnsignedMessage): number {
  return 'proposal' in message ? message.proposal.viewOffset : message.view
}

/** The step that a message belongs to: a validator signs one message in each step of a view. */
export function stepOf(message: SignedMessage | UnsignedMessage): Step {
  if (message.kind === 'proposal') return 'propose'
  return message.kind === 'prevote' ? 'prevote' : 'precommit'
}

/** The 33-byte key of the signer. */
export function signerOf(message: SignedMessage | UnsignedMessage): Uint8Array {
  return message.kind === 'proposal' ? message.proposal.sponsor : message.signer
}

/** The block that a message names; undefined for a vote for none. */
export function blockOf(message: VotingMessage | UnsignedMessage): Hash | undefined {
  if (message.kind === 'prevote') return message.blockHash
  return message.kind === 'precommit-nil' ? undefined : message.header.hash
}

/** Whether two messages of one signer, view and step are equal but for their signatures. */
export function sameValue(a: SignedMessage, b: SignedMessage): boolean {
  if (a.kind === 'proposal' && b.kind === 'proposal' && a.validView !== b.validView) return false
  return equalBytes(blockOf(a) ?? zeroHash, blockOf(b) ?? zeroHash)
}

/**
 * The bytes that the author of a message signs. All but a precommit for a block begin with an ASCII tag, a zero byte
 * and the genesis hash; that precommit is the family's vote.
 */
export function preimage(message: UnsignedMessage, genesis: Hash): Uint8Array {
  if (message.kind === 'precommit') {
    return voteUnsigned({ proposalHash: proposalHash(message.proposal), signer: message.signer, accept: true })
  }
  const writer = new Writer(160).bytes(fromUtf8(`didledger/${message.kind}/1\0`)).bytes(genesis)
  writer.u32(message.height).u32(viewOf(message))
  if (message.kind === 'proposal') writer.bytes(message.header.hash).u32(message.validView >>> 0)
  if (message.kind === 'prevote') writer.bytes(message.blockHash ?? zeroHash)
  return writer.bytes(signerOf(message)).finish()
}

const kinds = ['proposal', 'prevote', 'precommit', 'precommit-nil', 'proof'] as const

/** The bytes of a message; the first is its kind. */
export function encodeMessage(message: VotingMessage): Uint8Array {
  const writer = new Writer(512).u8(kinds.indexOf(message.kind) + 1)
  switch (message.kind) {
    case 'proposal':
      writer.u32(message.validView >>> 0).bytes(message.header.bytes)
      writer.bytes(proposalBytes(message.proposal)).bytes(message.signature)
      return writePrevotes(writer, message.prevotes).finish()
    case 'prevote':
      writer
        .u32(message.height)
        .u32(message.view)
        .bytes(message.blockHash ?? zeroHash)
      return writer.bytes(message.signer).bytes(message.signature).finish()
    case 'precommit':
      writer.bytes(message.header.bytes).bytes(proposalBytes(message.proposal))
      return writer.bytes(message.signer).bytes(message.signature).finish()
    case 'precommit-nil':
      return concat(writer.u32(message.height).u32(message.view).finish(), message.signer, message.signature)
    case 'proof':
      return writePrevotes(writer.u32(message.view).bytes(message.header.bytes), message.prevotes).finish()
  }
}

/** Decodes exactly one message; `vote-malformed` for anything else. */
export function parseMessage(bytes: Uint8Array): VotingMessage {
  return decodeAll(bytes, readMessage, (reason) => new RuleError('vote-malformed', reason))
}

/** Reads one message; throws a {@link CodecError}. */
export function readMessage(reader: Reader): VotingMessage {
  const kind = kinds[reader.u8() - 1]
  switch (kind) {
    case 'proposal': {
      const validView = reader.u32() | 0
      if (validView < -1) throw new CodecError(`${validView} is no view`)
      const header = Header.read(reader)
      const proposal = readFamilyProposal(reader)
      const signature = reader.take(signatureSize)
      const prevotes = readPrevotes(reader, validView, header)
      return { kind, height: header.height, validView, header, proposal, signature, prevotes }
    }
    case 'prevote': {
      const height = reader.u32()
      const view = readView(reader)
      const hash = reader.hash()
      return { kind, height, view, blockHash: equalBytes(hash, zeroHash) ? undefined : hash, ...readSigned(reader) }
    }
    case 'precommit': {
      const header = Header.read(reader)
      return { kind, height: header.height, header, proposal: readFamilyProposal(reader), ...readSigned(reader) }
    }
    case 'precommit-nil':
      return { kind, height: reader.u32(), view: readView(reader), ...readSigned(reader) }
    case 'proof': {
      const view = readView(reader)
      const header = Header.read(reader)
      return { kind, height: header.height, view, header, prevotes: readPrevotes(reader, view, header) }
    }
    default:
      throw new CodecError('the first byte names no kind of message')
  }
}

function readView(reader: Reader): number {
  const view = reader.u32()
  if (view > maxView) throw new CodecError(`view ${view} where at most ${maxView} is possible`)
  return view
}

function readFamilyProposal(reader: Reader): Proposal {
  const proposal = readProposal(reader)
  if (proposal.viewOffset > maxView) throw new CodecError(`view ${proposal.viewOffset} is above ${maxView}`)
  return proposal
}

function readSigned(reader: Reader): { signer: Uint8Array; signature: Uint8Array } {
  return { signer: reader.take(signerSize), signature: reader.take(signatureSize) }
}

/** Writes signer and signature of each prevote; height, view and block are known from the context. */
export function writePrevotes(writer: Writer, prevotes: readonly PrevoteMessage[]): Writer {
  return writer.list(prevotes, ({ signer, signature }) => writer.bytes(signer).bytes(signature))
}

/** The prevotes of `view` for the block of `header`; throws a {@link CodecError} above 100. */
export function readPrevotes(reader: Reader, view: number, header: Header): PrevoteMessage[] {
  const { height, hash } = header
  return reader.list(maxPrevotes, signerSize + signatureSize, () => ({
    kind: 'prevote',
    height,
    view,
    blockHash: hash,
    ...readSigned(reader),
  }))
}

/** The family's form of a quorum of precommits: the proposal once, the votes by ascending signer. */
export function confirmOf(precommits: readonly PrecommitMessage[]): Confirm {
  const { proposal } = precommits[0] as PrecommitMessage
  const hash = proposalHash(proposal)
  const votes = precommits.map(({ signer, signature }) => ({ proposalHash: hash, signer, accept: true, signature }))
  return { proposal, votes: votes.sort((a, b) => compareBytes(a.signer, b.signer)) }
}

/** Height against which a message is checked. */
export interface OpenHeight {
  readonly spec: Spec
  /** Hash of the genesis block, part of the signed bytes of all messages but precommits. */
  readonly genesis: Hash
  readonly height: number
  /** Hash of the parent block. */
  readonly previous: Hash
}

/**
 * Checks that a message is consistent and of the open height: throws `vote-height`, `vote-block`, `vote-sponsor`,
 * `vote-signer` or `vote-proof`. Returns the signatures that must verify (`vote-signature`).
 */
export function messageChecks(message: VotingMessage, open: OpenHeight): SignatureCheck[] {
  const { spec, genesis, height, previous } = open
  if (message.height !== height) {
    throw new RuleError('vote-height', `a ${message.kind} of height ${message.height} while ${height} is open`)
  }
  if ('header' in message && !equalBytes(message.header.previous, previous)) {
    // A peer may have another tip: no penalty, see Blame.
    throw new RuleError('vote-height', `block ${message.header.id} does not follow the last one of this chain`)
  }
  const { validators } = paramsAt(spec, height)
  const allowed = new Set(validators.map(mapKey))
  const prevoteChecks = (prevotes: readonly PrevoteMessage[]) => {
    const signers = new Set(prevotes.map(({ signer }) => requireSigner(allowed, signer)))
    const needed = quorum(validators.length)
    if (signers.size < prevotes.length) throw new RuleError('vote-proof', 'a validator is counted twice')
    if (signers.size < needed) throw new RuleError('vote-proof', `${signers.size} prevotes where ${needed} are needed`)
    return prevotes.map((prevote) => check(preimage(prevote, genesis), prevote))
  }
  if (message.kind === 'proof') return prevoteChecks(message.prevotes)
  if (message.kind === 'prevote' || message.kind === 'precommit-nil') {
    requireSigner(allowed, message.signer)
    return [check(preimage(message, genesis), message)]
  }

  const { header, proposal } = message
  if (!equalBytes(proposal.blockHash, header.hash)) {
    throw new RuleError('vote-block', `the proposal is not for the block of its header, ${header.id}`)
  }
  if (!equalBytes(proposal.sponsor, proposerAt(spec, height, proposal.viewOffset))) {
    throw new RuleError('vote-sponsor', `${toHex(proposal.sponsor)} is not on duty in view ${proposal.viewOffset}`)
  }
  const family = check(proposalUnsigned(proposal), {
    ...proposal,
    kind: 'proposal of the block',
    signer: proposal.sponsor,
  })
  if (message.kind === 'precommit') {
    requireSigner(allowed, message.signer)
    return [family, check(preimage(message, genesis), message)]
  }
  const { validView, prevotes } = message
  if (validView >= proposal.viewOffset) throw new RuleError('vote-proof', `view ${validView} is not an earlier view`)
  if (validView < 0 && prevotes.length > 0) throw new RuleError('vote-proof', 'prevotes, but no view that they are of')
  const own = check(preimage(message, genesis), { ...message, signer: proposal.sponsor })
  return [family, own, ...(validView < 0 ? [] : prevoteChecks(prevotes))]
}

function requireSigner(allowed: ReadonlySet<string>, signer: Uint8Array): string {
  const key = mapKey(signer)
  if (!allowed.has(key)) throw new RuleError('vote-signer', `${toHex(signer)} is no validator of this height`)
  return key
}

function check(
  message: Uint8Array,
  by: { readonly kind: string; readonly signer: Uint8Array; readonly signature: Uint8Array },
): SignatureCheck {
  const subject = `${by.kind} of ${toHex(by.signer)}`
  return { message, keys: [by.signer], signatures: [by.signature], code: 'vote-signature', subject }
}
