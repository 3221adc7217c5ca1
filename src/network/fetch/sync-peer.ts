import type { Chain } from '../../ledger/chain/chain.js'
import type { Verifier } from '../../base/crypto/verifier.js'
import type { Code } from '../../base/errors/error-codes.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import type { Env } from '../../base/runtime/env.js'
import type { AssumedBlock } from '../assumed-block.js'
import { LinkError } from '../link.js'
import type { Peer } from '../peers/peer-record.js'
import { penaltyOf } from '../penalties.js'

/** The view of a peer that the sync needs. */
export type SyncPeer = Omit<Peer, 'link'>

/** The connected peers. */
export interface SyncPeers {
  all(): readonly SyncPeer[]
  readonly events: {
    on(event: 'joined' | 'left' | 'status', listener: () => void): unknown
    off(event: 'joined' | 'left' | 'status', listener: () => void): unknown
  }
}

export interface SyncOptions extends Pick<Env, 'clock' | 'timers' | 'log'> {
  readonly chain: Chain
  readonly peers: SyncPeers & {
    /** Asks all for their status; until one answers, it is not current. `slept`: closes those that do not. */
    askAnew(slept: boolean): void
  }
  readonly verifier: Verifier
  /** A block assumed valid: once peers prove that it is on the chain, signatures up to it are not verified. */
  readonly assumeValid?: AssumedBlock
  /** Block bytes that this node already has without a request. */
  readonly bodyAtHand?: (hash: Hash) => Uint8Array | undefined
  /** Called with a valid confirm for another block than the connected one at its height. */
  readonly onConflict?: (confirm: Uint8Array, header: Header) => void
}

/** Penalises a peer that broke a rule, by error code, and closes the link. */
export function penaliseAndDrop(peer: SyncPeer, code: Code, reason: string): void {
  peer.penalise(code, reason)
  peer.close(reason)
}

/**
 * The error to penalise the announcing peer with when the chain refuses its block. Honest nodes may differ about a transaction,
 * never about the block that holds it → an invalid block always has a penalty. A block confirmed by a quorum has none: its
 * announcer follows other rules (an upgrade).
 */
export function peerFault(
  error: RuleError,
  { hash, id }: Header,
  { headers, spec }: Pick<Chain, 'headers' | 'spec'>,
): RuleError {
  const free = penaltyOf(error.code) === 0
  const text = `${error.code}: ${error.message}`
  if (spec.hasValidators) {
    return free ? error : new RuleError('peer-upgrades', `${id} is confirmed and breaks a rule here: ${text}`)
  }
  return free && headers.get(hash)?.status === 'invalid' ? new RuleError('block-invalid', `${id}: ${text}`) : error
}

/** Whether a request failed because of its peer: no answer, or an unreadable one, which is penalised already. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof RuleError || error instanceof LinkError
}

/** An error that no rule explains: the sync cannot continue. */
export interface FailedEvent {
  readonly type: 'failed'
  readonly error: unknown
}
