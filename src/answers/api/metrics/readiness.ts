import { standingText } from '../../resolver/standing.js'
import type { NodeHealth } from '../node-handles.js'

/** A state of a node in which it should not be queried, or needs a person, with the metric that shows it to monitors. */
export interface BadState {
  /** Name of a gauge; another one is not served. */
  readonly metric: string
  readonly help: string
  /** The value of the gauge while the state holds; the other one of 0 and 1 while it does not. */
  readonly value: 0 | 1
  holds(health: NodeHealth): boolean
  /** A sentence for `/readyz`, asked for while the state holds. */
  reason(health: NodeHealth): string
}

/** No details: the client may be a stranger, and the log has them. */
export const failure = 'the node cannot go on; its log says why'

/**
 * Every status of `/readyz` but `ready`, the gravest first: it answers 503 with the first that holds. Each has a metric, from which
 * docs/operate/alerts.yml has an alert.
 */
export const badStates = {
  failed: {
    metric: 'didledger_failed_nodes',
    help: '1 once the node cannot go on, else 0.',
    value: 1,
    holds: ({ failed }) => failed,
    reason: () => failure,
  },
  starting: {
    metric: 'didledger_starting_nodes',
    help: '1 while not all interfaces are open yet, else 0.',
    value: 1,
    holds: ({ stage }) => stage === 'starting',
    reason: () => 'not all interfaces are open yet',
  },
  stopping: {
    metric: 'didledger_stopping_nodes',
    help: '1 while the node finishes what is under way, since it was told to stop, else 0.',
    value: 1,
    holds: ({ stage }) => stage === 'stopping',
    reason: () => 'the node was told to stop',
  },
  alarm: {
    metric: 'didledger_conflicting_blocks',
    help: '1 once the validators have confirmed two blocks at one height, else 0.',
    value: 1,
    holds: ({ alarm }) => alarm !== undefined,
    reason: ({ alarm = '' }) => alarm,
  },
  'catching up': {
    metric: 'didledger_catching_up_nodes',
    help: '1 while the node lacks blocks that are proved, or may be there, else 0.',
    value: 1,
    holds: ({ standing }) => !standing.inStep && standing.reason === 'behind',
    reason: ({ standing }) => reasonOf(standing),
  },
  stalled: {
    metric: 'didledger_stalled_chains',
    help: '1 while the chain does not go on at this node, else 0.',
    value: 1,
    holds: ({ stalled }) => stalled !== undefined,
    reason: ({ stalled }) => (stalled === undefined ? '' : `${stalled.reason}: ${stalled.detail}`),
  },
  'out of step': {
    metric: 'didledger_in_step',
    help: '1 while the node is in step with its chain, and says what does not exist, else 0.',
    value: 0,
    holds: ({ standing }) => !standing.inStep,
    reason: ({ standing }) => reasonOf(standing),
  },
} as const satisfies Readonly<Record<string, BadState>>

function reasonOf(standing: NodeHealth['standing']): string {
  return standing.inStep ? '' : standingText(standing)
}

type BadStatus = keyof typeof badStates

/**
 * Height that the chain is known to have. In step that is what is proved: a peer that says it has more costs the node a question, and shows
 * no chain by that. Out of step it is also what such a peer says while it is asked. Undefined: nothing is known but the rows.
 */
export function targetOf({
  sync,
  standing,
  best = 0,
}: Pick<NodeHealth, 'sync' | 'standing' | 'best'>): number | undefined {
  return sync && (standing.inStep ? Math.max(sync.height, best) : sync.target)
}

/** The members that `/readyz` answers beside its status while something is wrong that leaves the node ready, each with its metric. */
export const warningMetrics = {
  clock: 'didledger_clock_offset_seconds',
  refusedBlock: 'didledger_own_blocks_refused_total',
} as const

/** Whether the answers of a node can be used, and why not. */
export function readiness(health: NodeHealth): { readonly status: 'ready' | BadStatus; readonly reason?: string } {
  for (const status of Object.keys(badStates) as BadStatus[]) {
    const state: BadState = badStates[status]
    if (state.holds(health)) return { status, reason: state.reason(health) }
  }
  return { status: 'ready' }
}
