import { afterEach, describe, expect, it } from 'vitest'
import { craft, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { until } from '../../support/network/relay-node.js'
import { openSocketNode, type SocketNode } from '../../support/network/socket-node.js'

const nodes: SocketNode[] = []

async function open(...peers: string[]): Promise<SocketNode> {
  const node = await openSocketNode(peers)
  nodes.push(node)
  return node
}

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

describe('relay over sockets', () => {
  it('brings transactions and blocks to every node of a line, and the pool to one that joins', async () => {
    const first = await open()
    const middle = await open(first.address)
    const last = await open(middle.address)
    await until(() => middle.network.peers.all().length === 2, 'the line')
    const value = 100_000_000_000n
    const { spec, chain } = first.test
    const paid = craft(spec, [genesisCoin(chain)], [{ to: 30, value: value - 1000n }], [10])
    const onTop = craft(spec, [outputOf(paid)], [{ to: 31, value: value - 9000n }], [30])
    await last.test.send(paid)
    await until(() => nodes.every(({ test }) => test.mempool.get(paid.hash) !== undefined), 'the first in every pool')
    await first.test.send(onTop)
    await until(() => nodes.every(({ test }) => test.mempool.get(onTop.hash) !== undefined), 'the second, too')
    expect(nodes.map(({ network }) => network.receivedCount)).toEqual([1, 2, 1])

    const late = await open(last.address)
    await until(() => late.test.mempool.size === 2, 'the pool of the one that joined')
    const [block] = await late.test.mine()
    await until(() => nodes.every(({ test }) => test.chain.tip.header.id === block?.hash), 'the block')
    await until(() => nodes.every(({ test }) => test.mempool.size === 0), 'no pool that holds what is mined')
  })
})
