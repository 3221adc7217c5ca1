import { EventEmitter } from 'node:events'
import { NodeMetrics } from '../../src/answers/api/metrics/node-metrics.js'
import { stallReasons } from '../../src/answers/api/node-handles.js'
import { badStates, warningMetrics } from '../../src/answers/api/metrics/readiness.js'
import { plainRoutes } from '../../src/answers/api/paths/plain-routes.js'
import type { Chain } from '../../src/ledger/chain/chain.js'
import type { Mempool } from '../../src/ledger/mempool/mempool.js'
import { code, filled, tableRow } from './shown.js'

const meanings: Readonly<Record<keyof typeof badStates, string>> = {
  failed: 'as `/healthz` says',
  starting: 'not all of its ports are open yet',
  stopping: 'it was told to stop and finishes what is under way',
  alarm:
    'the validators have confirmed two blocks at one height: a person has to find out why ([network.md](network.md))',
  'catching up':
    'others have proved blocks that it does not have, or a peer that says it has more is being asked by a node that is not in step yet; the resolver refuses to answer',
  stalled: 'the chain does not go on at this node, until the next block; `reason` begins with one of the words below',
  'out of step':
    'its tip is too old, its clock is wrong, or no peer that it expects has shown its chain, or none since it slept ([operate.md](operate.md#out-of-step)); the resolver says nothing of what does not exist',
}

/** docs/monitoring.md: health, readiness and every metric. */
export function monitoringPage(): string {
  const rows = describedMetrics().map(({ name, type, labels, help }) =>
    tableRow(code(name), type, labels.map(code).join(', '), help),
  )
  const paths = plainRoutes.map(({ path, summary }) => tableRow(code(path), summary))
  const states = Object.entries(badStates).map(([status, { metric, value }]) => {
    return tableRow(code(status), 503, `${code(metric)} is ${value}`, meanings[status as keyof typeof badStates])
  })
  const stalls = Object.entries(stallReasons).map(([reason, meaning]) => tableRow(code(reason), meaning))
  return filled('monitoring.md', { rows, paths, states, stalls, ...warningMetrics })
}

/** Every metric of a node without a chain: names do not depend on one. */
export function describedMetrics(): ReturnType<NodeMetrics['describe']> {
  const chain = {
    events: new EventEmitter() as Chain['events'],
    spec: undefined as unknown as Chain['spec'],
    tip: undefined as unknown as Chain['tip'],
    prunedHeight: 0,
    supersededHeight: 0,
    joinedHeight: 0,
    verifiedHeight: 0,
  }
  const mempool = {
    events: new EventEmitter() as Mempool['events'],
    ...{ size: 0, bytes: 0, floor: 0, refusedBlocks: { count: 0 } },
  }
  const sync = { catchingUp: false, height: 0, target: 0 }
  const standing = { inStep: true, height: 0, age: 0 } as const
  return new NodeMetrics({
    chain,
    mempool,
    resolver: { scannedDocuments: 0 },
    version: '',
    databaseBytes: async () => 0,
    diskSpace: async () => ({ free: 0, size: 0 }),
    health: () => ({ failed: false, stage: 'serving', sync, standing }),
  }).describe()
}
