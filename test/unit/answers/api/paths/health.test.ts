import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ApiServer } from '../../../../../src/answers/api/servers/node-server.js'
import type { NodeHealth } from '../../../../../src/answers/api/node-handles.js'
import { badStates, warningMetrics } from '../../../../../src/answers/api/metrics/readiness.js'
import { RuleError } from '../../../../../src/base/errors/rule-error.js'
import { ask, contextOf, serve } from '../../../../support/client/api.js'
import { parseMetrics, sampleOf } from '../../../../support/assert/prometheus.js'
import { TestChain } from '../../../../support/builders/chain.js'
import { behind, inStep, pausing } from '../../../../support/fakes/standing.js'

let node: TestChain
let server: ApiServer
let health: NodeHealth
const stalled = { reason: 'no-quorum', since: 1_800_000_000, detail: 'validator 3 is missing' } as const

beforeEach(async () => {
  node = await TestChain.open()
  health = { failed: false, stage: 'serving', sync: { catchingUp: false, height: 0, target: 0 }, standing: inStep() }
  server = await serve(contextOf(node, { health: () => health }))
})

afterEach(async () => {
  await server.close()
  await node.close()
})

describe('/healthz', () => {
  it('is ok whatever the node is doing', async () => {
    for (const stage of ['starting', 'serving', 'stopping'] as const) {
      health = { ...health, stage, standing: behind(0, 9) }
      expect(await ask(server.port, '/healthz')).toMatchObject({ status: 200, text: '{"status":"ok"}' })
    }
  })

  it('is not once the node has failed', async () => {
    health = { ...health, failed: true }
    const { status, body, headers } = await ask(server.port, '/healthz')
    expect({ status, body }).toMatchObject({ status: 503, body: { status: 'failed', reason: expect.any(String) } })
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  })
})

/** What holds as well in the states that are tried. */
const besides: Readonly<Record<string, readonly string[]>> = {
  failed: ['stopping'],
  'catching up': ['out of step'],
  stalled: ['out of step'],
}

describe('/readyz', () => {
  it('tells height and time of the tip of a node that is ready', async () => {
    const { height, time } = node.chain.tip.header
    const answer = await ask(server.port, '/readyz')
    expect(answer).toMatchObject({ status: 200, body: { status: 'ready', height, time, target: 0 } })
    expect(answer.body).not.toHaveProperty('reason')
    expect(answer.body).not.toHaveProperty('follows')
  })

  it('tells along which nodes a follower follows', async () => {
    health = { ...health, follows: ['0011223344556677'] }
    expect((await ask(server.port, '/readyz')).body).toMatchObject({ follows: ['0011223344556677'] })
  })

  it('names what is proved as the target of a node in step, and what a peer says it has while the node is not', async () => {
    const sync = { catchingUp: false, height: 0, target: 1_000_000 }
    const target = async () => {
      const { body } = await ask(server.port, '/readyz')
      const families = parseMetrics((await ask(server.port, '/metrics')).text)
      return [(body as { target: number }).target, sampleOf(families, 'didledger_sync_target_blocks')]
    }
    health = { ...health, sync }
    expect(await target()).toEqual([0, 0])
    health = { ...health, best: 2 }
    expect(await target()).toEqual([2, 2])
    health = { ...health, standing: behind(0, 9) }
    expect(await target()).toEqual([1_000_000, 1_000_000])
  })

  it('is not while more blocks are missing than within grants', async () => {
    const asked = async (query: string) => {
      const { status, body } = await ask(server.port, `/readyz${query}`)
      return [status, (body as { status: string }).status]
    }
    expect(await asked('?within=0')).toEqual([200, 'ready'])
    health = { ...health, best: 3 }
    expect(await asked('')).toEqual([200, 'ready'])
    expect(await asked('?within=3')).toEqual([200, 'ready'])
    expect(await asked('?within=2')).toEqual([503, 'behind'])
    expect((await ask(server.port, '/readyz?within=0')).body).toMatchObject({
      reason: 'at height 0, 3 blocks below the best proved one',
    })
    health = { ...health, standing: behind(0, 9) }
    expect(await asked('?within=3')).toEqual([503, 'catching up'])
  })

  it('refuses a within that is no number of blocks', async () => {
    for (const query of [
      'within',
      'within=',
      'within=-1',
      'within=01',
      'within=x',
      'within=1&within=1',
      'within=4294967296',
    ]) {
      const { status, body } = await ask(server.port, `/readyz?${query}`)
      expect([query, status, body]).toMatchObject([query, 400, { Error: 42002 }])
    }
  })

  it('counts the blocks of this node that were refused, and says why until one of that height is there', async () => {
    const shown = async () => (await ask(server.port, '/readyz')).body
    expect(await shown()).toMatchObject({ refusedBlocks: 0 })
    node.mempool.refusedBlocks.note(new RuleError('tx-signature', 'program 0'), node.chain.tip.header.height + 1)
    expect(await shown()).toMatchObject({
      status: 'ready',
      refusedBlocks: 1,
      refusedBlock: 'tx-signature: program 0',
    })
    expect((await ask(server.port, '/metrics')).text).toContain('\ndidledger_own_blocks_refused_total 1\n')
    await node.mine()
    expect(await shown()).toMatchObject({ refusedBlocks: 1 })
    expect(await shown()).not.toHaveProperty('refusedBlock')
  })

  it.each([
    ['starting', { stage: 'starting' }],
    ['stopping', { stage: 'stopping' }],
    ['alarm', { alarm: 'two confirmed blocks at height 7' }],
    ['catching up', { standing: behind(7, 12) }],
    ['stalled', { stalled, standing: pausing(7) }],
    ['out of step', { standing: pausing(7) }],
    ['failed', { failed: true, stage: 'stopping' }],
  ] satisfies [keyof typeof badStates, Partial<NodeHealth>][])(
    'is refused while the node is %s, with a reason',
    async (status, change) => {
      health = { ...health, ...change }
      const answer = await ask(server.port, '/readyz')
      expect(answer).toMatchObject({ status: 503, body: { status, reason: expect.any(String) } })
      const families = parseMetrics((await ask(server.port, '/metrics')).text)
      for (const [name, { metric, value }] of Object.entries(badStates)) {
        const holds = name === status || besides[status]?.includes(name) === true
        expect(sampleOf(families, metric), metric).toBe(holds ? value : 1 - value)
      }
      if (status === 'stalled') expect(answer.body).toMatchObject({ reason: 'no-quorum: validator 3 is missing' })
      if (status === 'catching up') {
        const reason: unknown = expect.stringMatching(/height 7, .* up to height 12/)
        expect(answer.body).toMatchObject({ reason, age: 4000, inStep: false })
      }
    },
  )
})

describe('a stalled chain', () => {
  it.each<[string, Partial<NodeHealth>]>([
    ['alarm', { alarm: 'two confirmed blocks at height 7' }],
    ['catching up', { standing: behind(7, 12) }],
    ['starting', { stage: 'starting' }],
    ['failed', { failed: true }],
  ])('is named after what matters more: %s', async (status, change) => {
    health = { ...health, stalled, ...change }
    expect((await ask(server.port, '/readyz')).body).toMatchObject({ status })
  })

  it('is no reason to start the process again', async () => {
    health = { ...health, stalled }
    expect((await ask(server.port, '/healthz')).status).toBe(200)
  })
})

describe('a wrong clock', () => {
  it.each([
    [93, 'the clock of this node is 93 s behind those of the others'],
    [-40, 'the clock of this node is 40 s ahead of those of the others'],
  ])('is named, and leaves the node ready: %i', async (clockOffset, clock) => {
    health = { ...health, clockOffset }
    expect(await ask(server.port, '/readyz')).toMatchObject({ status: 200, body: { status: 'ready', clock } })
    const families = parseMetrics((await ask(server.port, '/metrics')).text)
    expect(sampleOf(families, warningMetrics.clock)).toBe(clockOffset)
  })

  it('is not named while it is right', async () => {
    expect((await ask(server.port, '/readyz')).body).not.toHaveProperty('clock')
  })
})

describe.each(['/healthz', '/readyz', '/metrics'])('%s', (path) => {
  it('takes GET, with any query, and HEAD', async () => {
    expect((await ask(server.port, `${path}?x=1`)).status).toBe(200)
    const head = await ask(server.port, path, { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, text: '' })
  })

  it('takes nothing else', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const answer = await ask(server.port, path, { method })
      expect(answer).toMatchObject({ status: 405, body: { Error: 42001 } })
      expect(answer.headers['allow']).toBe('GET, HEAD')
    }
  })

  it.each([`${path}/`, path.toUpperCase(), `/api/v1${path}`, `${path}/x`])(
    'matches exactly, not as %s',
    async (other) => {
      expect((await ask(server.port, other)).status).toBe(404)
    },
  )

  it('is not on the port of JSON-RPC', async () => {
    const rpc = await serve(contextOf(node), { serves: 'rpc' })
    expect((await ask(rpc.port, path)).status).toBe(405)
    await rpc.close()
  })
})
