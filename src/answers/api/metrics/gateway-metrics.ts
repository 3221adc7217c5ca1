import { Gauge } from 'prom-client'
import type { ChainView } from '../../../ledger/chain/chain-view.js'
import type { EngineCounts } from '../../../ledger/engine/engine-counts.js'
import type { NodeHealth } from '../node-handles.js'
import { counterOf, gaugeOf } from './process-metrics.js'
import { addStates } from './node-metrics.js'
import { ServerMetrics } from './server-metrics.js'

/** Objects that the figures of a gateway are read from. */
export interface GatewaySources {
  readonly chain: Pick<ChainView, 'tip'>
  readonly rows: { readonly counts: EngineCounts; readonly age: number }
  /** Own answers that were checked by their proofs; absent: none is. */
  readonly own?: { readonly checked: number; readonly failed: number }
  /** Version of the program. */
  readonly version: string
  /** The state that `/readyz` shows as well. */
  health(): NodeHealth
}

/** Prometheus figures of a gateway: those of its answers have the names that they have at a node. */
export class GatewayMetrics extends ServerMetrics {
  constructor(sources: GatewaySources) {
    super((registry) => {
      const { chain, rows, version } = sources
      const gauge = gaugeOf(registry)
      const counter = counterOf(registry)
      const built = { name: 'didledger_build_info', help: 'Always 1.', labelNames: ['version'], registers: [registry] }
      new Gauge(built).set({ version }, 1)
      gauge('didledger_chain_height_blocks', 'Height of the tip.', () => chain.tip.header.height)
      gauge('didledger_chain_tip_time_seconds', 'Unix time of the tip.', () => chain.tip.header.time)
      addStates(registry, sources)
      counter('didledger_gateway_statements_total', 'Statements to shards for rows.', () => rows.counts.statements)
      counter(
        'didledger_gateway_replays_total',
        'Answers begun again for a row that was fetched first.',
        () => rows.counts.replays,
      )
      counter(
        'didledger_gateway_moves_total',
        'States that the rows were of, one after another.',
        () => rows.counts.moves,
      )
      counter('didledger_gateway_row_hits_total', 'Rows that were read from memory.', () => rows.counts.hits)
      counter('didledger_gateway_row_misses_total', 'Rows that were not in memory.', () => rows.counts.misses)
      gauge('didledger_gateway_row_memory_bytes', 'Rows in memory.', () => rows.counts.bytes)
      counter(
        'didledger_gateway_own_proofs_checked_total',
        'Own answers that were checked by their proofs.',
        () => sources.own?.checked ?? 0,
      )
      counter(
        'didledger_gateway_own_proofs_failed_total',
        'Those of them that did not hold.',
        () => sources.own?.failed ?? 0,
      )
      gauge(
        'didledger_gateway_shipped_age_seconds',
        'Time since a shard took its last batch, by the clock of the engine.',
        () => rows.age,
      )
    })
  }
}
