import { ed25519 } from '@noble/curves/ed25519.js'
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/crypto/inline.js'
import { Network } from '../../../src/network/network.js'
import { openTransport } from '../../../src/network/open-transport.js'
import { protocols, topics } from '../../../src/network/wire/all-messages.js'
import { systemEnv } from '../../../src/runtime/process-env.js'
import { craft, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { quietLog, TestChain } from '../../support/builders/chain.js'
import { until } from '../../support/network/relay-node.js'

interface Node {
  readonly test: TestChain
  readonly network: Network
  readonly address: string
  close(): Promise<void>
}

const nodes: Node[] = []

/** A node on a port of its own that opens connections to no others than these. */
async function open(...peers: string[]): Promise<Node> {
  const test = await TestChain.open()
  const secretKey = randomBytes(32)
  const env = systemEnv(quietLog())
  const genesis = test.chain.genesis.header.hash
  const transport = await openTransport({
    secretKey,
    genesis,
    protocols,
    topics,
    hosts: ['127.0.0.1'],
    port: 0,
    env,
  })
  const network = await Network.open({
    ...env,
    transport,
    publicKey: ed25519.getPublicKey(secretKey),
    chain: test.chain,
    mempool: test.mempool,
    verifier: createInlineVerifier(),
    settings: { peers, outbound: 0, inbound: 8 },
  })
  await network.start(undefined)
  const close = async () => {
    await network.close()
    await transport.close()
    await test.close()
  }
  const node = { test, network, address: `127.0.0.1:${transport.port}`, close }
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
