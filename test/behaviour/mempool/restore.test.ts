import { describe, expect, it, type MockInstance, vi } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { Mempool } from '../../../src/ledger/mempool/mempool.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { memoryStore, oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'

const rich = 100_000_000_000n
const idsOf = (mempool: Mempool) => [...mempool.entries()].map(({ transaction }) => transaction.txid)
const pay = (test: TestChain, output: 0 | 1, to = 30) =>
  craft(test.spec, [genesisCoin(test.chain, output)], [{ to, value: rich - 1000n }], [10 + output])

/** Takes a devnet back to genesis, with this content of its pool. */
function restore(
  { chain, mempool, clock }: TestChain,
  content: readonly Transaction[],
  before: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const waiting = content.map((transaction) => ({ transaction, arrival: clock.time }))
  return chain.exclusive((writer) =>
    mempool.restore(waiting, async (part) => {
      await before()
      await writer.rewind(chain.genesis.header.hash, [part])
    }),
  )
}

describe('the content of a pool that is restored', () => {
  it('is all that it holds then and after a restart, not what its blocks or the pool before held', async () => {
    const store = memoryStore()
    const overrides = { ...oneValidator(), devnet: true }
    const test = await TestChain.open(overrides, { store })
    const mined = await test.send(pay(test, 0))
    await test.mine(2)
    const pooled = await test.send(craft(test.spec, [outputOf(mined)], [{ to: 31, value: 1000n }], [30]))
    const other = await test.send(pay(test, 1))
    await test.mempool.remove([other.hash], 'a test')
    expect(test.mempool.droppedReason(other.hash)).toBeDefined()
    await restore(test, [other])
    expect(test.reader.height).toBe(0)
    expect(idsOf(test.mempool)).toEqual([other.txid])
    expect(test.mempool.isValidOn(test.chain.tip)).toBe(true)
    for (const { hash } of [mined, pooled]) expect(test.mempool.droppedReason(hash)).toBe(undefined)
    await test.close()
    const again = await TestChain.open(overrides, { store })
    expect(idsOf(again.mempool)).toEqual([other.txid])
    expect(again.mempool.droppedReason(other.hash)).toBe(undefined)
    // It works as before: blocks take it, and what they leave is gone.
    await again.mine()
    expect(again.mempool.size).toBe(0)
    expect(await again.database.keys(tables.pool.range())).toEqual([])
    await again.close()
  })

  it('is there before anything that comes meanwhile', async () => {
    const test = await TestChain.open({ ...oneValidator(), devnet: true })
    await test.mine()
    const [restored, other] = [pay(test, 0), pay(test, 1)]
    const codes: Promise<string>[] = []
    await restore(test, [restored], async () => {
      for (const one of [pay(test, 0, 31), restored, other]) {
        const sent = test.send(one)
        codes.push(
          sent.then(
            () => 'taken',
            (error: { code: string }) => error.code,
          ),
        )
      }
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    })
    expect(await Promise.all(codes)).toEqual(['pool-replacement-fee', 'tx-known', 'taken'])
    expect(idsOf(test.mempool)).toEqual([restored.txid, other.txid])
    await test.close()
  })
})

describe('a block that is taken back', () => {
  it('returns its transactions, be it one alone', async () => {
    const test = await TestChain.open({ ...oneValidator(), devnet: true })
    await test.mine()
    const mined = await test.send(pay(test, 0))
    await test.mine()
    const target = test.activeHeader(1).header.hash
    await test.chain.exclusive((writer) => writer.rewind(target, []))
    await test.mempool.settled()
    expect(idsOf(test.mempool)).toEqual([mined.txid])
    await test.close()
  })
})

describe('the opening of a pool', () => {
  it('tells how far it is, and of how many where no branch is to be read', async () => {
    const signatures = new SignatureCache()
    const verifier = createInlineVerifier()
    const store = memoryStore()
    const test = await TestChain.open(withoutValidators, { store, signatures, verifier })
    const { chain, clock, log } = test
    const told: (number | undefined)[][] = []
    const open = () =>
      Mempool.open({ chain, clock, log, signatures, verifier, onStored: (...progress) => told.push(progress) })
    await test.send(pay(test, 0))
    await test.mine()
    await test.send(pay(test, 1))
    // A pool that is closed leaves a branch that is left to the next start.
    await test.mempool.close()
    await (await open()).close()
    expect(told).toEqual([[1, 1]])
    for (let parent = chain.headers.activeAt(0), i = 0; i < 2; i++) {
      const block = craftBlock(chain, { parent })
      await chain.acceptBlock(block.bytes)
      parent = chain.headers.known(block.header.hash)
    }
    told.length = 0
    const again = await open()
    expect(told).toEqual([
      [1, undefined],
      [2, undefined],
    ])
    expect(again.size).toBe(2)
    // What is evaluated again later is no part of the opening.
    for (let parent = chain.headers.activeAt(1), i = 0; i < 2; i++) {
      const block = craftBlock(chain, { parent })
      await chain.acceptBlock(block.bytes)
      parent = chain.headers.known(block.header.hash)
    }
    await again.settled()
    expect([told.length, again.size, again.reevaluations]).toEqual([2, 2, 4])
    await again.close()
  })
})

describe('a transaction that comes while the pool follows a block', () => {
  it('waits until what the block makes impossible is gone', async () => {
    // The one of the tests waits for turns of a clock that goes right.
    const verifier = { verifyAll: () => Promise.resolve(-1), close: () => Promise.resolve() }
    const test = await TestChain.open(undefined, { verifier })
    const outputs = Array.from({ length: 8 }, (_, i) => ({ to: 40 + i, value: 10_000_000n }))
    const fan = craft(test.spec, [genesisCoin(test.chain)], outputs, [10])
    await test.accept(craftBlock(test.chain, { transactions: [fan] }))
    const from = (indexes: readonly number[], to: number) => {
      const value = 9_000_000n * BigInt(indexes.length)
      const signers = indexes.map((index) => 40 + index)
      return craft(
        test.spec,
        indexes.map((index) => outputOf(fan, index)),
        [{ to, value }],
        signers,
      )
    }
    const pooled = await test.send(from([0, 1], 30))
    const others = from([2, 3, 4, 5, 6, 7], 31)
    const block = craftBlock(test.chain, { transactions: [others, from([0], 32)] })
    let clock: MockInstance | undefined
    test.chain.addIndexer({
      stage: () => {
        // From here on each look at the clock finds the turn over: the pool follows in as many turns as there are steps.
        let now = performance.now()
        clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10))
      },
      follow: () => Promise.resolve(),
    })
    const accepted = test.chain.acceptBlock(block.bytes)
    let turn = 0
    while (test.reader.height < 2 && turn++ < 5000) await new Promise((resolve) => setImmediate(resolve))
    expect(test.mempool.get(pooled.hash)).toBeDefined()
    const rival = await test.send(from([1], 33))
    clock?.mockRestore()
    await accepted
    await test.mempool.settled()
    expect(idsOf(test.mempool)).toEqual([rival.txid])
    expect(test.mempool.droppedReason(pooled.hash)).toBeDefined()
    await test.close()
  })
})
