import { expect, it } from 'vitest'
import { countTransactions } from '../../../../src/ledger/mempool/transaction-count.js'
import { craft, craftBlock, genesisCoin } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'

const fee = 1000n
const rich = 100_000_000_000n

it('counts every transaction once: accepted, or first met in a block, through a reorganisation too', async () => {
  const test = await TestChain.open()
  const counter = countTransactions(test)
  const pooled = craft(test.spec, [genesisCoin(test.chain, 0)], [{ to: 30, value: rich - fee }], [10])
  const foreign = craft(test.spec, [genesisCoin(test.chain, 1)], [{ to: 31, value: 2n * rich - fee }], [11])

  await test.send(pooled)
  expect(counter.total).toBe(1)
  await expect(test.send(pooled)).rejects.toMatchObject({ code: 'tx-known' })
  expect(counter.total).toBe(1)

  // A block of somebody else: its coinbase and one of its two transactions are new.
  const genesis = test.chain.headers.get(test.chain.tip.header.hash)
  await test.accept(craftBlock(test.chain, { transactions: [pooled, foreign], fees: 2n * fee }))
  expect(counter.total).toBe(3)

  // Two blocks take its place: `foreign` comes again at once, `pooled` by way of the pool, the coinbases are new.
  if (genesis === undefined) throw new Error('genesis is not known')
  const rival = craftBlock(test.chain, { parent: genesis, transactions: [foreign], fees: fee })
  await test.accept(rival)
  expect(counter.total).toBe(3)
  const parent = test.chain.headers.get(rival.header.hash)
  if (parent === undefined) throw new Error('the rival is not known')
  expect(await test.accept(craftBlock(test.chain, { parent }))).toBe('connected')
  expect(counter.total).toBe(5)
  expect(test.mempool.get(pooled.hash)).toBeDefined()
  await test.mine()
  expect(counter.total).toBe(6)

  // What waits in the pool and is first met on a branch that takes over was counted when it was accepted.
  const again = await TestChain.open()
  const counted = countTransactions(again)
  const start = again.chain.tip
  await again.mine()
  const waits = await again.send(
    craft(again.spec, [genesisCoin(again.chain, 0)], [{ to: 30, value: rich - fee }], [10]),
  )
  expect(counted.total).toBe(2)
  const side = craftBlock(again.chain, { parent: start, transactions: [waits], fees: fee })
  await again.accept(side)
  await again.accept(craftBlock(again.chain, { parent: again.knownHeader(side.header.hash) }))
  expect([again.reader.height, again.mempool.size, counted.total]).toEqual([2, 0, 4])
})
