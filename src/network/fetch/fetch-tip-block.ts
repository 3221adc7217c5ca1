import type { HeaderUnit } from '../wire/headers-message.js'
import { fetchBlock } from './fetch-block.js'
import { type PeerProgresses, serves } from './peer-progress.js'
import type { SyncOptions, SyncPeer } from './sync-peer.js'
import type { Timeouts } from './timeouts.js'

/** Least patience (ms) for the block of a new tip before another peer is asked, and the number of peers asked. */
const bodyPatience = 5_000
const bodySources = 4

/**
 * Fetches the block of a new tip by hedged requests, the announcing peer first. Returns `withheld` when no peer delivers it and
 * the announcer reports that it has none. Returns undefined when no peer delivers it, or when the chain already has it. A late
 * answer still counts; the peer is penalised with `peer-slow` when another peer had to be asked.
 */
export async function fetchTip(
  announcer: SyncPeer,
  unit: HeaderUnit,
  { chain, peers }: Pick<SyncOptions, 'chain' | 'peers'>,
  waits: Timeouts,
  states: PeerProgresses,
): Promise<Uint8Array | 'withheld' | undefined> {
  const { hash, height } = unit.header
  const asked = new Set<SyncPeer>()
  const open = new Map<SyncPeer, Promise<void>>()
  let withheld = false
  let resolve = (_: Uint8Array): void => {}
  const found = new Promise<Uint8Array>((done) => (resolve = done))
  const ask = (peer: SyncPeer): Promise<void> => {
    const ended = fetchBlock(
      peer,
      { hash, unit, needed: () => chain.headers.get(hash) === undefined },
      chain.sanity,
    ).then((answer) => {
      open.delete(peer)
      if (answer.kind === 'block') resolve(answer.bytes)
      else if (peer === announcer) withheld = answer.kind === 'withheld'
    })
    asked.add(peer)
    open.set(peer, ended)
    return ended
  }
  const next = () => {
    if (asked.size >= bodySources) return undefined
    return peers.all().find((peer) => !asked.has(peer) && serves(peer) && peer.status.tipHeight >= height)
  }
  let latest = announcer
  for (let peer: SyncPeer | undefined = announcer; ; peer = next()) {
    if (peer !== undefined && open.has(latest)) {
      states.of(latest).stalled()
      latest.penalise('peer-slow', `no block ${unit.header.id} within its time`)
    }
    latest = peer ?? latest
    const ended = peer === undefined ? Promise.all(open.values()) : ask(peer)
    const patience = Math.max(bodyPatience, states.of(latest).patience(unit.size))
    const first = await waits.within(Promise.race([found, ended]), patience)
    if (first instanceof Uint8Array) return first
    if (chain.headers.get(hash) !== undefined) return undefined
    if (open.size === 0 && next() === undefined) return withheld ? 'withheld' : undefined
  }
}
