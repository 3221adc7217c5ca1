import type { Chain, ChainChange } from '../../ledger/chain/chain.js'
import { tables } from '../../ledger/storage/rows/tables.js'
import { LinkError, type GossipResult } from '../link.js'
import type { Peer } from '../peers/peer-record.js'
import { blockTopic, type HeaderUnit } from '../wire/headers-message.js'
import type { RelayPeers, RelaySync } from './relay-views.js'

export interface BlockRelayOptions {
  readonly chain: Pick<Chain, 'assumedConfirms' | 'database' | 'events' | 'headers' | 'tip'>
  readonly peers: Pick<RelayPeers, 'listen' | 'broadcast'>
  readonly sync: Pick<RelaySync, 'announced' | 'progress'>
}

/** Announces each new tip, and passes tips announced by peers to the sync. */
export class BlockRelay {
  readonly #options: BlockRelayOptions

  constructor(options: BlockRelayOptions) {
    this.#options = options
  }

  start(): void {
    const { chain, peers } = this.#options
    chain.events.on('change', this.#tipMoved)
    peers.listen(blockTopic, (peer, unit) => this.#announced(peer, unit))
  }

  close(): void {
    this.#options.chain.events.off('change', this.#tipMoved)
  }

  /** No announcements while catching up: the peers that sent the blocks have them. */
  readonly #tipMoved = ({ connected }: ChainChange): void => {
    const { chain, peers, sync } = this.#options
    if (connected.length === 0 || sync.progress().catchingUp) return
    const { header, auxPow, size } = chain.tip
    // Unverified confirm → no announcement; peers that need the header request it.
    if (!chain.assumedConfirms.holds(header.height)) return
    const confirm = chain.database.get(tables.confirm.key(header.hash)) ?? new Uint8Array(0)
    peers.broadcast(blockTopic, { header, auxPow, confirm, size })
  }

  /**
   * Relay only if this message connected the block. An active block was announced by this node with its own confirm. So a block
   * crosses each link about once, whatever confirms or made-up sizes other messages carry.
   */
  async #announced(peer: Peer, unit: HeaderUnit): Promise<GossipResult> {
    const { chain, sync } = this.#options
    if (chain.headers.get(unit.header.hash)?.status === 'active') return 'ignore'
    try {
      if (!(await sync.announced(peer, unit))) return 'ignore'
      peer.delivered('block')
      return 'accept'
    } catch (error) {
      if (error instanceof LinkError) return 'ignore'
      throw error
    }
  }
}
