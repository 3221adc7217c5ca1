import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { stateDigest } from '../../../../src/chain/replay.js'
import { oneValidator, TestChain, withoutValidators } from '../../../support/chain.js'
import { SyncNode, TestPeer } from '../../../support/sync.js'
import { testAddress } from '../../../support/spec.js'

/** A chain with a transfer in every tenth block. */
async function sourceChain(overrides: Parameters<typeof TestChain.open>[0], length: number): Promise<TestChain> {
  const source = await TestChain.open(overrides)
  while (source.chain.tip.header.height < length) {
    if (source.chain.tip.header.height % 10 === 0) await source.send(await source.transfer(testAddress(30), 1000n))
    await source.mine()
  }
  return source
}

describe.each([
  ['with a validator', oneValidator()],
  ['without validators', withoutValidators],
])('the sync of a chain %s', (_, overrides) => {
  const length = 600
  let source: TestChain
  const nodes: SyncNode[] = []

  beforeAll(async () => {
    source = await sourceChain(overrides, length)
  })
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.close()
  })
  afterAll(() => source.close())

  async function start(...[peers, options]: [readonly TestPeer[], Parameters<typeof SyncNode.start>[2]?]) {
    const node = await SyncNode.start(overrides, peers, options)
    nodes.push(node)
    return node
  }

  it('leads to the same state', async () => {
    const peer = new TestPeer(source)
    const node = await start([peer])
    await node.until(() => node.height === length)
    expect(await stateDigest(node.target.database)).toBe(await stateDigest(source.database))
    expect(peer.penalties).toEqual([])
    await node.until(() => node.sync.progress().stage === 'idle')
    expect(node.sync.progress()).toMatchObject({ catchingUp: false, height: length, target: length })
  })

  it('shares the work among its peers', async () => {
    const peers = [new TestPeer(source), new TestPeer(source), new TestPeer(source)]
    const node = await start(peers)
    await node.until(() => node.height === length)
    for (const peer of peers) {
      expect(peer.asked.get('blocks')).toBeGreaterThan(0)
      expect(peer.penalties).toEqual([])
    }
  })
})
