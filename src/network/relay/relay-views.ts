/**
 * Gossip by subject: transactions, tips, candidates of miners, votes. Each relay turns a message into a call of the node, and news
 * of the node into messages.
 *
 *   peers.listen(topic) -> relay -> mempool | sync | production | voting -> accept, ignore or a RuleError
 *   event of the node   -> relay -> peers.broadcast
 *
 * - Only what was new to this node is passed on, so that a message crosses each link about once.
 * - While the node catches up it announces no tip, and asks for no announced transaction.
 */
import type { EventEmitter } from 'node:events'
import type { PeerManager } from '../peers/peer-manager.js'
import type { Peer } from '../peers/peer-record.js'
import type { HeaderUnit } from '../wire/headers-message.js'

/** The part of the peer manager that relays need. */
export type RelayPeers = Pick<PeerManager, 'all' | 'events' | 'listen' | 'broadcast'>

/** The part of the sync that relays need. */
export interface RelaySync {
  progress(): { readonly catchingUp: boolean }
  /** `progress`: `catchingUp` may have changed. */
  readonly events: Pick<EventEmitter, 'on' | 'off'>
  /**
   * Resolves when an announced tip is connected or known, with whether this message brought it; rejects with a RuleError when
   * refused.
   */
  announced(peer: Peer, unit: HeaderUnit): Promise<boolean>
}
