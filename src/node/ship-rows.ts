import type { ShardWriter } from '../ledger/engine/row-engine.js'
import type { ShippingFigures } from '../ledger/shipping/shipping-figures.js'
import { shipBacklog, type ShippingTarget } from '../ledger/shipping/shipping-options.js'
import type { ShippingTerms } from '../ledger/storage/write/outbox.js'
import type { ResourceStack } from '../base/runtime/resource-stack.js'
import type { Env } from '../base/runtime/env.js'
import type { Ledger } from './open-ledger.js'

/** The shards of a node, with what was said of them. */
export interface NodeShards {
  readonly engine: ShardWriter
  readonly terms: ShippingTerms
  readonly takeOver: boolean
  /** Seconds; undefined: it does not stand by. */
  readonly standBy: number | undefined
}

/** Opens the shards that options name, before there is a directory; undefined without any. */
export async function openShards(
  { shards, backlog = shipBacklog, takeOver = false, standBy }: Partial<ShippingTarget> = {},
  stack: ResourceStack,
): Promise<NodeShards | undefined> {
  if (shards === undefined) return undefined
  const { PostgresEngine } = await import('../ledger/engine/postgres-engine.js')
  const engine = await PostgresEngine.open(shards)
  stack.defer(() => engine.close())
  return { engine, terms: { backlog }, takeOver, standBy }
}

/** Ships rows until the node closes. */
export async function shipRows(
  { engine, takeOver, standBy }: NodeShards,
  { chain, database }: Ledger,
  env: Env,
  stack: ResourceStack,
): Promise<ShippingFigures> {
  const { Shipper } = await import('../ledger/shipping/shipper.js')
  const shipper = new Shipper({
    ...env,
    database,
    engine,
    takeOver,
    standBy: standBy === undefined ? undefined : standBy * 1000,
    genesis: chain.genesis.header.hash,
  })
  shipper.start()
  stack.defer(() => shipper.close())
  return shipper.figures
}
