import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportBlocks } from '../../../src/ledger/chain/block-file.js'
import { checkRecentBlocks } from '../../../src/ledger/chain/check-recent-blocks.js'
import { Pruner } from '../../../src/ledger/chain/pruner.js'
import { prunedAtOnce } from '../../../src/ledger/chain/prune-chain.js'
import { readBlockBytes } from '../../../src/ledger/chain/read-body.js'
import { stateDigest, verifyChain } from '../../../src/ledger/chain/replay-chain.js'
import { verifyPruned } from '../../../src/ledger/chain/verify-pruned.js'
import { EventCursor } from '../../../src/ledger/events/event-cursor.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { Resolver } from '../../../src/answers/resolver/resolver.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { craft, craftBlock, type CraftedInput } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { type Holder, holder } from '../../support/builders/did.js'
import { keysOf, lightIn } from '../../support/builders/light-scene.js'
import { testAddress } from '../../support/builders/spec.js'
import { ask, contextOf, serve } from '../../support/client/api.js'
import { RpcClient } from '../../support/client/rpc.js'
import { eventually } from '../../support/process/patience.js'
import { inStep } from '../../support/fakes/standing.js'

/** As deep as a reorganisation goes; a node keeps more. */
const keep = 288
const length = 420
const people = [holder(), holder()]

/** A chain with transfers, coins of each kind, and two DIDs with a history below its end. */
async function opened(): Promise<{ node: TestChain; old: string }> {
  const node = await TestChain.open()
  const [ada, bob] = people as [Holder, Holder]
  const { txid: old } = await node.send(await node.transfer(testAddress(30), 5000n))
  await node.mine()
  const created = await node.publish(ada.create(), ada.did)
  await node.publish(bob.create(), bob.did)
  await node.publish(ada.update(created), ada.did)
  await node.publish(bob.deactivate(), bob.did)
  await node.publish(ada.declare(ada.issue(ada.did, { id: `${ada.did}#degree` })), ada.did)
  while (node.reader.height < length) {
    if (node.reader.height % 40 === 0) await node.send(await node.transfer(testAddress(30), 1000n))
    await node.mine()
  }
  return { node, old }
}

/** What prunes must not change: state, DIDs, coins and lists. */
async function answersOf(node: TestChain): Promise<unknown> {
  const rpc = new RpcClient(contextOf(node))
  const standing = () => inStep(node.reader.height)
  const { database, prover, clock } = node
  const resolver = new Resolver({ database, prover, clock, tip: () => node.chain.tip.header, standing })
  const dids = await Promise.all(people.map(({ did }) => resolver.resolve(did, { all: true })))
  await resolver.close()
  return {
    dids,
    state: await stateDigest(node.database),
    coins: await rpc.call('listunspent', { addresses: [testAddress(10), testAddress(20), testAddress(30)] }),
    balances: await Promise.all([10, 20, 30].map((n) => rpc.call('getreceivedbyaddress', { address: testAddress(n) }))),
    blocks: await rpc.call('listblocks', { before: 60, limit: 50 }),
    operations: await rpc.call('listdidoperations', { limit: 100 }),
    early: await rpc.call('listdidoperations', { limit: 3, before: { height: 20, index: 0 } }),
  }
}

describe('a chain that prunes', () => {
  let node: TestChain
  let old: string
  let spent: CraftedInput
  let before: unknown
  let pruned: number

  beforeAll(async () => {
    ;({ node, old } = await opened())
    before = await answersOf(node)
    spent = (await node.reader.block(node.activeHeader(1))).transactions[1]?.inputs[0] as CraftedInput
    const pruner = new Pruner({ chain: node.chain, what: 'blocks', keep, log: node.log })
    const end = length - keep
    await eventually('blocks give up their transactions', () => node.chain.prunedHeight > end - prunedAtOnce)
    await pruner.close()
    pruned = node.chain.prunedHeight
  })
  afterAll(() => node.close())

  it('gives up transactions in batches, and never of blocks that may leave the chain', async () => {
    expect(pruned).toBeGreaterThanOrEqual(prunedAtOnce)
    expect(pruned).toBeLessThanOrEqual(length - keep)
    await expect(node.chain.exclusive(({ prune }) => prune(node.reader.height - keep))).resolves.toBe(length - keep)
    pruned = length - keep
    expect(node.chain.prunes).toBe(true)
  })

  it('keeps coins, DIDs with every operation, headers and lists as they were', async () => {
    expect(await answersOf(node)).toEqual(before)
  })

  it('refuses what it gave up, and gives what it has, at every door', async () => {
    const rpc = new RpcClient(contextOf(node))
    const server = await serve(contextOf(node))
    try {
      const code = { code: -32021 }
      const [gone, kept] = [node.activeHeader(pruned).header.id, node.activeHeader(pruned + 1).header.id]
      expect(await rpc.refusal('getrawtransaction', { txid: old })).toMatchObject(code)
      expect(await rpc.refusal('getblock', { blockhash: gone, verbosity: 2 })).toMatchObject(code)
      expect(await rpc.call('getblock', { blockhash: kept, verbosity: 2 })).toMatchObject({ height: pruned + 1 })
      expect(await rpc.call('getchaininfo', {})).toMatchObject({ pruned })
      for (const path of [`transaction/${old}`, `block/details/height/${pruned}`, `block/details/hash/${gone}`]) {
        const { status, body } = await ask(server.port, `/api/v1/${path}`)
        expect({ path, status, body }).toMatchObject({ status: 404, body: { Error: 44003 } })
        expect(JSON.stringify(body)).toContain(`from height ${pruned + 1} on`)
      }
      expect(await ask(server.port, `/api/v1/block/details/height/0`)).toMatchObject({ body: { Error: 0 } })
    } finally {
      await server.close()
    }
  })

  it('replays events from the first block that it has whole', async () => {
    const log = await EventLog.open({ chain: node.chain, mempool: node.mempool, clock: node.clock })
    const from = (height: number) => new EventCursor(log, ['block'], { kind: 'height', height })
    expect(() => from(pruned)).toThrow(expect.objectContaining({ code: 'pruned' }))
    const [first] = (await from(pruned + 1).replay()) ?? []
    expect(first?.data).toMatchObject({ height: pruned + 1 })
  })

  it('lists the history of an address as far as it has it, and says so', async () => {
    const rpc = new RpcClient(contextOf(node))
    const listed = await rpc.call<{
      transactions: { height: number }[]
      first: { height: number }
      pruned: number
      next?: unknown
    }>('getaddresshistory', { address: testAddress(30), limit: 100 })
    const heights = listed.transactions.map(({ height }) => height)
    expect(heights.length).toBeGreaterThan(3)
    expect(Math.min(...heights)).toBeGreaterThan(pruned)
    expect(listed).toMatchObject({ pruned, first: { height: Math.min(...heights) } })
    expect(listed).not.toHaveProperty('next')
  })

  it('takes what was spent long ago for spent', async () => {
    const again = craft(node.spec, [spent], [{ to: 31, value: 100n }], [10])
    await expect(node.send(again)).rejects.toMatchObject({ code: 'tx-double-spend' })
  })

  it('is verified as far as that is possible, and its files of blocks are refused', async () => {
    await expect(checkRecentBlocks(node.chain, { fromHeight: 0 })).resolves.toBeUndefined()
    expect(await verifyPruned(node.chain)).toBeUndefined()
    const scratch = await TestChain.open()
    expect(await verifyChain(node.chain, scratch.chain).catch((error: Error) => error.message)).toMatch(/prunes/)
    await scratch.close()
    const written = async () => {
      for await (const piece of exportBlocks(node.chain)) void piece
    }
    await expect(written()).rejects.toMatchObject({ code: 'pruned' })
    // A row that is wrong above what it gave up is found.
    const overlay = new Overlay(node.database)
    overlay.del(tables.transaction.key(pruned + 5, 0))
    const { hash, height } = node.chain.tip.header
    await overlay.commit({ kind: 'header', height, hash }, { sync: true })
    expect(await verifyPruned(node.chain)).toMatch(/transactions of/)
  })
})

it('a chain that prunes follows a branch from as far below its tip as a reorganisation goes', async () => {
  const node = await TestChain.open()
  const other = await TestChain.open()
  try {
    const shared = await node.mine(pruneable)
    for (const block of shared) await other.accept(block)
    await node.mine(keep)
    await node.chain.exclusive(({ prune }) => prune(node.reader.height - keep))
    expect(node.chain.prunedHeight).toBe(pruneable)
    await expect(readBlockBytes(node.database, node.activeHeader(1))).rejects.toMatchObject({ code: 'pruned' })
    for (let i = 0; i <= keep; i++) {
      const block = craftBlock(other.chain)
      await other.accept(block)
      await node.accept(block)
    }
    expect(node.chain.tip.header.id).toBe(other.chain.tip.header.id)
    expect(await stateDigest(node.database)).toBe(await stateDigest(other.database))
  } finally {
    await node.close()
    await other.close()
  }
})

/** Blocks below the fork. */
const pruneable = 20

describe('a chain that prunes and whose validators change', () => {
  it('keeps the blocks that name other validators, so that light resolvers can follow', async () => {
    const upgrades = [{ height: 20, name: 'more', parameters: { validators: keysOf(7) } }]
    const node = await TestChain.open({ validators: keysOf(4), upgrades })
    const [ada] = people as [Holder, Holder]
    await node.publish(ada.create(), ada.did)
    await node.mine(keep + 30)
    const book = await bookOf(node)
    const server = await serve(contextOf(node))
    const light = () => lightIn({ server, book })
    expect(await light().resolve(ada.did)).toMatchObject({ status: 0 })
    await node.chain.exclusive(({ prune }) => prune(node.reader.height - keep))
    expect(node.chain.prunedHeight).toBe(31)
    expect(await light().resolve(ada.did)).toMatchObject({ status: 0 })
    const rpc = new RpcClient(contextOf(node))
    expect(await rpc.call('light_changes', { from: 0 })).toEqual(book.changes(0))
    expect(await rpc.refusal('light_anchor', { height: 10 })).toMatchObject({ code: -32012 })
    expect(await verifyPruned(node.chain)).toBeUndefined()
    await server.close()
    await node.close()
  })
})
