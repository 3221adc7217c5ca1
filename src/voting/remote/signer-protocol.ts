import { UserError } from '../../base/errors/rule-error.js'
import { equalBytes, fromHex, toHex } from '../../base/primitives/bytes.js'
import { type Hash, sha256 } from '../../base/primitives/hash.js'
import { signedTexts, withSignatures } from '../sign-message.js'
import type { LockState } from '../tendermint/machine-events.js'
import {
  encodeMessage,
  parseMessage,
  type SignedMessage,
  stepOf,
  type UnsignedMessage,
  viewOf,
} from '../tendermint/message.js'
import { encodeLocks, parseLocks } from '../tendermint/sign-state.js'

/**
 * Requests of a node to the signer of its key, and their answers: lines of JSON (docs/signer.md). Bytes are hex. A request has a number, a
 * method and params; its answer the number, and a result or an error, a text.
 */

export const protocolVersion = 1

/**
 * A message with its locks, twice as long in hex, and some room.
 * @limit bytes: a request to a signer
 */
export const maxRequest = 256 * 1024
/**
 * A sign state of many views, in hex.
 * @limit bytes: an answer of a signer
 */
export const maxAnswer = 32 * 1024 * 1024
/** @tuning ms: an idle node tells its signer that it is there */
export const pingInterval = 2000
/** @tuning ms: a signer closes the connection of a node that sends nothing, and another one may come */
export const nodeSilence = 10_000
/** @tuning ms: one answer of a signer */
export const answerTime = 5000

export interface Request {
  readonly id: number
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/** Reads a request; a {@link UserError} for another value. */
export function readRequest(value: unknown): Request {
  const { id, method, params } = members(value, 'a request')
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) throw new UserError('a request has a whole number as id')
  if (typeof method !== 'string') throw new UserError('a request has a text as method')
  return { id, method, params: members(params, 'params') }
}

/** The members of a JSON object. */
export function members(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new UserError(`${what} is no object`)
}

/** Bytes from the hex of a member. */
export function bytesOf(value: unknown, what: string): Uint8Array {
  const bytes = typeof value === 'string' ? fromHex(value) : undefined
  if (bytes === undefined) throw new UserError(`${what} is no hex`)
  return bytes
}

/** Params of `sign`: place and digests of a message for signers that read no more, and the message itself. */
export function signParams(message: UnsignedMessage, locks: LockState, genesis: Hash): Record<string, unknown> {
  return {
    height: message.height,
    view: viewOf(message),
    step: stepOf(message),
    digests: digestsOf(message, genesis).map(toHex),
    message: toHex(encodeMessage(unsignedForm(message))),
    locks: toHex(encodeLocks(locks)),
  }
}

/** SHA-256 of each text that is signed, in order. */
function digestsOf(message: UnsignedMessage, genesis: Hash): Uint8Array[] {
  return signedTexts(message, genesis).map(sha256)
}

const noSignature = new Uint8Array(64)

/** The form of a message whose signatures are zero. */
function unsignedForm(message: UnsignedMessage): SignedMessage {
  return withSignatures(message, [noSignature, noSignature])
}

/**
 * Reads the params of `sign`. A {@link UserError} if place or digests are not those of the message, or it names a block that its header is not: a
 * signature is for what was looked at.
 */
export function readSign(
  params: Readonly<Record<string, unknown>>,
  genesis: Hash,
): { readonly message: UnsignedMessage; readonly locks: LockState } {
  const message = parseMessage(bytesOf(params['message'], 'message'))
  if (message.kind === 'proof') throw new UserError('a proof is not signed')
  const expected = signParams(message, { locked: undefined, valid: undefined }, genesis)
  for (const name of ['height', 'view', 'step', 'digests']) {
    if (JSON.stringify(params[name]) !== JSON.stringify(expected[name])) {
      throw new UserError(`${name} is not that of the message`)
    }
  }
  if ('proposal' in message && !equalBytes(message.proposal.blockHash, message.header.hash)) {
    throw new UserError('the proposal is not for the block of its header')
  }
  return { message, locks: parseLocks(bytesOf(params['locks'], 'locks')) }
}

/** The signatures of an answer, as many as texts are signed. */
export function readSignatures(value: unknown, count: number): Uint8Array[] {
  if (!Array.isArray(value) || value.length !== count) throw new UserError(`${count} signatures are needed`)
  return value.map((one) => {
    const bytes = bytesOf(one, 'a signature')
    if (bytes.length === noSignature.length) return bytes
    throw new UserError('a signature has 64 bytes')
  })
}
