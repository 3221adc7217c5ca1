import type { EventEmitter } from 'node:events'
import type { PeerManager } from '../peers/peer-manager.js'
import type { Peer } from '../peers/peer-record.js'
import type { HeaderUnit } from '../wire/headers-message.js'

/** The peers, as far as the relay cares. */
export type RelayPeers = Pick<PeerManager, 'all' | 'events' | 'listen' | 'broadcast'>

/** The sync, as far as the relay cares. */
export interface RelaySync {
  progress(): { readonly catchingUp: boolean }
  /** `progress`: whether it catches up may have changed. */
  readonly events: Pick<EventEmitter, 'on' | 'off'>
  /**
   * Resolves when an announced tip is connected or known, with whether this message brought it; rejects with a RuleError when
   * it is refused.
   */
  announced(peer: Peer, unit: HeaderUnit): Promise<boolean>
}
