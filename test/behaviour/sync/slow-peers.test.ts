import { afterEach, describe, expect, it } from 'vitest'
import { LinkError } from '../../../src/network/link.js'
import { blocksExchange } from '../../../src/network/wire/blocks-message.js'
import { headersExchange, type HeaderUnit } from '../../../src/network/wire/headers-message.js'
import { oneValidator, type TestChain, withoutValidators } from '../../support/builders/chain.js'
import { longChain, SyncNode, TestPeer, unitAt } from '../../support/network/sync.js'

const nodes: SyncNode[] = []
const chains: TestChain[] = []

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
  for (const chain of chains.splice(0)) await chain.close()
})

/** Lets time pass faster than {@link SyncNode.until}, until a condition holds. */
async function quickly(node: SyncNode, holds: () => boolean, seconds: number): Promise<void> {
  const end = node.target.clock.time + 1000 * seconds
  while (!holds()) {
    if (node.target.clock.time > end) throw new Error(`not within ${seconds} s: ${holds.toString()}`)
    node.advance(250)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

const claims = { tipHeight: 1_000_000, chainWork: 1n << 200n, tipHash: new Uint8Array(32).fill(7) }

describe.each([
  ['with a validator', oneValidator()],
  ['without validators', withoutValidators],
])('on a chain %s', (_, overrides) => {
  async function source(length: number): Promise<TestChain> {
    const chain = await longChain(overrides, length)
    chains.push(chain)
    return chain
  }

  /** A node whose peers come later, and a wait in its time. */
  async function waiting(): Promise<{ node: SyncNode; wait: (milliseconds: number) => Promise<void> }> {
    const node = await SyncNode.start(overrides, [])
    nodes.push(node)
    return { node, wait: (milliseconds) => new Promise((resolve) => node.after(milliseconds, resolve)) }
  }

  it.each([
    ['never answer', Infinity],
    ['answer too late', 8_500],
  ])(
    'two peers that claim most and %s do not keep an honest one from being asked for headers',
    async (_name, delay) => {
      const chain = await source(60)
      const { node, wait } = await waiting()
      const liars = [0, 1].map(() =>
        new TestPeer(chain, claims).answering(headersExchange, async () => {
          await (delay === Infinity ? new Promise(() => {}) : wait(delay))
          return []
        }),
      )
      const honest = new TestPeer(chain)
      node.target.clock.time = chain.clock.time
      for (const peer of [...liars, honest]) node.join(peer)
      await node.until(() => node.height === 60, 30)
      for (const liar of liars) expect(liar.penalties[0]).toBe('peer-slow')
      expect(honest.penalties).toEqual([])
    },
  )

  it('a peer that never answers is asked for headers less and less often, and more often again when it does', async () => {
    const chain = await source(3)
    const { node } = await waiting()
    let mute = true
    const asked: number[] = []
    const peer = new TestPeer(chain).answering(headersExchange, (_question, honest) => {
      asked.push(node.target.clock.time)
      return mute ? Promise.reject(new LinkError('timeout', 'for the test')) : honest()
    })
    node.target.clock.time = chain.clock.time
    node.join(peer)
    const pauses = () => asked.slice(1).map((time, i) => Math.floor((time - (asked[i] as number)) / 1000))
    await quickly(node, () => asked.length > 6, 400)
    for (const [i, least] of [5, 10, 20, 40, 60, 60].entries()) {
      expect(pauses()[i]).toBeGreaterThanOrEqual(least)
      expect(pauses()[i]).toBeLessThan(least + 5)
    }
    mute = false
    await quickly(node, () => node.height === 3, 100)
    mute = true
    await chain.mine()
    peer.refresh()
    const before = asked.length
    node.events.emit('status', peer)
    await quickly(node, () => asked.length > before + 1, 20)
    expect(pauses().at(-1)).toBeLessThan(10)
  })

  it('eight peers that do not answer do not keep an honest one from being asked for blocks', async () => {
    const chain = await source(60)
    const { node, wait } = await waiting()
    const mute = () =>
      new TestPeer(chain).answering(blocksExchange, async () => {
        await wait(29_000)
        return []
      })
    const mutes = Array.from({ length: 8 }, mute)
    const honest = new TestPeer(chain)
    // Blocks so large that each peer is asked for one.
    for (const peer of [...mutes, honest]) {
      peer.answering(headersExchange, async (_question, given: () => Promise<readonly HeaderUnit[]>) =>
        (await given()).map((unit) => ({ ...unit, size: 200_000 })),
      )
    }
    node.target.clock.time = chain.clock.time
    for (const peer of [...mutes, honest]) node.join(peer)
    await node.until(() => node.height === 60, 15)
    for (const peer of mutes) expect(peer.penalties).toEqual(['peer-slow'])
    expect(honest.penalties).toEqual([])
  })

  it('however many do not answer, somebody else is asked for blocks', async () => {
    const chain = await source(30)
    const { node } = await waiting()
    const mutes = Array.from({ length: 20 }, () =>
      new TestPeer(chain).answering(blocksExchange, () => new Promise(() => {})),
    )
    const honest = new TestPeer(chain)
    node.target.clock.time = chain.clock.time
    for (const peer of [...mutes, honest]) node.join(peer)
    await quickly(node, () => node.height === 30, 200)
    expect(mutes.every((peer) => !peer.penalties.includes('peer-withheld'))).toBe(true)
  })

  it('a new tip whose block takes long costs who told of it nothing where nobody else has it, and is connected', async () => {
    const chain = await source(5)
    const { node, wait } = await waiting()
    const peer = new TestPeer(chain)
    node.target.clock.time = chain.clock.time
    node.join(peer)
    await node.until(() => node.height === 5)
    peer.answering(blocksExchange, async (_question, honest) => {
      await wait(12_000)
      return honest()
    })
    await chain.mine()
    const told = node.sync.announced(peer, unitAt(chain, 6))
    await node.until(() => node.height === 6, 20)
    expect(await told).toBe(true)
    expect([peer.penalties, peer.asked.get('blocks')]).toEqual([[], 2])
  })

  it('a peer that is too busy to hand out blocks is no liar, and gives them later', async () => {
    const chain = await source(40)
    const { node } = await waiting()
    const busy = new TestPeer(chain).answering(blocksExchange, async (_question, honest) => {
      if ((busy.asked.get('blocks') ?? 0) <= 4) throw new LinkError('timeout', 'no answer')
      return honest()
    })
    node.target.clock.time = chain.clock.time
    node.join(busy)
    await quickly(node, () => node.height === 40, 400)
    expect([busy.penalties, busy.closed]).toEqual([[], false])
  })

  it('a new tip whose block takes long is asked of another peer, at the price of a late answer', async () => {
    const chain = await source(5)
    const { node, wait } = await waiting()
    const [slow, mute] = [new TestPeer(chain), new TestPeer(chain)]
    node.target.clock.time = chain.clock.time
    node.join(slow)
    await node.until(() => node.height === 5)
    slow.answering(blocksExchange, async (_question, honest) => {
      await wait(8_000)
      return honest()
    })
    mute.answering(blocksExchange, () => new Promise(() => {}))
    // The sync itself has nobody to ask for headers.
    for (const peer of [slow, mute]) peer.answering(headersExchange, () => new Promise(() => {}))
    await chain.mine()
    mute.refresh()
    node.peers.push(mute)
    const told = node.sync.announced(slow, unitAt(chain, 6))
    await node.until(() => node.height === 6, 20)
    expect(await told).toBe(true)
    expect(slow.penalties).toEqual(['peer-slow'])
    expect(mute.asked.get('blocks')).toBe(1)
    expect(mute.penalties).not.toContain('peer-withheld')
  })

  it('a new tip with a large block gets the time that its bytes take', async () => {
    const chain = await source(5)
    const { node, wait } = await waiting()
    const [slow, other] = [new TestPeer(chain), new TestPeer(chain)]
    node.target.clock.time = chain.clock.time
    node.join(other)
    await node.until(() => node.height === 5)
    slow.answering(blocksExchange, async (_question, honest) => {
      await wait(8_000)
      return honest()
    })
    for (const peer of [slow, other]) peer.answering(headersExchange, () => new Promise(() => {}))
    await chain.mine()
    other.refresh()
    node.peers.push(slow)
    const before = other.asked.get('blocks')
    const told = node.sync.announced(slow, { ...unitAt(chain, 6), size: 2 * 1024 * 1024 })
    await node.until(() => node.height === 6, 20)
    expect(await told).toBe(true)
    expect([slow.penalties, other.asked.get('blocks')]).toEqual([[], before])
  })

  it('a new tip that its teller does not answer for is not held against what it says', async () => {
    const chain = await source(5)
    const { node } = await waiting()
    const peer = new TestPeer(chain)
    node.target.clock.time = chain.clock.time
    node.join(peer)
    await node.until(() => node.height === 5)
    peer.answering(blocksExchange, () => Promise.reject(new LinkError('timeout', 'for the test')))
    await chain.mine()
    expect(await node.sync.announced(peer, unitAt(chain, 6))).toBe(false)
    peer.answering(blocksExchange, async () => [])
    await expect(node.sync.announced(peer, unitAt(chain, 6))).rejects.toMatchObject({ code: 'peer-withheld' })
  })
})
