import { defined } from '../primitives/defined.js'
import { behindText } from '../resolver/resolver.js'
import { jsonType } from './envelopes.js'
import type { NodeHealth } from './node-views.js'
import type { PlainAnswer, PlainRoute } from './plain-route.js'

/** `/healthz`: whether a restart would help. `/readyz`: whether the answers of the node can be used. */
export const healthRoutes: readonly PlainRoute[] = [
  {
    path: '/healthz',
    summary: 'Whether the node lives: 503 once it cannot go on.',
    answer: ({ health }) => {
      const { failed } = health()
      return failed ? answer(503, { status: 'failed', reason: failure }) : answer(200, { status: 'ok' })
    },
  },
  {
    path: '/readyz',
    summary: 'Whether the node knows the chain and can be asked: 503 with the reason while it cannot.',
    answer: ({ health, reader, mempool: { refusedBlocks } }) => {
      const state = health()
      const { height, time } = reader.chain.tip.header
      const { status, reason } = readiness(state)
      const shown = {
        status,
        ...defined({ reason }),
        ...{ height, target: state.sync.target, time },
        refusedBlocks: refusedBlocks.count,
        ...defined({ refusedBlock: refusedBlocks.reason, clock: clockText(state.clockOffset) }),
      }
      return answer(status === 'ready' ? 200 : 503, shown)
    },
  },
]

/** No details: the client may be a stranger, and the log has them. */
const failure = 'the node cannot go on; its log says why'

function readiness({ failed, stage, sync, alarm, stalled }: NodeHealth): { status: string; reason?: string } {
  if (failed) return { status: 'failed', reason: failure }
  if (stage === 'starting') return { status: 'starting', reason: 'not all interfaces are open yet' }
  if (stage === 'stopping') return { status: 'stopping', reason: 'the node was told to stop' }
  if (alarm !== undefined) return { status: 'alarm', reason: alarm }
  if (sync.catchingUp) return { status: 'catching up', reason: behindText(sync) }
  if (stalled !== undefined) return { status: 'stalled', reason: `${stalled.reason}: ${stalled.detail}` }
  return { status: 'ready' }
}

function clockText(offset: number | undefined): string | undefined {
  if (offset === undefined) return undefined
  return `the clock of this node is ${Math.abs(offset)} s ${offset > 0 ? 'behind' : 'ahead of'} those of the others`
}

function answer(status: number, body: unknown): PlainAnswer {
  return { status, contentType: jsonType, body: JSON.stringify(body) }
}
