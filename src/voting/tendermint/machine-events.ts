import type { Confirm } from '../../base/primitives/confirm.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import type { PrevoteMessage, SignedMessage, Step, UnsignedMessage, VotingMessage } from './message.js'

/** Events and effects of the voting machine: see machine.ts. */

/** Result of a complete trial connect of a block. */
export type BlockVerdict = 'valid' | 'invalid'

/** A block with its quorum of prevotes of a view. */
export interface ProvenBlock {
  readonly header: Header
  readonly view: number
  readonly prevotes: readonly PrevoteMessage[]
}

/** Locked and valid block of a validator: must survive a restart. */
export interface LockState {
  readonly locked: ProvenBlock | undefined
  readonly valid: ProvenBlock | undefined
}

/** State from which a machine resumes after a restart. */
export interface RestoredState extends LockState {
  /** View of the last message signed. */
  readonly view: number
  readonly step: Step
  /** Own messages of this height. */
  readonly messages: readonly SignedMessage[]
}

export type MachineEvent =
  /** View 0 (or the restored one) begins. */
  | { readonly type: 'start' }
  /** A message that passed its checks, also an own one. */
  | { readonly type: 'message'; readonly message: VotingMessage }
  /** A block was checked; a valid one is on disk. `timely`: its time may be accepted now. */
  | { readonly type: 'block'; readonly hash: Hash; readonly verdict: BlockVerdict; readonly timely: boolean }
  | { readonly type: 'timeout'; readonly step: Step; readonly view: number }
  /** The block to propose in that view: valid, and its body on disk. Answers `request-proposal`. */
  | { readonly type: 'template'; readonly view: number; readonly header: Header }

export type Effect =
  | { readonly type: 'request-proposal'; readonly view: number }
  /** Sign the message, write it to disk with `state`, then send it and pass it back as a `message` event. */
  | { readonly type: 'sign'; readonly message: UnsignedMessage; readonly state: LockState }
  /** Start the timer of that step and view, which runs {@link timeoutOf} ms. */
  | { readonly type: 'timer'; readonly step: Step; readonly view: number }
  /** Send a `block` event for this block; requested anew in each view, since its time may have become acceptable. */
  | { readonly type: 'request-verdict'; readonly hash: Hash; readonly header: Header }
  | { readonly type: 'view'; readonly view: number }
  /** The last effect of a machine: a valid block has a quorum of precommits. */
  | { readonly type: 'confirmed'; readonly confirm: Confirm; readonly hash: Hash }
  | { readonly type: 'evidence'; readonly first: SignedMessage; readonly second: SignedMessage }

export interface MachineOptions {
  readonly height: number
  /** 33-byte keys in force at the height, in the order in which they propose. */
  readonly validators: readonly Uint8Array[]
  /** Index of the own key among them; undefined: follows and never signs. */
  readonly own?: number
  readonly restored?: RestoredState
}

/** Milliseconds until a timer of a view fires. */
export function timeoutOf(
  view: number,
  timing: { readonly propose: number; readonly delta: number },
  maxViewTimeout: number,
): number {
  return Math.min(timing.propose + view * timing.delta, maxViewTimeout)
}
