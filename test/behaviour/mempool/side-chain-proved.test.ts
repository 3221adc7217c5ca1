import { describe, expect, it } from 'vitest'
import { emptyChain } from '../../support/assert/row-invariants.js'
import { replay, verifyChain } from '../../../src/ledger/chain/replay-chain.js'
import { choose } from '../../../src/ledger/production/selection.js'
import { proofSize } from '../../../src/ledger/mempool/types/side-chain-policy.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { craft, craftBlock, outputOf } from '../../support/builders/blocks.js'
import { memoryStore, type Store, TestChain } from '../../support/builders/chain.js'
import { anyOrder, inOrder, proved, purse, rewind, wrapped } from '../../support/builders/side-proofs.js'
import type { SpecOverrides } from '../../support/builders/spec.js'

const opened = (overrides: SpecOverrides, store?: Store) =>
  TestChain.open(overrides, store === undefined ? {} : { store })
const open = () => opened(anyOrder)
const waiting = (test: TestChain) => [...test.mempool.entries()].map(({ transaction }) => transaction.txid)
const refused = { code: 'pool-side-chain' }

describe.each([
  ['whose blocks hold any proof', anyOrder],
  ['whose proofs rise', inOrder],
])('a proof of a side block that a chain has %s', (_, overrides) => {
  const open = (store?: Store) => opened(overrides, store)

  it('is refused in every transaction of anybody, and so is an earlier one; a later one is taken', async () => {
    const test = await open()
    const coin = await purse(test)
    await test.send(await wrapped(test, coin(), { blockHeight: 9 }))
    await test.mine()
    for (const blockHeight of [9, 8, 0]) {
      await expect(test.send(await wrapped(test, coin(), { blockHeight }))).rejects.toMatchObject(refused)
    }
    expect(waiting(test)).toEqual([])
    const later = await test.send(await wrapped(test, coin(), { blockHeight: 10 }))
    const other = await test.send(await wrapped(test, coin(), { blockHeight: 9, sideChain: 3 }))
    expect(waiting(test)).toEqual([later.txid, other.txid])
    await test.mine()
    expect([proved(test), proved(test, 3)]).toEqual([10, 9])
    await test.close()
  })

  it('leaves the pool, with what builds on it, when a block of another node brings one as late', async () => {
    for (const blockHeight of [9, 10]) {
      const test = await open()
      const coin = await purse(test)
      const pooled = await test.send(await wrapped(test, coin(), { blockHeight: 9 }))
      const child = await test.send(craft(test.spec, [outputOf(pooled)], [{ to: 31, value: 900_000n }], [30]))
      const mined = await wrapped(test, coin(), { blockHeight })
      const other = await test.send(await wrapped(test, coin(), { blockHeight: 9, sideChain: 3 }))
      await test.accept(craftBlock(test.chain, { transactions: [mined] }))
      expect(waiting(test)).toEqual([other.txid])
      for (const gone of [pooled, child]) expect(test.mempool.droppedReason(gone.hash)).toContain(mined.txid)
      await test.close()
    }
  })

  it('stays in the pool when a block brings an earlier one', async () => {
    const test = await open()
    const coin = await purse(test)
    const pooled = await test.send(await wrapped(test, coin(), { blockHeight: 9 }))
    await test.accept(craftBlock(test.chain, { transactions: [await wrapped(test, coin(), { blockHeight: 8 })] }))
    expect(waiting(test)).toEqual([pooled.txid])
    await test.mine()
    expect(proved(test)).toBe(9)
    await test.close()
  })

  it('is in no template from the turn in which the tip moves', async () => {
    const test = await open()
    const coin = await purse(test)
    const pooled = await test.send(await wrapped(test, coin(), { blockHeight: 9 }))
    const child = await test.send(craft(test.spec, [outputOf(pooled)], [{ to: 31, value: 900_000n }], [30]))
    const mined = await wrapped(test, coin(), { blockHeight: 9 })
    let chosen: readonly Transaction[] | undefined
    let held: string[] = []
    // An indexer that comes before the pool: the pool has not followed yet.
    const { follow } = test.mempool
    test.mempool.follow = async (change) => {
      held = waiting(test)
      chosen = (await choose(test.chain, test.mempool, { parent: test.chain.tip })).transactions
      await follow.call(test.mempool, change)
    }
    await test.accept(craftBlock(test.chain, { transactions: [mined] }))
    expect(held).toEqual([pooled.txid, child.txid])
    expect(chosen).toEqual([])
    expect(waiting(test)).toEqual([])
    await test.close()
  })

  it('is refused after a restart, and is dropped by one that finds it in the rows of the pool', async () => {
    const store = memoryStore()
    const first = await open(store)
    const coin = await purse(first)
    const again = await wrapped(first, coin(), { blockHeight: 9 })
    await first.send(await wrapped(first, coin(), { blockHeight: 9 }))
    await first.mine()
    const overlay = new Overlay(first.database)
    overlay.put(tables.pool.key(again.hash), tables.pool.encode({ arrival: first.clock.time, bytes: again.bytes }))
    const { hash, height } = first.chain.tip.header
    await overlay.commit({ kind: 'pool', hash, height }, { sync: true })
    await first.close()
    const test = await open(store)
    expect(waiting(test)).toEqual([])
    expect(test.mempool.droppedReason(again.hash)).toContain('pool-side-chain')
    await expect(test.send(await wrapped(test, coin(), { blockHeight: 9 }))).rejects.toMatchObject(refused)
    await test.close()
  })
})

describe('the row of a side chain', () => {
  it('is missing in a directory of an earlier version, where a proof is taken once more', async () => {
    const test = await open()
    const coin = await purse(test)
    await test.send(await wrapped(test, coin(), { blockHeight: 9 }))
    await test.mine()
    const overlay = new Overlay(test.database)
    overlay.del(tables.sideChain.key(new Uint8Array(32).fill(2)))
    const { hash, height } = test.chain.tip.header
    await overlay.commit({ kind: 'pool', hash, height }, { sync: true })
    expect(await verifyChain(test.chain, await emptyChain(test))).toBeUndefined()
    await test.send(await wrapped(test, coin(), { blockHeight: 9 }))
    await test.mine()
    await expect(test.send(await wrapped(test, coin(), { blockHeight: 9 }))).rejects.toMatchObject(refused)
    // A block of that version is taken back as it was made: without a row.
    await rewind(test, 1)
    expect(proved(test)).toBeUndefined()
    await test.close()
  })

  it('is taken back with its block, and made again by a replay', async () => {
    const test = await open()
    const coin = await purse(test)
    const heights: (number | undefined)[] = [undefined, undefined]
    // Also two of one side chain in a block, rising and falling, which another node may have put there.
    for (const proofs of [[5], [7, 6], [], [3], [8, 9]]) {
      const transactions: Transaction[] = []
      for (const blockHeight of proofs) transactions.push(await wrapped(test, coin(), { blockHeight }))
      await test.accept(craftBlock(test.chain, { transactions }))
      heights.push(proved(test))
    }
    expect(heights).toEqual([undefined, undefined, 5, 7, 7, 7, 9])
    const copy = await emptyChain(test)
    expect(await replay(test.database, copy)).toBeUndefined()
    expect(await copy.database.rows(tables.sideChain.range())).toEqual(
      await test.database.rows(tables.sideChain.range()),
    )
    for (const height of [5, 4, 3, 2, 1]) {
      await rewind(test, height)
      expect(proved(test)).toBe(heights[height])
    }
    // Without a row every proof is new again: the last one taken back waits for the next block.
    expect([...test.mempool.entries()].map(({ transaction }) => transaction.payload)).toMatchObject([
      { blockHeight: 9 },
    ])
    await test.mine()
    expect(proved(test)).toBe(9)
    await test.close()
  })

  it('that says more than the blocks is found by a verification', async () => {
    const test = await open()
    const coin = await purse(test)
    await test.send(await wrapped(test, coin(), { blockHeight: 9 }))
    await test.mine()
    expect(await verifyChain(test.chain, await emptyChain(test))).toBeUndefined()
    const overlay = new Overlay(test.database)
    overlay.put(tables.sideChain.key(new Uint8Array(32).fill(2)), tables.sideChain.encode(10))
    const { hash, height } = test.chain.tip.header
    await overlay.commit({ kind: 'pool', hash, height }, { sync: true })
    expect(await verifyChain(test.chain, await emptyChain(test))).toContain('1d')
    await test.close()
  })
})

describe('the place before all fees', () => {
  it('is for a transaction with a proof of 4,096 bytes at most', async () => {
    const test = await open()
    const coin = await purse(test)
    const most = coin()
    const size = async (attributeBytes: number) =>
      (await wrapped(test, most, { blockHeight: 9, attributeBytes })).bytes.length
    const padding = 3500 + proofSize - (await size(3500))
    const tooLong = await wrapped(test, most, { blockHeight: 9, attributeBytes: padding + 1 })
    expect([await size(padding), tooLong.bytes.length]).toEqual([4096, 4097])
    await expect(test.send(tooLong)).rejects.toMatchObject(refused)
    await test.send(await wrapped(test, most, { blockHeight: 9, attributeBytes: padding }))
    expect(waiting(test).length).toBe(1)
    await test.close()
  })
})
