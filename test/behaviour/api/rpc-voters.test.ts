import { afterEach, describe, expect, it } from 'vitest'
import type { Block } from '../../../src/base/primitives/block.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { confirmBytes } from '../../../src/base/primitives/confirm.js'
import { contextOf } from '../../support/client/api.js'
import { type ConfirmPlan, craftBlock, craftConfirm } from '../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { type SpecOverrides, testPublicKey } from '../../support/builders/spec.js'
import { RpcClient } from '../../support/client/rpc.js'

interface Voters {
  readonly validators: readonly (readonly string[])[]
  readonly heights: readonly { readonly height: number; readonly set: number }[]
}

const keysOf = (count: number) => Array.from({ length: count }, (_, person) => toHex(testPublicKey(person)))
const chains: TestChain[] = []
const open = async (overrides: SpecOverrides) => {
  const node = await TestChain.open(overrides)
  chains.push(node)
  return node
}
afterEach(async () => {
  for (const node of chains.splice(0)) await node.close()
})

/** Blocks confirmed by test persons, as each plan says. */
async function confirmed(node: TestChain, plans: readonly ConfirmPlan[]): Promise<void> {
  for (const plan of plans) {
    const block = craftBlock(node.chain)
    await node.chain.acceptBlock(block.bytes, confirmBytes(craftConfirm(node.spec, block, plan)))
  }
}

describe('listvoters', () => {
  it('tells who proposed, in which view, and who voted, with each set of validators once', async () => {
    const node = await open({
      validators: keysOf(4),
      upgrades: [
        { height: 3, name: 'more', parameters: { validators: keysOf(7) } },
        { height: 5, name: 'fewer', parameters: { validators: keysOf(4) } },
      ],
    })
    await confirmed(node, [
      {},
      { view: 3, voters: [3, 1, 0] },
      { voters: [6, 2, 3, 4, 5] },
      { view: 1 },
      { voters: [0, 1, 2] },
    ])
    const rpc = new RpcClient(contextOf(node))
    const row = (height: number, set: number, view: number, count: number, voters: number[]) => {
      return { height, set, view, proposer: keysOf(count)[(height + view) % count], voters }
    }
    const heights = [
      row(1, 0, 0, 4, [0, 1, 2, 3]),
      row(2, 0, 3, 4, [0, 1, 3]),
      row(3, 1, 0, 7, [2, 3, 4, 5, 6]),
      row(4, 1, 1, 7, [0, 1, 2, 3, 4, 5, 6]),
      row(5, 0, 0, 4, [0, 1, 2]),
    ]
    expect(await rpc.call('listvoters')).toEqual({ validators: [keysOf(4), keysOf(7)], heights })
    const later = { validators: [keysOf(7)], heights: [heights[3]].map((entry) => ({ ...entry, set: 0 })) }
    expect(await rpc.call('listvoters', { from: 4, to: 4 })).toEqual(later)
    expect(await rpc.call('listvoters', [0, 2])).toEqual({ validators: [keysOf(4)], heights: heights.slice(0, 2) })
    const { blocks } = await rpc.call<{ blocks: object[] }>('listblocks', { before: 3 })
    expect(blocks).toMatchObject([
      { height: 2, proposer: keysOf(4)[1], view: 3 },
      { height: 1, proposer: keysOf(4)[1], view: 0 },
      { height: 0 },
    ])
    expect(blocks[2]).not.toHaveProperty('proposer')
    expect(blocks[2]).not.toHaveProperty('view')
  })

  it('shows the last hundred heights, or a hundred from one on, up to the tip', async () => {
    const node = await open(oneValidator())
    await node.mine(104)
    const rpc = new RpcClient(contextOf(node))
    const range = async (params: object) => {
      const { heights } = await rpc.call<Voters>('listvoters', params)
      return [heights[0]?.height, heights.at(-1)?.height, heights.length]
    }
    expect(await range({})).toEqual([5, 104, 100])
    expect(await range({ to: 103 })).toEqual([4, 103, 100])
    expect(await range({ to: 50 })).toEqual([1, 50, 50])
    expect(await range({ from: 2 })).toEqual([2, 101, 100])
    expect(await range({ from: 100 })).toEqual([100, 104, 5])
    expect(await range({ from: 100, to: 199 })).toEqual([100, 104, 5])
    expect(await rpc.call('listvoters', { from: 105 })).toEqual({ validators: [], heights: [] })
    expect(await rpc.call('listvoters', { from: 0, to: 0 })).toEqual({ validators: [], heights: [] })
    expect(await rpc.call('listvoters', { from: 0xffffffff, to: 0xffffffff })).toMatchObject({ heights: [] })
  })

  it('refuses a range that is none, or too long', async () => {
    const node = await open(oneValidator())
    const rpc = new RpcClient(contextOf(node))
    expect(await rpc.refusal('listvoters', { from: 5, to: 4 })).toMatchObject({
      code: -32602,
      data: 'from: 5 is above to, 4',
    })
    expect(await rpc.refusal('listvoters', { from: 0, to: 100 })).toMatchObject({
      code: -32602,
      data: 'to: 101 heights from 0 on, at most 100',
    })
    expect(await rpc.refusal('listvoters', { from: 0, to: 0xffffffff })).toMatchObject({ code: -32602 })
    expect(await rpc.call('listvoters', { from: 0, to: 99 })).toEqual({ validators: [], heights: [] })
  })

  it('has nothing on a chain without validators', async () => {
    const node = await open({ validators: [], producer: 'miners' })
    await node.mine(2)
    const rpc = new RpcClient(contextOf(node))
    expect(await rpc.call('listvoters')).toEqual({ validators: [], heights: [] })
    expect(await rpc.call('listvoters', { from: 1, to: 2 })).toEqual({ validators: [], heights: [] })
  })

  it('leaves out confirms that were assumed to be valid and do not hold', async () => {
    const source = await open(oneValidator())
    const blocks = await source.mine(5)
    const node = await open(oneValidator())
    const forged = (block: Block) => {
      const confirm = Uint8Array.from(source.confirmFor(block) as Uint8Array)
      if ([2, 3, 5].includes(block.header.height)) confirm[confirm.length - 1]! ^= 1
      return { block: block.bytes, confirm }
    }
    await node.chain.acceptBlocks(blocks.map(forged), { assumed: true })
    const rpc = new RpcClient(contextOf(node))
    for (let i = 0; i < 2; i++) {
      const { heights } = await rpc.call<Voters>('listvoters')
      expect(heights.map(({ height }) => height)).toEqual([1, 4])
    }
    const { blocks: listed } = await rpc.call<{ blocks: { height: number; proposer?: string }[] }>('listblocks')
    const proposed = listed.filter(({ proposer }) => proposer !== undefined)
    expect(proposed.map(({ height }) => height)).toEqual([4, 1])
    expect(listed).toHaveLength(6)
  })
})
