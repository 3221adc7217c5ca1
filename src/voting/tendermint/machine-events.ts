import type { Confirm } from '../../primitives/confirm.js'
import type { Hash } from '../../primitives/hash.js'
import type { Header } from '../../primitives/header.js'
import type { PrevoteMessage, SignedMessage, Step, UnsignedMessage, VotingMessage } from './message.js'

/** What goes into a machine and what comes out of it: see machine.ts. */

/** What a complete trial connect of a block says. */
export type BlockVerdict = 'valid' | 'invalid'

/** A block with the quorum of prevotes that it had in a view. */
export interface ProvenBlock {
  readonly header: Header
  readonly view: number
  readonly prevotes: readonly PrevoteMessage[]
}

/** What a validator must not forget. */
export interface LockState {
  readonly locked: ProvenBlock | undefined
  readonly valid: ProvenBlock | undefined
}

/** Where a machine goes on after a restart. */
export interface RestoredState extends LockState {
  /** The place of the last message signed. */
  readonly view: number
  readonly step: Step
  /** Own messages of this height. */
  readonly messages: readonly SignedMessage[]
}

export type MachineEvent =
  /** View 0 (or the restored one) begins. */
  | { readonly type: 'start' }
  /** A message whose checks hold; own ones come the same way. */
  | { readonly type: 'message'; readonly message: VotingMessage }
  /** The body is in hand, and on disk; `timely`: its time may be accepted now. */
  | { readonly type: 'block'; readonly hash: Hash; readonly verdict: BlockVerdict; readonly timely: boolean }
  | { readonly type: 'timeout'; readonly step: Step; readonly view: number }
  /** The block that this validator proposes in that view: valid, and its body on disk. Answers `need-block`. */
  | { readonly type: 'template'; readonly view: number; readonly header: Header }

export type Effect =
  | { readonly type: 'need-block'; readonly view: number }
  /** Sign it, write it to disk together with `state`, then send it and hand it back as a `message` event. */
  | { readonly type: 'sign'; readonly message: UnsignedMessage; readonly state: LockState }
  /** Start that timer; {@link timeoutOf} says how long it runs. */
  | { readonly type: 'timer'; readonly step: Step; readonly view: number }
  /** A `block` event about this block is needed, again when its time was not acceptable in an earlier view. */
  | { readonly type: 'want'; readonly hash: Hash; readonly header: Header }
  | { readonly type: 'view'; readonly view: number }
  /** The last effect of a machine: the block has its quorum of precommits, and is valid. */
  | { readonly type: 'confirmed'; readonly confirm: Confirm; readonly hash: Hash }
  | { readonly type: 'evidence'; readonly first: SignedMessage; readonly second: SignedMessage }

export interface MachineOptions {
  readonly height: number
  /** 33-byte keys in force at the height, in duty order. */
  readonly validators: readonly Uint8Array[]
  /** Place of the own key among them; undefined: follows and never signs. */
  readonly own?: number | undefined
  readonly restored?: RestoredState | undefined
}

/** Milliseconds until a timer of a view fires. */
export function timeoutOf(
  view: number,
  timing: { readonly propose: number; readonly delta: number },
  maxViewTimeout: number,
): number {
  return Math.min(timing.propose + view * timing.delta, maxViewTimeout)
}
