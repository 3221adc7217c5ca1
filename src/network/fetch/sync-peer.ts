import type { Chain } from '../../chain/chain.js'
import type { Verifier } from '../../crypto/verifier.js'
import type { Code } from '../../errors/error-codes.js'
import { RuleError } from '../../errors/rule-error.js'
import type { Hash } from '../../primitives/hash.js'
import type { Header } from '../../primitives/header.js'
import type { Clock, Log, Timers } from '../../runtime/env.js'
import type { AssumedBlock } from '../assumed-block.js'
import { LinkError } from '../link.js'
import type { Peer } from '../peers/peer-record.js'
import { penaltyOf } from '../penalties.js'

/** A neighbour, as far as the sync cares. */
export type SyncPeer = Omit<Peer, 'link'>

/** The neighbours. */
export interface SyncPeers {
  all(): readonly SyncPeer[]
  readonly events: {
    on(event: 'joined' | 'left' | 'status', listener: () => void): unknown
    off(event: 'joined' | 'left' | 'status', listener: () => void): unknown
  }
}

export interface SyncOptions {
  readonly chain: Chain
  readonly peers: SyncPeers
  readonly verifier: Verifier
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  /** A block whose signatures, and those of the blocks below it, are believed once peers prove that it is on the chain. */
  readonly assumeValid?: AssumedBlock
  /** Block bytes that are at hand without asking anybody. */
  readonly bodyAtHand?: (hash: Hash) => Uint8Array | undefined
  /** Told of a valid confirm for another block than the one that is connected at its height. */
  readonly onConflict?: (confirm: Uint8Array, header: Header) => void
}

/** Parts with a peer that broke a rule: it costs it what the code says, and the connection. */
export function penaliseAndDrop(peer: SyncPeer, code: Code, reason: string): void {
  peer.penalise(code, reason)
  peer.close(reason)
}

/**
 * What the peer that told of a block is charged for when the chain refuses it: where honest nodes may differ about a
 * transaction they never differ about the block that holds it, so that one found invalid always costs something. What a
 * quorum has confirmed costs nothing: who tells of it lives by other rules, and is no liar.
 */
export function peerFault(error: RuleError, { hash, id }: Header, { headers, spec }: Chain): RuleError {
  const free = penaltyOf(error.code) === 0
  const text = `${error.code}: ${error.message}`
  if (spec.hasValidators) {
    return free ? error : new RuleError('peer-upgrades', `${id} is confirmed and breaks a rule here: ${text}`)
  }
  return free && headers.get(hash)?.status === 'invalid' ? new RuleError('block-invalid', `${id}: ${text}`) : error
}

/** Whether a question failed with its peer: no answer came, or none that could be read, for which the peer was charged already. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof RuleError || error instanceof LinkError
}
