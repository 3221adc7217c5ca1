import type { ChainReader } from '../chain/reader.js'
import type { Mempool } from '../mempool/mempool.js'
import type { Mining } from '../production/mining.js'
import type { Resolver } from '../resolver/resolver.js'
import type { Log } from '../runtime/env.js'
import type { AccessOptions } from './access.js'
import type { ApiLimits } from './api-limits.js'
import type { BodyBudget } from './body-budget.js'
import type { Flights } from './flight.js'
import type { NodeMetrics } from './metrics.js'
import type { DevnetControl, NetworkView, NodeHealth, NodeInfo, VotingView } from './node-views.js'

/** All that the interfaces need from the node. */
export interface ApiContext {
  readonly reader: ChainReader
  readonly mempool: Pick<
    Mempool,
    'accept' | 'get' | 'entries' | 'size' | 'additions' | 'spender' | 'droppedReason' | 'refusedBlocks'
  >
  readonly resolver: Pick<Resolver, 'resolve' | 'history' | 'queryJson'>
  readonly mining: Pick<Mining, 'template' | 'submit' | 'mine' | 'toggle' | 'active'>
  nodeInfo(): NodeInfo
  health(): NodeHealth
  /** Absent: the node has no peers and looks for none. */
  readonly network?: NetworkView
  /** Absent on a chain without validators and on a devnet. */
  readonly voting?: VotingView
  /** Counts what is asked and answered. */
  readonly metrics: NodeMetrics
  /** Absent: there are no `dev_*` methods. */
  readonly devnet?: DevnetControl
  /** What methods with `admin` ask for, 32 bytes; absent: nobody may use them. */
  readonly adminToken?: Uint8Array
  /** What differs from {@link accessDefaults}. */
  readonly access?: Partial<AccessOptions>
  /** The answers under way, of all interfaces together; absent: of each alone. */
  readonly flights?: Flights
  /** The bodies of requests to them. */
  readonly bodies?: BodyBudget
  readonly log: Log
  /** What differs from {@link apiLimits}. */
  readonly limits?: Partial<ApiLimits>
}
