import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Hash } from '../../../src/base/primitives/hash.js'
import { tipPatience } from '../../../src/node/standing/pace.js'
import { StepWatch } from '../../../src/node/standing/step-watch.js'
import { headersExchange } from '../../../src/network/wire/headers-message.js'
import { services } from '../../../src/network/wire/status-message.js'
import { blocksExchange } from '../../../src/network/wire/blocks-message.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { longChain, SyncNode, TestPeer, unitAt } from '../../support/network/sync.js'

const never = () => new Promise<never>(() => {})
const day = 86_400_000

describe.each([
  ['with a validator', oneValidator()],
  ['without validators', withoutValidators],
])('in step on a chain %s', (_, overrides) => {
  const length = 60
  const opened: { close(): Promise<unknown> }[] = []
  let source: TestChain

  beforeAll(async () => {
    source = await longChain(overrides, length)
  })
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  })
  afterAll(() => source.close())

  /** A node that follows peers, and each change of its standing. */
  async function start(peers: readonly TestPeer[], clock = source.clock.time, expectsPeers = true, target?: TestChain) {
    const node = await SyncNode.start(overrides, peers, target && { target })
    opened.push(node)
    node.target.clock.time = clock
    const step = new StepWatch({
      chain: node.target.chain,
      clock: node.target.clock,
      sync: node.sync,
      expectsPeers,
      policy: { staleAfter: 3_600_000, always: false },
    })
    const changes: boolean[] = []
    const look = () => {
      step.look()
      const { inStep } = step.standing()
      if (changes.at(-1) !== inStep) changes.push(inStep)
      return step.standing()
    }
    look()
    const cancel = setInterval(look, 1)
    opened.push({ close: async () => clearInterval(cancel) })
    return { node, step, look, changes }
  }

  it('is a node that has joined, after one change', async () => {
    const { node, look, changes } = await start([new TestPeer(source)])
    await node.until(() => node.height === length && node.sync.progress().stage === 'idle')
    expect(look()).toMatchObject({ inStep: true, height: length })
    expect(changes).toEqual([false, true])
  })

  it('is no node that met only strangers who have nothing, or who say nothing', async () => {
    const empty = await TestChain.open(overrides)
    opened.push(empty)
    const silent = new TestPeer(source).answering(headersExchange, never)
    const { node, look, changes } = await start([new TestPeer(empty), silent])
    for (let second = 0; second < 200; second++) {
      node.advance(1_000)
      await new Promise((resolve) => setImmediate(resolve))
      expect(look()).toMatchObject({ inStep: false, answers: 'none' })
    }
    expect(changes).toEqual([false])
  })

  it('is no node whose only peer joins itself, until that one has the chain', async () => {
    const joining = new TestPeer(source, { services: services.wholeChain | services.showsNothing })
    const { node, look, changes } = await start([joining])
    await node.until(() => node.height === length && node.sync.progress().stage === 'idle')
    for (let second = 0; second < 60; second++) expect(look()).toMatchObject({ inStep: false, reason: 'alone' })
    joining.refresh()
    expect(look()).toMatchObject({ inStep: true })
    expect(changes).toEqual([false, true])
  })

  it('has its tip as its target beside a peer that says it has more and shows nothing', async () => {
    const { node, look } = await start([new TestPeer(source)])
    await node.until(() => look().inStep)
    const said = { tipHeight: 1_000_000, tipHash: new Uint8Array(32).fill(7) as Hash, chainWork: 1n << 80n }
    const liar = new TestPeer(source, said).answering(headersExchange, never)
    node.join(liar)
    await node.until(() => liar.asked.has(headersExchange.protocol.name))
    expect(node.sync.progress()).toMatchObject({ stage: 'headers', target: length })
  })

  it('is no node whose peers keep the blocks of their headers to themselves', async () => {
    const { node, look } = await start([new TestPeer(source).answering(blocksExchange, never)])
    await node.until(() => node.sync.progress().catchingUp)
    expect(look()).toMatchObject({ inStep: false, reason: 'behind', answers: 'none' })
  })

  it('stays a node while its tip is young, and answers what is there once the chain pauses', async () => {
    const { node, step, look } = await start([new TestPeer(source)])
    await node.until(() => look().inStep)
    const { time } = node.target.chain.tip.header
    const oldest = time * 1000 + tipPatience(node.target.spec)
    const pass = (until: number) => {
      const { clock } = node.target
      for (; clock.time !== until; step.standing()) clock.time = Math.min(until, clock.time + 1_000)
    }
    pass(oldest)
    expect(look()).toMatchObject({ inStep: true })
    pass(oldest + 1_000)
    expect(look()).toMatchObject({ inStep: false, reason: 'old', answers: 'found' })
    pass(time * 1000 + 3_601_000)
    expect(look()).toMatchObject({ inStep: false, answers: 'none' })
    // Set back again it is young by the clock, and it knows better how long it has waited.
    node.target.clock.time = oldest
    look()
    await node.until(() => !JSON.stringify(look()).includes('"alone"'))
    for (let second = 0; second <= tipPatience(node.target.spec) / 1000; second++) look()
    expect(look()).toMatchObject({ inStep: false, reason: 'old' })
  })

  it('is no node whose clock is a day early', async () => {
    const { node, look, changes } = await start([new TestPeer(source)], source.clock.time + day)
    await node.until(() => node.height === length && node.sync.progress().stage === 'idle')
    expect(look()).toMatchObject({ inStep: false, reason: 'old', answers: 'none' })
    expect(changes).toEqual([false])
  })

  it('is no node whose clock is a day late, though its own blocks look young to it', async () => {
    // It was off for a day, and its clock shows the time at which it stopped.
    const later = await longChain(overrides, 10)
    const target = await TestChain.open(overrides)
    opened.push(later)
    for (let height = 1; height <= 10; height++)
      await target.accept(await later.reader.block(later.activeHeader(height)))
    const stopped = later.clock.time
    later.clock.time += day
    for (let block = 0; block < 3; block++) await later.mine()
    const { node, look, changes } = await start([], stopped, true, target)
    expect(look()).toMatchObject({ inStep: false, height: 10, reason: 'alone' })
    const peer = new TestPeer(later)
    node.peers.push(peer)
    node.events.emit('joined', peer)
    const standing = () => JSON.stringify(look())
    await node.until(() => peer.asked.has(headersExchange.protocol.name) && standing().includes('"reason":"clock"'))
    expect(look()).toMatchObject({ inStep: false, reason: 'clock', answers: 'none' })
    for (let second = 0; second < 200; second++) {
      node.advance(1_000)
      await new Promise((resolve) => setImmediate(resolve))
      expect(look()).toMatchObject({ inStep: false, answers: 'none' })
    }
    expect(changes).toEqual([false])
  })

  it('comes back with a block that another peer has', async () => {
    const grown = await longChain(overrides, 5)
    opened.push(grown)
    const peer = new TestPeer(grown)
    const { node, look, changes } = await start([peer], grown.clock.time)
    await node.until(() => look().inStep)
    for (let block = 0; block < 20; block++) {
      await grown.mine()
      node.target.clock.time = Math.max(node.target.clock.time, grown.clock.time)
      peer.refresh()
      await node.sync.announced(peer, unitAt(grown, grown.chain.tip.header.height)).catch(() => {})
      look()
    }
    await node.until(() => node.height === 25)
    expect(changes).toEqual([false, true])
  })
})

describe('a confirm of a higher block', () => {
  it('is a block that the node lacks, once it is not fetched in time', async () => {
    const grown = await longChain(oneValidator(), 5)
    const peer = new TestPeer(grown)
    const node = await SyncNode.start(oneValidator(), [peer])
    const { chain, clock } = node.target
    const policy = { staleAfter: 3_600_000, always: false }
    const step = new StepWatch({ chain, clock, sync: node.sync, expectsPeers: true, policy })
    await node.until(() => (step.look(), step.standing().inStep))
    await grown.mine()
    await grown.mine()
    peer.answering(headersExchange, never)
    void node.sync.announced(peer, unitAt(grown, 7)).catch(() => {})
    await node.until(() => node.sync.beyond.better !== undefined, 1)
    const { since = 0 } = node.sync.beyond.better ?? {}
    clock.time = since + 2_000
    step.look()
    expect(step.standing()).toMatchObject({ inStep: true })
    clock.time = since + 2_001
    step.look()
    expect(step.standing()).toMatchObject({ inStep: false, reason: 'behind', answers: 'none' })
    await node.close()
    await grown.close()
  })

  it('that comes before its parent is on its way each time, and was not lacked since the first time', async () => {
    const grown = await longChain(oneValidator(), 5)
    const peer = new TestPeer(grown)
    const node = await SyncNode.start(oneValidator(), [peer])
    const { chain, clock } = node.target
    const policy = { staleAfter: 3_600_000, always: false }
    const step = new StepWatch({ chain, clock, sync: node.sync, expectsPeers: true, policy })
    const look = () => (step.look(), step.standing().inStep)
    await node.until(look)
    for (let round = 0; round < 3; round++) {
      await grown.mine()
      await grown.mine()
      const { height } = grown.chain.tip.header
      clock.time = Math.max(clock.time, grown.clock.time)
      const announced = node.sync.announced(peer, unitAt(grown, height)).catch(() => {})
      await node.until(() => {
        expect(look()).toBe(true)
        return node.height === height
      })
      await announced
      peer.refresh()
      clock.time += 10_000
      expect(look()).toBe(true)
    }
    await node.close()
    await grown.close()
  })
})

describe('strangers with a block of the future on a chain with less work', () => {
  it('take no node out of step, however many they are', async () => {
    const honest = await longChain(withoutValidators, 20)
    const stranger = await TestChain.open(withoutValidators)
    const peer = new TestPeer(honest)
    const node = await SyncNode.start(withoutValidators, [peer])
    const { chain, clock } = node.target
    clock.time = honest.clock.time
    const policy = { staleAfter: 3_600_000, always: false }
    const step = new StepWatch({ chain, clock, sync: node.sync, expectsPeers: true, policy })
    const look = () => (step.look(), step.standing().inStep)
    await node.until(() => node.height === 20 && look())
    stranger.clock.time = honest.clock.time + 365 * day
    await stranger.mine()
    for (let i = 0; i < 3; i++) {
      const one = new TestPeer(stranger, { chainWork: 1n << 80n, tipHeight: 1000 })
      node.peers.push(one)
      node.events.emit('joined', one)
    }
    await node.until(() => node.sync.behindByClock)
    for (let second = 0; second < 300; second++) {
      node.advance(1000)
      if (second % 60 === 30) {
        honest.clock.time = clock.time
        await honest.mine()
        peer.refresh()
        await node.sync.announced(peer, unitAt(honest, honest.chain.tip.header.height)).catch(() => {})
      }
      expect(look(), `second ${second}`).toBe(true)
    }
    expect(node.height).toBe(honest.chain.tip.header.height)
    for (const one of [node, honest, stranger]) await one.close()
  })
})
