import { expect, it } from 'vitest'
import type { Block } from '../../../src/base/primitives/block.js'
import { buildTemplate } from '../../support/builders/template.js'
import { craft, genesisCoin, outputOf, personHash } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'
import { SeededRandom } from '../../support/builders/seeded-random.js'

const count = 40

/** A pool of transactions of any size. */
async function pooled(
  random: SeededRandom,
  limits: { blockTransactions: number; blockSize: number; blockCost: number },
) {
  const test = await TestChain.open({ validators: [], producer: 'miners', limits: { ...limits, transactionCost: 2 } })
  const outputs = Array.from({ length: count }, (_, i) => ({ to: 40 + i, value: 1_000_000n }))
  const fan = await test.send(craft(test.spec, [genesisCoin(test.chain)], outputs, [10]))
  await test.mine()
  for (let i = 0; i < count; i++) {
    const payload = { type: 3, recordType: '', content: new Uint8Array(random.below(400)) } as const
    const paid = [{ to: 30, value: 990_000n - BigInt(random.below(1000)) }]
    await test.send(craft(test.spec, [outputOf(fan, i)], paid, [40 + i], { payload }))
  }
  return test
}

const sizeOf = ({ transactions }: Block) => transactions.reduce((sum, { bytes }) => sum + bytes.length, 88)

it('a template of a share of the limits keeps to that share of each of them, down to the coinbase alone', async () => {
  const seed = Date.now() % 1_000_000
  const random = new SeededRandom(seed)
  const plans = [
    { blockTransactions: 33, blockSize: 8_000_000, blockCost: 40_000 },
    { blockTransactions: 10_000, blockSize: 16_000, blockCost: 40_000 },
    { blockTransactions: 10_000, blockSize: 8_000_000, blockCost: 32 },
  ]
  for (const limits of plans) {
    const test = await pooled(random, limits)
    const made: number[] = []
    for (const share of [1, 1 / 2, 1 / 4, random.below(1000) / 1000, 1 / 64, 2 ** -40, 0]) {
      const request = { payTo: personHash(20), time: 0, nonce: new Uint8Array(8) }
      const block = await buildTemplate(test.chain, test.mempool, request, { share })
      const what = `seed ${seed}, share ${share} of ${JSON.stringify(limits)}`
      const { length } = block.transactions
      made.push(length)
      if (length === 1) continue
      expect(length, what).toBeLessThanOrEqual(share * limits.blockTransactions)
      expect(length - 1, what).toBeLessThanOrEqual(share * limits.blockCost)
      expect(sizeOf(block), what).toBeLessThanOrEqual(share * limits.blockSize)
    }
    const [whole = 0, half = 0, quarter = 0] = made
    expect([whole > half, half > quarter, quarter > 1], `${made.join()}, seed ${seed}`).toEqual([true, true, true])
    expect(made.slice(-2), `seed ${seed}`).toEqual([1, 1])
    await test.close()
  }
})

it('a template that is not wanted any more ends where it is', async () => {
  const test = await pooled(new SeededRandom(1), { blockTransactions: 10_000, blockSize: 8_000_000, blockCost: 40_000 })
  let left = 5
  const request = { payTo: personHash(20), time: 0, nonce: new Uint8Array(8) }
  const block = await buildTemplate(test.chain, test.mempool, request, { stop: () => left-- === 0 })
  expect(block.transactions.length).toBe(1 + 5)
  await test.close()
})
