import { Counter, Gauge, type Registry } from 'prom-client'
import type { Chain } from '../../../ledger/chain/chain.js'
import type { Mempool } from '../../../ledger/mempool/mempool.js'
import { paramsAt, quorum } from '../../../base/primitives/spec.js'
import type { Resolver } from '../../resolver/resolver.js'
import type { DiskSpace } from '../../../ledger/storage/disk-space.js'
import type { ShippingFigures } from '../../../ledger/shipping/shipping-figures.js'
import { HeldFigure } from './held-figure.js'
import type { NetworkView, NodeHealth, VotingView } from '../node-handles.js'
import { counterOf, gaugeOf } from './process-metrics.js'
import { badStates, targetOf, warningMetrics } from './readiness.js'
import { ServerMetrics } from './server-metrics.js'
import { addShipping } from './shipping-metrics.js'

/** Objects that the figures are read from. */
export interface MetricSources {
  readonly chain: Pick<
    Chain,
    'events' | 'prunedHeight' | 'supersededHeight' | 'joinedHeight' | 'verifiedHeight' | 'spec' | 'tip'
  >
  readonly mempool: Pick<Mempool, 'events' | 'size' | 'bytes' | 'floor'> & {
    readonly refusedBlocks: { readonly count: number }
  }
  readonly resolver: Pick<Resolver, 'scannedDocuments'>
  /** Absent: no peers. */
  readonly network?: Pick<NetworkView, 'neighbors' | 'listBans' | 'receivedCount'>
  /** Absent: no voting. */
  readonly voting?: Pick<VotingView, 'status' | 'received' | 'votes'>
  /** Absent: no shards. */
  readonly shipping?: ShippingFigures
  /** The state that `/readyz` shows as well. */
  health(): NodeHealth
  /** Bytes of the database on disk. */
  databaseBytes(): Promise<number>
  /** Space of the disk that has it. */
  diskSpace(): Promise<DiskSpace>
  /** Version of the program. */
  readonly version: string
}

/**
 * Prometheus figures of one node; it shares with other nodes of the process only the figures of the process. Every name ends in
 * its unit.
 */
export class NodeMetrics extends ServerMetrics {
  constructor(sources: MetricSources) {
    super((registry) => {
      addChain(registry, sources)
      addDisk(registry, sources)
      addStates(registry, sources)
      addNetwork(registry, sources)
      addShipping(registry, sources.shipping, () => sources.chain.tip.header.height)
    })
  }
}

function addChain(registry: Registry, { chain, mempool, resolver, version }: MetricSources): void {
  const registers = [registry]
  const gauge = gaugeOf(registry)
  const counter = (name: string, help: string) => new Counter({ name, help, registers })

  new Gauge({ name: 'didledger_build_info', help: 'Always 1.', labelNames: ['version'], registers }).set({ version }, 1)
  gauge('didledger_chain_height_blocks', 'Height of the tip.', () => chain.tip.header.height)
  gauge('didledger_chain_tip_time_seconds', 'Unix time of the tip.', () => chain.tip.header.time)
  gauge(
    'didledger_chain_pruned_height_blocks',
    'Highest block that has given up its transactions; 0: all have them.',
    () => chain.prunedHeight,
  )
  gauge(
    'didledger_chain_superseded_height_blocks',
    'Height up to which superseded documents of DIDs have been given up; 0: none.',
    () => chain.supersededHeight,
  )
  gauge(
    'didledger_chain_joined_height_blocks',
    'Block whose state the node took from others instead of the blocks up to it; 0: it verified them all.',
    () => chain.joinedHeight,
  )
  gauge(
    'didledger_chain_verified_height_blocks',
    'Of a node that took a state: block up to which the history below it was verified since.',
    () => chain.verifiedHeight,
  )
  gauge('didledger_pool_transactions', 'Transactions that wait for a block.', () => mempool.size)
  gauge('didledger_pool_bytes', 'Bytes of the transactions that wait for a block.', () => mempool.bytes)
  gauge(
    'didledger_pool_floor_sela_per_byte',
    'Sela that the pool asks for each byte of a transaction; 0: as much as the chain asks.',
    () => mempool.floor / 1000,
  )

  const connected = counter('didledger_blocks_connected_total', 'Blocks that became part of the active chain.')
  const left = counter('didledger_blocks_disconnected_total', 'Blocks that ceased to be part of the active chain.')
  const accepted = counter('didledger_transactions_accepted_total', 'Transactions that the pool took.')
  chain.events.on('change', (change) => {
    connected.inc(change.connected.length)
    left.inc(change.disconnected.length)
  })
  mempool.events.on('accepted', () => accepted.inc())
  const readCounter = counterOf(registry)
  readCounter(
    warningMetrics.refusedBlock,
    'Blocks of the own making that the chain refused; each is a defect of the program.',
    () => mempool.refusedBlocks.count,
  )
  readCounter(
    'didledger_query_documents_scanned_total',
    'Documents that queries have looked at.',
    () => resolver.scannedDocuments,
  )
}

/** Adds figures of the disk; NaN, which no alert takes for a number, while the disk does not tell. */
function addDisk(registry: Registry, { databaseBytes, diskSpace }: MetricSources): void {
  const gauge = gaugeOf(registry)
  const database = new HeldFigure(databaseBytes)
  const disk = new HeldFigure(diskSpace)
  gauge('didledger_database_size_bytes', 'Bytes of the database on disk.', async () => (await database.get()) ?? NaN)
  gauge(
    'didledger_disk_free_bytes',
    'Bytes that the node may still write to the disk of its data directory.',
    async () => (await disk.get())?.free ?? NaN,
  )
  gauge(
    'didledger_disk_size_bytes',
    'Bytes of that disk, used ones included.',
    async () => (await disk.get())?.size ?? NaN,
  )
}

/** Adds a gauge for each bad state of `/readyz`. */
export function addStates(registry: Registry, { health }: Pick<MetricSources, 'health'>): void {
  const gauge = gaugeOf(registry)
  for (const { metric, help, value, holds } of Object.values(badStates)) {
    gauge(metric, help, () => (holds(health()) ? value : 1 - value))
  }
  gauge(
    warningMetrics.clock,
    'By how much the clocks of other nodes are ahead of the own one, where that is more than the chain bears; else 0.',
    () => health().clockOffset ?? 0,
  )
}

/** Adds peers and votes. A node without them shows zeros, so that every node has the same metrics. */
function addNetwork(registry: Registry, { chain, network, voting, health }: MetricSources): void {
  const registers = [registry]
  const gauge = gaugeOf(registry)
  const counter = counterOf(registry)
  const peers: Gauge = new Gauge({
    name: 'didledger_peer_connections',
    help: 'Connected nodes, by who opened the connection.',
    labelNames: ['direction'],
    registers,
    collect: () => {
      const neighbors = network?.neighbors() ?? []
      const inbound = neighbors.filter(({ external }) => external).length
      peers.set({ direction: 'inbound' }, inbound)
      peers.set({ direction: 'outbound' }, neighbors.length - inbound)
    },
  })
  gauge(
    'didledger_banned_peers',
    'Nodes and addresses that are not let in for now.',
    () => network?.listBans().length ?? 0,
  )
  gauge(
    'didledger_sync_target_blocks',
    'Height of the best tip that is proved; out of step also of one that a peer says it has, while it is asked.',
    () => targetOf(health()) ?? chain.tip.header.height,
  )
  counter(
    'didledger_transactions_received_total',
    'Transactions that peers handed out.',
    () => network?.receivedCount ?? 0,
  )
  counter(
    'didledger_votes_received_total',
    'Proposals and votes of others that were counted.',
    () => voting?.received ?? 0,
  )
  gauge('didledger_voting_view_turns', 'Turns that were passed at the open height.', () => voting?.status().view ?? 0)
  gauge('didledger_voting_keys', 'Validator keys that this node votes with: 1 or 0.', () =>
    voting?.status().signing.kind === 'voting' ? 1 : 0,
  )
  const validators = () => paramsAt(chain.spec, chain.tip.header.height + 1).validators.length
  gauge('didledger_voting_validators', 'Validators of the next block; 0 on a chain without.', validators)
  gauge('didledger_voting_quorum_validators', 'How many of them confirm a block; 0 on a chain without.', () =>
    validators() === 0 ? 0 : quorum(validators()),
  )
  gauge(
    'didledger_voting_heard_validators',
    'Validators of which any vote for the next block has arrived, the own one included.',
    () => voting?.votes().filter(({ heard }) => heard).length ?? 0,
  )
}
