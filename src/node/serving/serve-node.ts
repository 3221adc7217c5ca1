/**
 * Opens the interfaces of a node: ports, and all that the answers need of it. A gateway opens its own by the same open-ports.
 *
 * Imports api, runtime, errors, primitives, mempool, network, node; used by library, gateway, cli.
 * - The HTTP server is loaded here, and nowhere else: a node without interfaces does not wait for it.
 */
import { resolve } from 'node:path'
import type { ApiContext } from '../../answers/api/api-context.js'
import type { NodeHealth, NetworkView } from '../../answers/api/node-handles.js'
import { countTransactions } from '../../ledger/mempool/transaction-count.js'
import { networkVersion, servicesOf } from '../../network/wire/status-message.js'
import { defined } from '../../base/primitives/defined.js'
import type { Log } from '../../base/runtime/env.js'
import { packageVersion } from '../../base/runtime/package-files.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { loadServing, type OpenPorts, openPorts, openShared, type ServedPorts, type ServingLife } from './open-ports.js'
import type { NodeTuning } from '../options-to-node.js'
import type { Node, NodeNetwork } from '../node.js'

export interface ServingOptions {
  readonly log: Log
  /** Port base, addresses, limits of the interfaces, how clients reach them, and pages that a devnet lets in. */
  readonly tuning?: Pick<NodeTuning, 'node' | 'api' | 'devnet'>
  /** Stops the node at its owner's request; absent: that is refused. */
  readonly stop?: () => void
}

/** The open interfaces of a node. */
export interface Servers extends OpenPorts {
  readonly ports: Readonly<NodePorts>
}

/** The ports of a node; 0: not open. */
type NodePorts = ServedPorts & { readonly p2p: number }

/** Opens the interfaces of a node. A port that is taken is a UserError, and none is left open. */
export async function serve(node: Node, options: ServingOptions): Promise<Servers> {
  const { tuning = {} } = options
  const life: ServingLife = { stage: 'starting', failed: false }
  node.failure.catch(() => (life.failed = true))
  const network = node.network && viewOf(node.network, node.sync)
  const ports = { p2p: network?.port ?? 0, ws: 0, rest: 0, rpc: 0 }
  // Loading the HTTP server takes longer than all the rest; only who serves waits for it.
  const { LogEvents, NodeMetrics } = await loadServing()
  const { chain, mempool, resolver, directory, voting, shipping } = node
  const health = () => healthOf(node, life)
  const metrics = new NodeMetrics({
    ...{ chain, mempool, resolver, health, version: packageVersion() },
    databaseBytes: () => directory.databaseBytes(),
    diskSpace: () => directory.space(),
    ...defined({ network, voting, shipping }),
  })
  const context = await contextOf(node, options, { health, metrics, ports, ...defined({ network }) })
  const open = await openPorts(context, new LogEvents(node.events), { tuning, life, ports })
  // Commands that are given the directory find the node there; without that they ask the usual port.
  const note = (url?: string) =>
    directory
      .noteServed(url)
      .catch((error: Error) =>
        options.log.warn({ error: error.message }, 'commands with --data-dir do not find this node'),
      )
  await note(`http://${open.host}:${ports.rest}`)
  const close = async () => {
    await open.close()
    await note()
  }
  return { ...open, ports, close }
}

/** Parts of a context that are made for the interfaces. */
interface ServingParts extends Pick<ApiContext, 'health' | 'metrics' | 'network'> {
  readonly ports: Readonly<NodePorts>
}

/** Gathers what the interfaces need of a node. */
async function contextOf(
  node: Node,
  { log, tuning: { api = {}, devnet: { allowedOrigins = [] } = {} } = {}, stop }: ServingOptions,
  { ports, ...made }: ServingParts,
): Promise<ApiContext> {
  const { AllowedOrigins, PassedOn } = await loadServing()
  const { reader, mempool, resolver, devnet, adminToken, backups, chain, followed, identity, compareHeads } = node
  const { network } = made
  const { witness, witnessed, voting } = node
  const [counter, compile] = [countTransactions(node), packageVersion()]
  return {
    ...{ reader, mempool, resolver, adminToken, backups, compareHeads, ...made },
    ...(await openShared({ reader, resolver, log }, api)),
    mining: followed === undefined ? node.mining : noMining,
    // A command that reads the token there may run in another directory.
    dataDir: resolve(node.directory.path),
    ...(followed && { followed: new PassedOn(followed.api, { genesis: chain.genesis.hash, log }) }),
    ...(devnet && { registrar: devnet.registrar, allowedOrigins: new AllowedOrigins(allowedOrigins, log) }),
    ...defined({ devnet, stop, voting, witnessed, witness: witness?.heads }),
    nodeInfo: () => ({
      ...{ compile, ports },
      id: identity.id,
      version: networkVersion,
      services: network === undefined ? 0 : servicesOf(chain),
      relay: followed === undefined,
      transactionCount: counter.total,
      receivedCount: network?.receivedCount ?? 0,
      neighbors: network?.neighbors() ?? [],
    }),
  }
}

function healthOf({ voting, watch, network, sync, standing, follows }: Node, life: ServingLife): NodeHealth {
  const alarm = voting?.status().alarm
  const { stalled, clockOffset } = watch ?? {}
  const best = network?.network.sync.beyond.better?.height
  const told = defined({ best, alarm, stalled, clockOffset, follows: follows?.() })
  return { ...life, sync: sync(), standing: standing(), ...told }
}

/** Block production of a follower. */
const noMining: ApiContext['mining'] = {
  active: false,
  template: () => Promise.reject(followersMine()),
  submit: () => Promise.reject(followersMine()),
  mine: () => Promise.reject(followersMine()),
  toggle: () => {
    throw followersMine()
  },
}

function followersMine(): RuleError {
  return new RuleError('mining-impossible', 'this node follows another, and makes no blocks: ask that one')
}

/** Returns the peers of a node as interfaces see them. */
function viewOf({ network, transport }: NodeNetwork, sync: Node['sync']): NetworkView {
  const { peers } = network
  return {
    port: transport.port,
    get receivedCount() {
      return network.receivedCount
    },
    neighbors: () => peers.neighbors(),
    progress: sync,
    connect: (address) => peers.connect(address),
    disconnect: (id) => peers.disconnect(id),
    listBans: () => peers.listBans(),
    ban: (subject, milliseconds, reason) => peers.ban(subject, milliseconds, reason),
    unban: (subject) => peers.unban(subject),
  }
}
