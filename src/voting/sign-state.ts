import type { Hash } from '../primitives/hash.js'
import type { LockState, RestoredState } from './machine.js'
import type { SignedMessage, Step, UnsignedMessage } from './message.js'

/** Whose signatures a file is about. */
export interface SignOwner {
  readonly genesis: Hash
  /** 33-byte public key. */
  readonly publicKey: Uint8Array
}

/** What a validator has signed at the newest height where it signed anything. */
export interface SignState extends LockState {
  readonly height: number
  /** The place of the last message signed. */
  readonly view: number
  readonly step: Step
  /** Every message signed at this height, oldest first. */
  readonly messages: readonly SignedMessage[]
}

/** Bytes that are no sign state of this key and chain, or that were damaged. */
export class SignStateError extends Error {
  override readonly name = 'SignStateError'
}

/** The state of a key that signed nothing yet, as `didledger` writes it when that is known to be so. `height`: below which nothing may be signed. */
export declare function freshSignState(height: number): SignState

/** The checksummed bytes of a state. */
export declare function encodeSignState(state: SignState, owner: SignOwner): Uint8Array

/** Decodes what {@link encodeSignState} gave for this owner; throws a {@link SignStateError} for anything else. */
export declare function parseSignState(bytes: Uint8Array, owner: SignOwner): SignState

/** Sign it; or send these instead, which were signed in its place before; or never sign it, and why. */
export type SignRuling =
  | { readonly ruling: 'sign' }
  | { readonly ruling: 'stored'; readonly message: SignedMessage }
  | { readonly ruling: 'refused'; readonly reason: string }

/** Whether a message may be signed. */
export declare function signRuling(state: SignState, message: UnsignedMessage): SignRuling

/** The state once `message` is signed, which {@link signRuling} allowed: to be on disk before it leaves. */
export declare function withSigned(state: SignState, message: SignedMessage, locks: LockState): SignState

/** Where the machine of a height begins: undefined when nothing was signed there. */
export declare function restoredAt(state: SignState, height: number): RestoredState | undefined
