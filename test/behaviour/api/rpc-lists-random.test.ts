import { describe, expect, it } from 'vitest'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import type { Block } from '../../../src/base/primitives/block.js'
import type { ApiContext } from '../../../src/answers/api/api-context.js'
import { contextOf } from '../../support/client/api.js'
import { TestChain } from '../../support/builders/chain.js'
import { Crowd, random } from '../../support/builders/random-chain.js'
import {
  activeBlocks,
  scannedBlocks,
  scannedCount,
  scannedHistory,
  scannedOperations,
} from '../../support/builders/scanned-chain.js'
import { RpcClient } from '../../support/client/rpc.js'
import { testAddress } from '../../support/builders/spec.js'

/** Shared by all chains of this file, which see the same blocks again and again. */
const signatures = new SignatureCache()
/** Rich from the start, paid by others, of the miner, and never used. */
const addresses = [10, 11, 12, 13, 20, 30].map(testAddress)

type Row = { readonly height: number; readonly index: number }
interface Page {
  readonly next?: Row
}

/** All rows of a paged list, in pages of so many as `limit` says. */
async function joined(
  rpc: RpcClient,
  method: string,
  member: string,
  params: object,
  limit: () => number,
): Promise<Row[]> {
  const rows: Row[] = []
  let before: Row | undefined
  do {
    const most = limit()
    const page: Page = await rpc.call(method, { ...params, limit: most, ...(before && { before }) })
    const found = (page as unknown as Record<string, Row[]>)[member] as Row[]
    expect(found.length).toBeLessThanOrEqual(most)
    rows.push(...found)
    before = page.next
  } while (before !== undefined)
  return rows
}

async function joinedBlocks(rpc: RpcClient, limit: () => number): Promise<object[]> {
  const rows: { height: number }[] = []
  for (;;) {
    const last = rows.at(-1)
    const params = { limit: limit(), ...(last && { before: last.height }) }
    const { blocks } = await rpc.call<{ blocks: { height: number }[] }>('listblocks', params)
    if (blocks.length === 0) return rows
    rows.push(...blocks)
  }
}

/** Holds every list of a chain against a scan of its blocks. */
async function expectLists(context: ApiContext, node: TestChain, roll: (sides: number) => number) {
  const rpc = new RpcClient(context)
  const blocks = await activeBlocks(node)
  const limit = () => 1 + roll(9)
  for (const address of addresses) {
    const found = await joined(rpc, 'getaddresshistory', 'transactions', { address }, limit)
    expect(found).toEqual(scannedHistory(blocks, address))
  }
  expect(await joined(rpc, 'listdidoperations', 'operations', {}, limit)).toEqual(scannedOperations(blocks))
  expect(await joinedBlocks(rpc, limit)).toEqual(scannedBlocks(blocks))
  const { id, height } = node.chain.tip.header
  expect(await rpc.call('countdids')).toEqual({ ...scannedCount(blocks), height, blockhash: id })
}

/** Blocks of another branch that leaves a chain `depth` below its tip, and overtakes it. */
async function rivalBranch(node: TestChain, depth: number, roll: (sides: number) => number): Promise<Block[]> {
  const rival = await TestChain.open(undefined, { signatures })
  try {
    rival.clock.time = node.clock.time
    const blocks = await activeBlocks(node)
    const fork = node.reader.height - depth
    for (const block of blocks.slice(1, fork + 1)) await rival.accept(block)
    const rivals = new Crowd(roll)
    // Some of what was mined comes again on the other branch, in other blocks.
    for (const { bytes } of blocks.slice(fork + 1).flatMap(({ transactions }) => transactions.slice(1))) {
      if (roll(2) === 0) await rival.mempool.accept(bytes, { local: false }).catch(() => {})
    }
    while (rival.reader.height <= node.reader.height) {
      rival.clock.time += 1000
      for (let i = roll(5); i > 0; i--) await rivals.act(rival)
      await rival.mine()
    }
    node.clock.time = Math.max(node.clock.time, rival.clock.time)
    return (await activeBlocks(rival)).slice(fork + 1)
  } finally {
    await rival.close()
  }
}

async function grow(node: TestChain, crowd: Crowd, roll: (sides: number) => number, blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    for (let acts = 1 + roll(5); acts > 0; acts--) await crowd.act(node)
    node.clock.time += 1000
    await node.mine()
  }
}

describe('lists of a random chain', () => {
  it.each([1, 2])('are what a scan of its blocks says, also after reorganisations (seed %i)', async (seed) => {
    const roll = random(seed)
    const node = await TestChain.open(undefined, { signatures })
    const crowd = new Crowd(roll)
    const context = contextOf(node)
    for (let round = 0; round < 3; round++) {
      await grow(node, crowd, roll, 7)
      for (const block of await rivalBranch(node, 1 + roll(6), roll)) await node.accept(block)
      crowd.look(node)
      await expectLists(context, node, roll)
    }
    // Pages that end early, because of the blocks or the bytes that they examine, leave nothing out.
    await expectLists({ ...context, limits: { pageBlocks: 3, pageBytes: 1000 } }, node, roll)
    await expectLists({ ...context, limits: { pageBlocks: 1, pageBytes: 1 } }, node, roll)
    expect(node.log.errors).toEqual([])
    await node.close()
  })

  it('are of one state while a reorganisation of many batches goes on', async () => {
    const roll = random(7)
    const node = await TestChain.open(undefined, { signatures, reorganisationBytes: 1 })
    const crowd = new Crowd(roll)
    await grow(node, crowd, roll, 12)
    const states = [await activeBlocks(node)]
    const branch = await rivalBranch(node, 8, roll)
    for (const block of branch.slice(0, -1)) await node.accept(block)
    const rpc = new RpcClient(contextOf(node))
    const answers: [history: unknown, operations: unknown, blocks: unknown, count: unknown][] = []
    let done = false
    const last = node.accept(branch.at(-1) as Block).then(() => (done = true))
    while (!done) {
      answers.push(
        await Promise.all([
          rpc.call('getaddresshistory', { address: testAddress(10), limit: 100 }),
          rpc.call('listdidoperations', { limit: 100 }),
          rpc.call('listblocks', { limit: 100 }),
          rpc.call('countdids'),
        ]),
      )
    }
    await last
    states.push(await activeBlocks(node))
    const expected = states.map((blocks) => {
      const { height, id: blockhash } = (blocks.at(-1) as Block).header
      const transactions = scannedHistory(blocks, testAddress(10)) as { height: number; index: number; time: number }[]
      const [first, last] = [transactions.at(-1), transactions[0]].map((row) => ({
        ...{ height: row?.height, index: row?.index, time: row?.time },
      }))
      return [
        { address: testAddress(10), transactions, first, last },
        { operations: scannedOperations(blocks) },
        { height, blocks: scannedBlocks(blocks) },
        { ...scannedCount(blocks), height, blockhash },
      ]
    })
    // Few enough for one page, and something else on each branch.
    expect(expected[0]).not.toEqual(expected[1])
    for (const answer of answers) {
      for (const [i, list] of answer.entries()) expect(expected.map((state) => state[i])).toContainEqual(list)
    }
    await node.close()
  })
})
