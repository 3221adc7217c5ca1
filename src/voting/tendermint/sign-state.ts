import { concat, equalBytes, fromUtf8 } from '../../base/primitives/bytes.js'
import { CodecError, decodeAll, type Reader, Writer } from '../../base/primitives/codec.js'
import { type Hash, sha256 } from '../../base/primitives/hash.js'
import { Header } from '../../base/primitives/header.js'
import type { LockState, ProvenBlock, RestoredState } from './machine-events.js'
import {
  encodeMessage,
  maxView,
  readMessage as readVotingMessage,
  readPrevotes,
  type SignedMessage,
  stepOf,
  type Step,
  steps,
  type UnsignedMessage,
  viewOf,
  writePrevotes,
} from './message.js'

/** Chain and key of a sign state. */
export interface SignOwner {
  readonly genesis: Hash
  /** 33-byte public key. */
  readonly publicKey: Uint8Array
}

/** Messages that a validator has signed at the newest height at which it signed. */
export interface SignState extends LockState {
  readonly height: number
  /** View of the last message signed; -1 for none. */
  readonly view: number
  readonly step: Step
  /** The messages signed at this height, oldest first. */
  readonly messages: readonly SignedMessage[]
}

/** Bytes that are no sign state of this key and chain, or were damaged. */
export class SignStateError extends Error {
  override readonly name = 'SignStateError'
}

/**
 * Older ones are of past views.
 * @limit count: newest messages of one height in a sign state
 */
const maxSigned = 512
/**
 * The longest, a proposal with the prevotes of 100 validators, and some room.
 * @limit bytes: a message in a sign state
 */
export const maxMessageSize = 16_384
const magic = fromUtf8('didledger/sign-state/1\0')
const checksumSize = 32

/** The state of a key that has signed nothing at `height` and may not sign below it. */
export function freshSignState(height: number): SignState {
  return { height, view: -1, step: 'propose', locked: undefined, valid: undefined, messages: [] }
}

/** The bytes of a state, with a checksum at their end. */
export function encodeSignState(state: SignState, { genesis, publicKey }: SignOwner): Uint8Array {
  const writer = new Writer(4096).bytes(magic).bytes(genesis).bytes(publicKey)
  writer
    .u32(state.height)
    .u32(state.view >>> 0)
    .u8(steps.indexOf(state.step))
  writeLocks(writer, state)
  writer.list(state.messages, (message) => writer.varbytes(encodeMessage(message)))
  const body = writer.finish()
  return concat(body, sha256(body))
}

/** Decodes the bytes of {@link encodeSignState} for this owner; throws a {@link SignStateError} for anything else. */
export function parseSignState(bytes: Uint8Array, owner: SignOwner): SignState {
  const body = bytes.subarray(0, Math.max(0, bytes.length - checksumSize))
  if (!equalBytes(sha256(body), bytes.subarray(body.length))) throw new SignStateError('its checksum does not match')
  return decodeAll(
    body,
    (reader) => {
      const { genesis, publicKey } = owner
      if (!equalBytes(reader.take(magic.length), magic)) throw new CodecError('no sign state of this version')
      if (!equalBytes(reader.take(genesis.length), genesis)) throw new CodecError('it belongs to another chain')
      if (!equalBytes(reader.take(publicKey.length), publicKey)) throw new CodecError('it belongs to another key')
      return readState(reader)
    },
    (reason) => new SignStateError(reason),
  )
}

function readState(reader: Reader): SignState {
  const height = reader.u32()
  const view = reader.u32() | 0
  const step = steps[reader.u8()]
  if (view < -1 || step === undefined) throw new CodecError('no such view or step')
  const locks = readLocks(reader)
  const messages = reader.list(maxSigned, 1, () => readMessage(reader.varbytes(maxMessageSize)))
  return { height, view, step, ...locks, messages }
}

function readMessage(bytes: Uint8Array): SignedMessage {
  const message = decodeAll(bytes, readVotingMessage, (reason) => new CodecError(reason))
  if (message.kind === 'proof') throw new CodecError('a message that nobody signs')
  return message
}

/** The bytes of locks, as they stand in a state. */
export function encodeLocks(locks: LockState): Uint8Array {
  const writer = new Writer(1024)
  writeLocks(writer, locks)
  return writer.finish()
}

/** Decodes the bytes of {@link encodeLocks}; throws a {@link SignStateError} for anything else. */
export function parseLocks(bytes: Uint8Array): LockState {
  return decodeAll(bytes, readLocks, (reason) => new SignStateError(reason))
}

function writeLocks(writer: Writer, { locked, valid }: LockState): void {
  for (const block of [locked, valid]) writeBlock(writer, block)
}

function readLocks(reader: Reader): LockState {
  return { locked: readBlock(reader), valid: readBlock(reader) }
}

function writeBlock(writer: Writer, block: ProvenBlock | undefined): void {
  if (block === undefined) writer.u8(0)
  else writePrevotes(writer.u8(1).u32(block.view).bytes(block.header.bytes), block.prevotes)
}

function readBlock(reader: Reader): ProvenBlock | undefined {
  const present = reader.u8()
  if (present === 0) return undefined
  const view = reader.u32()
  if (present > 1 || view > maxView) throw new CodecError('no such block and view')
  const header = Header.read(reader)
  return { header, view, prevotes: readPrevotes(reader, view, header) }
}

/** `sign`: allowed; `stored`: send the message signed before for the same step; `refused`: never sign, with the reason. */
export type SignRuling =
  | { readonly ruling: 'sign' }
  | { readonly ruling: 'stored'; readonly message: SignedMessage }
  | { readonly ruling: 'refused'; readonly reason: string }

/** The place of a message, or of the last one of a state: a key signs once at each, and in their order. */
type Position = Pick<SignState, 'height' | 'view' | 'step'>

/** Whether a position comes after another one: above 0; the same: 0. */
export function positionOrder(a: Position, b: Position): number {
  return a.height - b.height || a.view - b.view || steps.indexOf(a.step) - steps.indexOf(b.step)
}

/** Whether a message may be signed: only above the (height, view, step) of all before. */
export function signRuling(state: SignState, message: UnsignedMessage): SignRuling {
  const { height } = message
  const view = viewOf(message)
  const step = stepOf(message)
  const order = positionOrder({ height, view, step }, state)
  if (order > 0) return { ruling: 'sign' }
  const stored = state.messages.find(
    (signed) => signed.height === height && viewOf(signed) === view && stepOf(signed) === step,
  )
  if (stored !== undefined) return { ruling: 'stored', message: stored }
  const last = `height ${state.height}, view ${state.view}, step ${state.step}`
  return { ruling: 'refused', reason: `height ${height}, view ${view}, step ${step} is not above ${last}` }
}

/** The state after signing `message`, which {@link signRuling} allowed: has to be on disk before the message is sent. */
export function withSigned(state: SignState, message: SignedMessage, { locked, valid }: LockState): SignState {
  const { height } = message
  const before = state.height === height ? state.messages : []
  const messages = [...before, message].slice(-maxSigned)
  return { height, view: viewOf(message), step: stepOf(message), locked, valid, messages }
}

/** State from which the machine of a height resumes; undefined if nothing was signed there. */
export function restoredAt(state: SignState, height: number): RestoredState | undefined {
  return state.height === height && state.view >= 0 ? state : undefined
}
