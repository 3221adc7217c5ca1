import { EventCursor } from '../../ledger/events/event-cursor.js'
import { eventTopics } from '../../base/primitives/chain-event.js'
import type { PoolEntry } from '../../ledger/mempool/pool-entry.js'
import { endpointText, plainHost } from '../../network/address/ip-address.js'
import type { Peer } from '../../network/peers/peer-record.js'
import type { Node } from '../../node/node.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { isAboutCredential } from '../../base/primitives/did-operation.js'
import { type Payload, txType } from '../../base/primitives/payload.js'
import { labelOfType } from '../../base/primitives/payload-kinds.js'
import type { Log, Timers } from '../../base/runtime/env.js'
import type { LiveLine, LiveLog } from '../../base/runtime/live-log.js'
import { signingText } from '../../voting/signing-state.js'
import { isBehind } from './node-status.js'

type Watched = Pick<Node, 'events' | 'mempool' | 'network' | 'voting' | 'sync'>

/** Milliseconds between two looks at the vote. */
const voteInterval = 1_000

/** Shows in the live log what happens in a node, until the returned function ends that. */
export function watchNode(
  node: Watched,
  { log, timers }: { readonly log: Pick<Log, 'live' | 'error'>; readonly timers: Timers },
): () => void {
  const { live } = log
  if (live === undefined) return () => {}
  const ends = [
    watchBlocks(node, live, log),
    watchPool(node, live),
    watchPeers(node, live),
    watchVote(node, live, timers),
  ]
  return () => {
    for (const end of ends) end()
  }
}

/**
 * Blocks that come and go, with the operations that came with each. While the node catches up, that is shown instead of those that
 * come; those that leave are shown at all times.
 */
function watchBlocks({ events, sync }: Watched, live: LiveLog, log: Pick<Log, 'error'>): () => void {
  const begin = () => new EventCursor(events, eventTopics, { kind: 'now' })
  let cursor = begin()
  let operations = 0
  const follow = () => {
    try {
      for (let event = cursor.take(); event !== undefined; event = cursor.take()) {
        const { data } = event
        if (data.topic === 'did' || data.topic === 'credential') operations++
        if (data.topic !== 'block') continue
        const { action, height, hash, transactions } = data
        const block = { action, height, hash, transactions, operations }
        operations = 0
        const reverted = action === 'revert'
        if (!live.shown.has('blocks') || (!reverted && isBehind(sync())) || !live.wants('blocks', reverted)) continue
        live.write('blocks', blockLine(block))
      }
    } catch (error) {
      // More events at once than are kept. Drops the line: the chain does not wait for it.
      log.error({ error: String(error) }, 'blocks are missing in the live log')
      cursor = begin()
      operations = 0
    }
  }
  events.events.on('appended', follow)
  return () => void events.events.off('appended', follow)
}

interface ShownBlock {
  readonly action: 'apply' | 'revert'
  readonly height: number
  /** Display hex. */
  readonly hash: string
  /** The coinbase included. */
  readonly transactions: number
  /** On DIDs and credentials. */
  readonly operations: number
}

function blockLine({ action, height, hash, transactions, operations }: ShownBlock): LiveLine {
  const reverted = action === 'revert'
  const counts = `${counted(transactions, 'transaction')}, ${counted(operations, 'DID operation')}`
  return {
    text: `${height} ${hash}  ${reverted ? 'left the chain' : counts}`,
    fields: { action, height, hash, transactions, operations },
    failed: reverted,
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function watchPool({ mempool }: Watched, live: LiveLog): () => void {
  const show = ({ transaction, fee }: PoolEntry) => {
    if (!live.wants('transactions')) return
    const { txid, payload } = transaction
    const shown = { txid, kind: kindOf(payload), fee: formatAmount(fee) }
    live.write('transactions', { text: `${txid}  ${shown.kind}, fee ${shown.fee}`, fields: shown })
  }
  mempool.events.on('accepted', show)
  return () => void mempool.events.off('accepted', show)
}

/** `DID create`, `credential revoke`, `transfer`. */
function kindOf(payload: Payload): string {
  if (payload.type !== txType.did) return labelOfType(payload.type)
  const { operation } = payload
  return `${isAboutCredential(operation) ? 'credential' : 'DID'} ${operation.operation}`
}

function watchPeers({ network }: Watched, live: LiveLog): () => void {
  if (network === undefined) return () => {}
  const { peers } = network.network
  const line = (peer: Peer, what: 'joined' | 'left', detail: string): LiveLine => ({
    text: `${peer.name}  ${what}, ${detail}; ${counted(peers.neighbors().length, 'peer')} now`,
    fields: { peer: peer.name, change: what, detail, peers: peers.neighbors().length },
  })
  const joined = (peer: Peer) => {
    if (!live.wants('peers')) return
    const { link, status } = peer
    const direction = link.inbound ? 'inbound from' : 'outbound to'
    const where = `${direction} ${endpointText({ host: plainHost(link.host), port: link.port })}`
    live.write('peers', line(peer, 'joined', `${where}, at height ${status.tipHeight}, ${status.agent}`))
  }
  const left = (peer: Peer, reason: string) => {
    if (live.wants('peers')) live.write('peers', line(peer, 'left', reason))
  }
  peers.events.on('joined', joined)
  peers.events.on('left', left)
  return () => {
    peers.events.off('joined', joined)
    peers.events.off('left', left)
  }
}

/** Changes of whether the own key signs, and views after the first of a height, which a healthy chain seldom needs. */
function watchVote({ voting }: Watched, live: LiveLog, timers: Timers): () => void {
  if (voting === undefined) return () => {}
  let signing = ''
  let position = ''
  const look = () => {
    if (live.shown.has('votes')) {
      const { height, view, signing: state } = voting.status()
      const now = signingText(state)
      if (now !== signing && state.kind !== 'no-key' && live.wants('votes', state.kind !== 'voting')) {
        const text =
          state.kind === 'voting' ? `this node votes, from height ${height}` : `this node does not vote: ${now}`
        live.write('votes', { text, fields: { height, signing: now }, failed: state.kind !== 'voting' })
      }
      signing = now
      const at = `${height} ${view}`
      if (view > 0 && at !== position && live.wants('votes')) {
        const text = `height ${height} goes to view ${view}: view ${view - 1} confirmed no block`
        live.write('votes', { text, fields: { height, view } })
      }
      position = at
    }
    cancel = timers.after(voteInterval, look)
  }
  let cancel = timers.after(0, look)
  return () => cancel()
}
