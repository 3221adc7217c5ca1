import type { Chain } from '../../chain/chain.js'
import { matchBody } from '../../chain/match-body.js'
import { RuleError } from '../../errors/rule-error.js'
import { blocksExchange } from '../wire/blocks-message.js'
import type { HeaderUnit } from '../wire/headers-message.js'
import { type PeerProgresses, serves } from './peer-progress.js'
import { isUnanswered, type SyncOptions, type SyncPeer } from './sync-peer.js'
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
    const ended = fetchBody(peer, unit, chain).then((body) => {
      open.delete(peer)
      if (body instanceof Uint8Array) resolve(body)
      else if (peer === announcer) withheld = body === 'withheld'
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

/**
 * Requests the body of a header from one peer. `withheld` when the peer reports that it has none. Undefined when the peer does
 * not answer, sends a wrong body (→ penalty by error code), or the chain already has the block.
 */
export async function fetchBody(
  peer: SyncPeer,
  unit: HeaderUnit,
  chain: Chain,
): Promise<Uint8Array | 'withheld' | undefined> {
  const { hash, id } = unit.header
  const answer = await peer.ask(blocksExchange, [hash]).catch(unanswered)
  if (answer === undefined || chain.headers.get(hash) !== undefined) return undefined
  const [body] = answer
  if (body === undefined || body.length === 0) return 'withheld'
  try {
    await matchBody(body, unit, chain.sanity)
    return body
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    peer.penalise(error.code, `block ${id}: ${error.message}`)
    return undefined
  }
}

function unanswered(error: unknown): undefined {
  if (!isUnanswered(error)) throw error
}
