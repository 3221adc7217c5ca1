import { genesisBlock } from '../../src/base/primitives/genesis.js'
import type { Spec } from '../../src/base/primitives/spec.js'
import { addressesExchange } from '../../src/network/wire/addresses-message.js'
import { networkVersion, type Status } from '../../src/network/wire/status-message.js'
import { votesExchange } from '../../src/network/wire/votes-message.js'
import { HostilePeer } from '../../test/support/fakes/hostile-peer.js'

/** The status of a peer that has the genesis block and serves nothing. */
export function lightStatus(spec: Spec): Status {
  const genesis = genesisBlock(spec).header.hash
  const tip = { tipHeight: 0, tipHash: genesis, chainWork: 0n }
  const own = { services: 0, relay: true, listenPort: 0, agent: 'light' }
  return { version: networkVersion, genesis, upgrades: spec.upgradesDigest(0), ...tip, ...own }
}

/** A peer over real sockets that has only the genesis block, answers the periodic requests of a node, and receives gossip. */
export async function lightPeer(spec: Spec): Promise<HostilePeer> {
  const peer = await HostilePeer.open(lightStatus(spec))
  return peer.answering(votesExchange, () => []).answering(addressesExchange, () => [])
}
