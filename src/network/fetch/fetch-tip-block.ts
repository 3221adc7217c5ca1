import type { HeaderUnit } from '../wire/headers-message.js'
import { askPeers } from './ask-peers.js'
import { type BlockAnswer, fetchBlock } from './fetch-block.js'
import { type PeerProgresses, serves } from './peer-progress.js'
import type { SyncOptions, SyncPeer } from './sync-peer.js'
import type { Timeouts } from './timeouts.js'

/** Least patience (ms) for the block of a new tip before another peer is asked. */
const bodyPatience = 5_000
/** @tuning count: peers asked for the block of a new tip */
const bodySources = 4

/**
 * Fetches the block of a new tip by hedged requests, the announcing peer first. No peer delivers it → the answer of the
 * announcer; the chain has it meanwhile → any answer but `block`. A late answer still counts; the peer is penalised with
 * `peer-slow` when another peer had to be asked. Rejects with {@link TimeoutsClosed}.
 */
export async function fetchTip(
  announcer: SyncPeer,
  unit: HeaderUnit,
  { chain, peers }: Pick<SyncOptions, 'chain' | 'peers'>,
  timeouts: Timeouts,
  states: PeerProgresses,
): Promise<BlockAnswer> {
  const { hash, height, id } = unit.header
  const needed = () => !chain.headers.isSettled(hash)
  const asked = new Set<SyncPeer>()
  let answerOfAnnouncer: BlockAnswer = { kind: 'unanswered' }
  const ask = async (peer: SyncPeer) => {
    const answer = await fetchBlock(peer, { hash, unit, needed }, chain.sanity)
    if (peer === announcer) answerOfAnnouncer = answer
    return answer.kind === 'block' ? answer : undefined
  }
  const next = () => {
    if (asked.size >= bodySources) return undefined
    const able = (peer: SyncPeer) => !asked.has(peer) && serves(peer, height) && peer.status.tipHeight >= height
    const peer = asked.size === 0 ? announcer : peers.all().find(able)
    if (peer !== undefined) asked.add(peer)
    return peer
  }
  const patience = (peer: SyncPeer) => Math.max(bodyPatience, states.of(peer).patience(unit.size))
  const onOverdue = (peer: SyncPeer) => {
    states.of(peer).stalled()
    peer.penalise('peer-slow', `no block ${id} within its time`)
  }
  const found = await askPeers(ask, { parallel: bodySources, next, patience, onOverdue, needed }, timeouts)
  return found ?? answerOfAnnouncer
}
