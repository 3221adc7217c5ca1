import { longestTimer, requireWhole } from '../../clients/client/arguments.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { serves } from '../../network/fetch/peer-progress.js'
import { LinkError } from '../../network/link.js'
import { neighborOf } from '../../network/peers/neighbor.js'
import type { Node } from '../node.js'
import { toHex } from '../../base/primitives/bytes.js'
import { requireOptions } from '../../base/primitives/known-members.js'
import { defined } from '../../base/primitives/defined.js'
import { signingText } from '../../voting/signing-state.js'
import type { NodePeers, NodeVoting } from './node-types.js'
import { requireAddress } from './peering-options.js'

/** Default milliseconds without progress after which {@link untilSynced} rejects. */
const syncPatience = 120_000

/** The peers of a node in this process that has a network; `node` throws once it is closed. */
export function nodePeers(node: () => Node): NodePeers {
  const network = () => node().network as NonNullable<Node['network']>
  return {
    get addresses() {
      return network().transport.addresses
    },
    list: () => network().network.peers.neighbors(),
    connect: async (address) => {
      const { peers } = network().network
      try {
        return neighborOf(await peers.connect(requireAddress('address', address)))
      } catch (error) {
        throw error instanceof LinkError ? new RuleError('peer-unreachable', error.message) : error
      }
    },
    disconnect: (id) => network().network.peers.disconnect(id),
  }
}

/** State of the vote on the next block, in the form of the library. */
export function votingOf({ voting, watch }: Node): NodeVoting | undefined {
  const status = voting?.status()
  const stalled = watch?.stalled
  return (
    status && {
      ...status,
      sponsor: toHex(status.sponsor),
      signing: signingText(status.signing),
      ...defined({ stalled }),
    }
  )
}

/**
 * Resolves when a peer is connected and none is known to have more. Rejects with a UserError after `timeout` milliseconds without
 * progress, and when the node closes, which aborts `closing`.
 */
export function untilSynced(
  node: Node,
  closing: AbortSignal,
  options: { readonly timeout?: number } = {},
): Promise<void> {
  requireOptions('synced', options, ['timeout'])
  const { timeout = syncPatience } = options
  requireWhole('timeout', timeout, [0, longestTimer])
  if (node.network === undefined) return Promise.resolve()
  const { peers, sync } = node.network.network
  return new Promise((resolve, reject) => {
    let moved = ''
    let timer: NodeJS.Timeout | undefined
    const end = () => {
      clearTimeout(timer)
      sync.events.off('progress', look)
      for (const event of ['joined', 'left', 'status'] as const) peers.events.off(event, look)
      node.chain.events.off('change', look)
      closing.removeEventListener('abort', close)
    }
    const giveUp = (why: string) => {
      end()
      reject(new UserError(`the node has not caught up: ${why}`))
    }
    const close = () => giveUp('the node is closed')
    const stalled = () => {
      const { stage, height, target, reason = `it is busy with ${stage}` } = sync.progress()
      giveUp(`it stays at height ${height} of ${target}: ${reason}`)
    }
    const look = () => {
      const { stage, catchingUp, height, target } = sync.progress()
      if (stage === 'idle' && !catchingUp && peers.all().some((peer) => serves(peer, height + 1))) {
        end()
        resolve()
        return
      }
      const state = [height, target, sync.held.headers, peers.all().length].join()
      if (state === moved) return
      moved = state
      clearTimeout(timer)
      timer = setTimeout(stalled, timeout)
    }
    sync.events.on('progress', look)
    for (const event of ['joined', 'left', 'status'] as const) peers.events.on(event, look)
    node.chain.events.on('change', look)
    closing.addEventListener('abort', close)
    look()
  })
}
