import { Gauge, Histogram, type Registry } from 'prom-client'
import type { ShippingFigures } from '../../../ledger/shipping/shipping-figures.js'
import { counterOf, gaugeOf } from './process-metrics.js'

/** Upper bounds of the seconds of a step. */
const buckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60]

/** Adds figures of rows on their way to shards; a node without shards shows zeros, and no shard. */
export function addShipping(registry: Registry, shipping: ShippingFigures | undefined, height: () => number): void {
  const registers = [registry]
  const gauge = gaugeOf(registry)
  const shards = () => (shipping?.shards ?? []).entries()
  const sequences: Gauge = new Gauge({
    name: 'didledger_ship_sequence_batches',
    help: 'Number of the last batch that a shard has.',
    labelNames: ['shard'],
    registers,
    collect: () => {
      for (const [shard, state] of shards()) if (state !== undefined) sequences.set({ shard }, state.sequence)
    },
  })
  gauge('didledger_ship_lag_blocks', 'Blocks that the last of the shards is behind the node.', () =>
    Math.max(0, ...[...shards()].map(([, state]) => height() - (state?.height ?? 0))),
  )
  gauge('didledger_ship_outbox_bytes', 'Bytes of rows that wait for shards.', () => shipping?.outboxBytes ?? 0)
  gauge('didledger_ship_ended_shards', 'Shards that get no more rows until the next start: the log says why.', () =>
    shipping?.end === undefined ? 0 : shipping.shards.length,
  )
  gauge('didledger_ship_waiting_shards', 'Shards to which another node ships while this one stands by.', () =>
    shipping?.isStandingBy === true ? shipping.shards.length : 0,
  )
  counterOf(registry)('didledger_ship_faults_total', 'Times that shards did not answer.', () => shipping?.faults ?? 0)
  const help = 'Time that a step of all shards took.'
  const steps = new Histogram({ name: 'didledger_ship_apply_seconds', help, buckets, registers })
  shipping?.onApplied((seconds) => steps.observe(seconds))
}
