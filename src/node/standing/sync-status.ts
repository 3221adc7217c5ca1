import type { Chain } from '../../ledger/chain/chain.js'
import type { Network } from '../../network/network.js'
import type { SyncProgress } from '../../network/sync/sync-progress.js'
import type { Voting } from '../../voting/voting.js'

/** Facts that decide whether a node may answer for its chain. */
export interface SyncSources {
  readonly chain: Pick<Chain, 'tip' | 'seenHeight'>
  /** Absent: a node without peers. */
  readonly network?:
    | { readonly sync: Pick<Network['sync'], 'progress'>; readonly peers: Pick<Network['peers'], 'events'> }
    | undefined
  /** Absent: no validators. */
  readonly voting?: Pick<Voting, 'signedHeight'> | undefined
  /** Whether peers are configured, or may be found. */
  readonly expectsPeers: boolean
  /** Whether the node has a validator key: it may be the first of its chain. */
  readonly votes: boolean
}

/**
 * How far the node is. Peers expected, none connected so far, at genesis, no validator → reports catching up: such a node
 * cannot know that a DID does not exist. So does one that began with a state, below the block that commits to its coins: up to there it has
 * seen headers; and one whose key signed further up, on a chain that it had before.
 */
export function syncStatus({ chain, network, voting, expectsPeers, votes }: SyncSources): () => SyncProgress {
  let connected = network === undefined
  network?.peers.events.once('joined', () => (connected = true))
  const isLost = (height: number) => !connected && !votes && expectsPeers && height === 0
  return () => {
    const { height } = chain.tip.header
    const seen = Math.max(chain.seenHeight, (voting?.signedHeight ?? 0) - 1)
    const status = network?.sync.progress() ?? withoutPeers(height)
    if (height < seen) return { ...status, catchingUp: true, target: Math.max(status.target, seen) }
    return isLost(height) ? { ...status, catchingUp: true } : status
  }
}

/** Without peers there is no better tip to catch up with. */
function withoutPeers(height: number): SyncProgress {
  return { stage: 'idle', catchingUp: false, height, target: height, rate: 0, reason: 'this node has no peers' }
}
