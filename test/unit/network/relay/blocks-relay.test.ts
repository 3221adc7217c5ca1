import { afterEach, describe, expect, it } from 'vitest'
import { LinkError } from '../../../../src/network/link.js'
import { blocksExchange } from '../../../../src/network/wire/blocks-message.js'
import { blockTopic, type HeaderUnit } from '../../../../src/network/wire/headers-message.js'
import { auxPowBytes } from '../../../../src/base/primitives/auxpow.js'
import type { Block } from '../../../../src/base/primitives/block.js'
import { craft, craftBlock, genesisCoin } from '../../../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import type { SpecOverrides } from '../../../support/builders/spec.js'
import { RelayNode, until } from '../../../support/network/relay-node.js'

const nodes: RelayNode[] = []

async function line(count: number, overrides?: SpecOverrides): Promise<RelayNode[]> {
  const made = await RelayNode.line(count, overrides)
  nodes.push(...made)
  return made
}

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

const tipOf = ({ test }: RelayNode) => test.chain.tip.header.id
const unitOf = (block: Block): HeaderUnit => ({
  header: block.header,
  auxPow: auxPowBytes(block.auxPow),
  confirm: new Uint8Array(0),
  size: block.bytes.length,
})

/** A chain of the same spec whose blocks no node has. */
async function elsewhere(blocks: number): Promise<Block[]> {
  const test = await TestChain.open(withoutValidators)
  const made = await test.mine(blocks)
  await test.close()
  return made
}

describe('relay of blocks', () => {
  it.each([
    ['without validators', withoutValidators],
    ['with a validator', oneValidator()],
  ])('brings a block to every node of a line of four, %s', async (_, overrides) => {
    const made = await line(4, overrides)
    const miner = made[1] as RelayNode
    for (let i = 0; i < 3; i++) {
      const [block] = await miner.test.mine()
      await until(() => made.every((node) => tipOf(node) === block?.hash), 'the block')
    }
    expect(made.flatMap(({ peers }) => peers.all().flatMap(({ penalties }) => penalties))).toEqual([])
    // Each new tip goes over each connection about once in each direction.
    for (const { peers } of made) expect(peers.told.length).toBeLessThanOrEqual(3 * peers.all().length)
  })

  it('mines what another node sent', async () => {
    const made = await line(3)
    const [first, , last] = made as [RelayNode, RelayNode, RelayNode]
    const value = 100_000_000_000n - 1000n
    await first.test.send(craft(first.test.spec, [genesisCoin(first.test.chain)], [{ to: 30, value }], [10]))
    await until(() => last.pool.length === 1)
    await last.test.mine()
    await until(() => made.every((node) => node.test.chain.tip.header.height === 1 && node.pool.length === 0))
  })

  it('tells nobody while the chain catches up, nor of a block kept aside', async () => {
    const [first] = (await line(2)) as [RelayNode]
    first.sync.set(true)
    await first.test.mine(3)
    expect(first.peers.told).toEqual([])
    first.sync.set(false)
    const parent = first.test.chain.headers.active(1)
    await first.test.accept(craftBlock(first.test.chain, { parent: parent as NonNullable<typeof parent> }))
    expect(first.peers.told).toEqual([])
    await first.test.mine()
    expect(first.peers.told).toEqual(['blocks'])
  })

  it('tells on what it connects, drops what it has, and charges for what breaks a rule', async () => {
    const [node] = (await line(1)) as [RelayNode]
    const [block, next] = (await elsewhere(2)) as [Block, Block]
    const held = new Map([block, next].map((one) => [one.hash, one.bytes]))
    const answers = {
      blocks: (question: Uint8Array) => {
        const hashes = blocksExchange.question.decode(question)
        const found = [...held.values()].find((_, i) =>
          [block, next][i]?.header.hash.every((b, j) => b === hashes[0]?.[j]),
        )
        return blocksExchange.answer.encode([found ?? new Uint8Array(0)])
      },
    }
    const peer = node.peers.stranger('peer', answers)
    expect(await node.peers.hear(peer, blockTopic, unitOf(block))).toBe('accept')
    // The same block with another message around it: this node told of it already.
    expect(await node.peers.hear(peer, blockTopic, { ...unitOf(block), size: 1 })).toBe('ignore')
    held.set(next.hash, block.bytes.subarray(1))
    expect(await node.peers.hear(peer, blockTopic, unitOf(next))).toBe('reject')
    expect(peer.penalties).toEqual(['block-malformed'])
  })

  it('does not hold against a peer that its connection ended', async () => {
    const [node] = (await line(1)) as [RelayNode]
    const [block] = (await elsewhere(1)) as [Block]
    const peer = node.peers.stranger('gone', {
      blocks: () => {
        throw new LinkError('closed', 'it is gone')
      },
    })
    expect(await node.peers.hear(peer, blockTopic, unitOf(block))).toBe('ignore')
    expect(peer.penalties).toEqual([])
  })
})
