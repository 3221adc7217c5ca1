import type { Chain } from '../../ledger/chain/chain.js'
import { JobQueue } from '../../base/runtime/job-queue.js'
import type { StateKeeper } from '../../ledger/state/state-keeper.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { LinkError } from '../link.js'
import type { PeerManager } from '../peers/peer-manager.js'
import {
  partsListed,
  type StateList,
  stateListExchange,
  sliceBytes,
  stateSliceExchange,
} from '../wire/state-message.js'

/** @limit count: waiting answers with lists and slices of a state, made one after another */
const slicesWaiting = 64

export interface StateServing {
  readonly chain: Pick<Chain, 'genesis'>
  /** Absent: the node keeps no state for peers. */
  readonly keeper: Pick<StateKeeper, 'latest' | 'drop'> | undefined
  /** Whether the node is far behind its chain: then it has other things to do. */
  behind(): boolean
}

/** Serves the latest state to peers that join by it. */
export function serveState(peers: Pick<PeerManager, 'serve'>, serving: StateServing): void {
  const slices = new JobQueue(slicesWaiting)
  peers.serve(stateListExchange, (_, from) => slices.run(async () => listFrom(serving, from)))
  peers.serve(stateSliceExchange, (_, { block, index, from }) =>
    slices.run(async () => {
      const kept = keptNow(serving)
      if (kept === undefined || !equalBytes(kept.committing.header.hash, block)) return new Uint8Array(0)
      try {
        return await kept.state.read(index, from, sliceBytes)
      } catch (error) {
        // A later state may have taken its place meanwhile.
        const isKept = serving.keeper?.latest?.state === kept.state
        if (isKept) void serving.keeper?.drop(error).catch(() => {})
        throw new LinkError('refused', 'the state cannot be read')
      }
    }),
  )
}

function keptNow({ keeper, behind }: StateServing) {
  return behind() ? undefined : keeper?.latest
}

function listFrom(serving: StateServing, from: number): StateList {
  const kept = keptNow(serving)
  if (kept === undefined) {
    const { header } = serving.chain.genesis
    return { head: new Uint8Array(0), header, chainWork: 0n, total: 0, parts: [] }
  }
  const { state, committing } = kept
  const { header, chainWork } = committing
  return { head: state.head, header, chainWork, total: state.total, parts: state.list(from, partsListed) }
}
