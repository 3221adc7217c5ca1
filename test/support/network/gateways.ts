import { type Gateway, type GatewayOptions, openGateway } from '../../../src/node/gateway/gateway.js'
import type { Timers } from '../../../src/base/runtime/env.js'
import type { RowEngine } from '../../../src/ledger/engine/row-engine.js'
import type { TestChain } from '../builders/chain.js'
import { ManualTimers } from '../fakes/manual-timers.js'

type Tuning = NonNullable<GatewayOptions['tuning']>

/** A gateway over the rows of a chain in memory, by its clock alone: it looks at its nodes when a test fires the timers. */
export async function gatewayOver(
  node: TestChain,
  engine: RowEngine,
  nodes: readonly string[] = [],
  api: Tuning['api'] = {},
  timers: Timers = new ManualTimers(),
  { resolver = {}, ...more }: Pick<GatewayOptions, 'verifyOwn' | 'verifyEvery'> & Pick<Tuning, 'resolver'> = {},
): Promise<Gateway> {
  const { spec, log, clock, random } = node
  const env = { clock, log, random, timers }
  return openGateway({
    spec,
    engine,
    env,
    nodes,
    tuning: { node: { portBase: 0 }, api, resolver },
    steady: clock,
    ...more,
  })
}
