import type { DataDirectory } from '../ledger/storage/directory.js'
import { genesisBlock } from '../base/primitives/genesis.js'
import type { Followed } from './followed-node.js'
import { loadIdentity } from '../network/address/peer-identity.js'
import { networkDefaults, type NetworkTarget } from '../network/network-options.js'
import { openTransport } from '../network/open-transport.js'
import { protocols, topics } from '../network/wire/all-messages.js'
import type { Env } from '../base/runtime/env.js'
import type { Spec } from '../base/primitives/spec.js'
import type { NodeTuning } from './options-to-node.js'

/** Peering of a node; `tuning.network` has how it finds peers, and is found. */
export interface NodePeering {
  /** 0 takes a free one; undefined: no inbound connections. */
  readonly port: number | undefined
}

/** A node as far as its peers are concerned. */
export interface PeeringNode {
  readonly spec: Spec
  readonly env: Env
  /** Absent, and on a devnet: no peers. */
  readonly peering?: NodePeering
  /** The node that a follower follows. */
  readonly followed?: Followed
  /** Settings by its options; serve takes the part of the interfaces. */
  readonly tuning?: NodeTuning
}

/** The peer key, and with peers the transport. */
export async function openPeering(
  { spec, env, peering, followed, tuning = {} }: PeeringNode,
  directory: DataDirectory,
) {
  const identity = await loadIdentity(directory.peerKey, env.random)
  if (peering === undefined || spec.devnet) return { identity }
  const { secretKey, publicKey } = identity
  const settings: NetworkTarget = { ...networkDefaults, ...tuning.network, ...(followed && followerOf(followed)) }
  const { hosts, mdns, assumeValid } = settings
  const { port } = peering
  const genesis = genesisBlock(spec).header.hash
  const transport = await openTransport({ secretKey, genesis, protocols, topics, hosts, port, mdns, env })
  return { identity, transport, peering: { transport, publicKey, settings, assumeValid } }
}

/** Settings of a follower: it looks for no other nodes. */
function followerOf({ peer }: Followed): Pick<NetworkTarget, 'peers' | 'outbound'> {
  return { peers: [peer], outbound: 0 }
}
