import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { headersExchange } from '../../../src/network/wire/headers-message.js'
import { ask, contextOf, serve } from '../../support/client/api.js'
import { oneValidator, type TestChain, withoutValidators } from '../../support/builders/chain.js'
import { eventually } from '../../support/process/patience.js'
import { longChain, SyncNode, TestPeer } from '../../support/network/sync.js'
import { StepWatch } from '../../../src/node/standing/step-watch.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** More than the headers of one answer, 1000. */
const length = 1040

/** A peer that hands out the first headers of a chain, and no more of them until it is let go. */
function stopping(chain: TestChain, from: number): { peer: TestPeer; go: () => void; held: () => boolean } {
  let go = () => {}
  let held = false
  const gone = new Promise<void>((resolve) => (go = resolve))
  const peer = new TestPeer(chain).answering(headersExchange, async (_question, honest) => {
    const units = await honest()
    held = (units[0]?.header.height ?? 0) >= from
    if (held) await gone
    return units
  })
  return { peer, go, held: () => held }
}

describe.each([
  ['with a validator', oneValidator()],
  ['without validators', withoutValidators],
])('on a chain %s a node is catching up', (_, overrides) => {
  let chain: TestChain
  beforeAll(async () => {
    chain = await longChain(overrides, length)
  })
  afterAll(() => chain.close())

  async function started(from: number, assumed?: number) {
    const { peer, go, held } = stopping(chain, from)
    const assumeValid =
      assumed === undefined
        ? {}
        : { assumeValid: { height: assumed, hash: chain.chain.headers.activeHash(assumed) as Uint8Array } }
    const node = await SyncNode.start(overrides, [peer], assumeValid)
    closing.push(() => node.close())
    const { chain: own, clock } = node.target
    const policy = { staleAfter: 0, always: false }
    const step = new StepWatch({ chain: own, clock, sync: node.sync, expectsPeers: true, policy })
    const standing = () => step.standing()
    const server = await serve(
      contextOf(node.target, {
        health: () => ({ failed: false, stage: 'serving', sync: node.sync.progress(), standing: standing() }),
      }),
    )
    closing.push(() => server.close())
    const ready = () => {
      step.look()
      return ask(server.port, '/readyz')
    }
    const untilIdle = () => node.until(() => (step.look(), node.sync.progress().stage === 'idle'))
    return { node, go, held, ready, untilIdle }
  }

  it('while its peer has more headers than were checked, by /readyz as well', async () => {
    const { node, go, held, ready, untilIdle } = await started(1001)
    // The tip is at 1000 a moment before its followers are, and blocks are under way until then. No time passes meanwhile:
    // a slow machine would take so much of it for the blocks that the question for headers runs out.
    await eventually('headers are waited for', () => held() && node.sync.progress().stage === 'headers')
    expect(node.sync.progress()).toMatchObject({ stage: 'headers', catchingUp: true, height: 1000, target: length })
    expect(await ready()).toMatchObject({
      status: 503,
      body: { status: 'catching up', height: 1000, target: length, reason: expect.stringMatching(/^at height 1000, /) },
    })
    go()
    await untilIdle()
    expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready', height: length } })
  })

  it('while the headers below the assumed block come', async () => {
    const { node, go, held, ready, untilIdle } = await started(1001, 1020)
    await eventually('headers are waited for', held)
    expect(node.sync.progress()).toMatchObject({ stage: 'headers', catchingUp: true, height: 0, target: length })
    expect(await ready()).toMatchObject({ status: 503, body: { status: 'catching up' } })
    go()
    await untilIdle()
    expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready', height: length } })
  })

  it('not because a peer says that it has more, but such a node does not know yet that it is in step', async () => {
    const { node, held, ready } = await started(1)
    await eventually('headers are waited for', held)
    expect(node.sync.progress()).toMatchObject({ stage: 'headers', catchingUp: false })
    expect(await ready()).toMatchObject({ status: 503, body: { status: 'catching up', inStep: false } })
  })
})
