import { defined } from '../../../base/primitives/defined.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { jsonType } from '../http/answer-forms.js'
import type { NodeHealth } from '../node-handles.js'
import type { PlainAnswer, PlainRoute } from './plain-route.js'
import { readParameter } from '../parameters.js'
import { failure, readiness, targetOf, type warningMetrics } from '../metrics/readiness.js'

/** `/healthz`: whether a restart would help. `/readyz`: whether the answers of the node can be used. */
export const healthRoutes: readonly PlainRoute[] = [
  {
    path: '/healthz',
    isProbe: true,
    summary: 'Whether the node lives: 503 once it cannot go on.',
    fails: 'the node cannot go on',
    answer: ({ health }) => {
      const { failed } = health()
      return failed ? answer(503, { status: 'failed', reason: failure }) : answer(200, { status: 'ok' })
    },
  },
  {
    path: '/readyz',
    isProbe: true,
    summary: 'Whether the node knows the chain and can be asked: 503 with the reason while it cannot.',
    query: {
      within: { kind: 'depth', meaning: 'blocks by which the node may be behind the best proved block that it knows' },
    },
    fails: 'the node cannot be asked; the body has the reason',
    answer: ({ health, reader, mempool: { refusedBlocks } }, query) => {
      const within = blocksIn(query)
      const state = health()
      const { height, time } = reader.chain.tip.header
      const { status, reason } = readinessWithin(within, height, state)
      // A warning without a metric does not compile.
      const warnings: Record<keyof typeof warningMetrics, string | undefined> = {
        refusedBlock: refusedBlocks.reason,
        clock: clockText(state.clockOffset),
      }
      const shown = {
        status,
        ...defined({ reason }),
        height,
        ...defined({ target: targetOf(state) }),
        ...{ time, age: state.standing.age, inStep: state.standing.inStep },
        refusedBlocks: refusedBlocks.count,
        ...defined(warnings),
        ...defined({ follows: state.follows }),
      }
      return answer(status === 'ready' ? 200 : 503, shown)
    },
  },
]

/** Readiness of a node, `behind` where it lacks more than so many blocks. */
function readinessWithin(within: number, height: number, state: NodeHealth) {
  const known = readiness(state)
  const { best = height } = state
  if (known.status !== 'ready' || best - height <= within) return known
  return { status: 'behind', reason: `at height ${height}, ${best - height} blocks below the best proved one` }
}

/** Blocks that `within` grants; Infinity without it. A `request-parameter` for another value, or several. */
function blocksIn(query: string): number {
  const texts = new URLSearchParams(query).getAll('within')
  if (texts.length === 0) return Infinity
  if (texts.length > 1) throw new RuleError('request-parameter', 'within: given more than once')
  return readParameter('depth', 'within', texts[0] ?? '')
}

function clockText(offset: number | undefined): string | undefined {
  if (offset === undefined) return undefined
  return `the clock of this node is ${Math.abs(offset)} s ${offset > 0 ? 'behind' : 'ahead of'} those of the others`
}

function answer(status: number, body: unknown): PlainAnswer {
  return { status, contentType: jsonType, body: JSON.stringify(body) }
}
