import type { Chain } from '../../chain/chain.js'
import { matchBody } from '../../chain/match-body.js'
import { RuleError } from '../../errors/rule-error.js'
import { blocksExchange } from '../wire/blocks-message.js'
import type { HeaderUnit } from '../wire/headers-message.js'
import { type PeerProgresses, serves } from './peer-progress.js'
import { isUnanswered, type SyncOptions, type SyncPeer } from './sync-peer.js'
import type { Timeouts } from './timeouts.js'

/** Milliseconds that a peer is given at least for the block of a new tip until another one is asked, and peers that are asked. */
const bodyPatience = 5_000
const bodySources = 4

/**
 * The block of a new tip, of whoever hands it out first: who told of it is asked, and others as long as that takes. `withheld`
 * when nobody does and the teller says that it has none; undefined when nobody does, and where the chain has it meanwhile.
 * What comes late is still taken, and costs `peer-slow` where another peer had to be asked.
 */
export async function fetchTip(
  teller: SyncPeer,
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
      else if (peer === teller) withheld = body === 'withheld'
    })
    asked.add(peer)
    open.set(peer, ended)
    return ended
  }
  const next = () => {
    if (asked.size >= bodySources) return undefined
    return peers.all().find((peer) => !asked.has(peer) && serves(peer) && peer.status.tipHeight >= height)
  }
  let latest = teller
  for (let peer: SyncPeer | undefined = teller; ; peer = next()) {
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
 * Asks one peer for the body of a header. `withheld` where it says that it has none; undefined where it does not answer, or has
 * another one, which costs it what is wrong with it; and where the chain has the block meanwhile.
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
