import { describe, expect, it } from 'vitest'
import { Producer } from '../../../../src/ledger/production/producer.js'
import { craft, craftBlock, genesisCoin, personHash } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'

function producerOf(test: TestChain, time = () => Math.floor(test.clock.time / 1000)): Producer {
  const { chain, mempool } = test
  return new Producer({ chain, mempool, payTo: personHash(20), random: seededRandom(1), time })
}

describe('a producer', () => {
  it('makes one block at a time, each on top of the one before', async () => {
    const test = await TestChain.open()
    const producer = producerOf(test)
    const blocks = await Promise.all([producer.produce(), producer.produce(), producer.produce()])
    expect(blocks.map((block) => block?.header.height)).toEqual([1, 2, 3])
    expect(new Set(blocks.map((block) => block?.hash)).size).toBe(3)
    expect(test.reader.height).toBe(3)
  })

  it('gives up a block that another overtook', async () => {
    const test = await TestChain.open()
    const rival = craftBlock(test.chain)
    const producer = producerOf(test)
    const accepted = test.accept(rival)
    const produced = await producer.produce()
    await accepted
    if (produced !== undefined) expect(produced.header.height).toBe(2)
    expect(test.chain.headers.active(1)?.header.id).toBe(rival.hash)
    expect(test.log.errors).toEqual([])
  })

  it('is not harmed by a block that takes the coins of its template', async () => {
    const test = await TestChain.open()
    const value = 99_999_000_000n
    await test.send(craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value }], [10]))
    const spender = craft(test.spec, [genesisCoin(test.chain)], [{ to: 31, value }], [10])
    const rival = craftBlock(test.chain, { transactions: [spender] })
    const [produced] = await Promise.all([producerOf(test).produce(), test.accept(rival)])
    // Whichever came first, the other is on no chain or aside, and nothing of ours was found invalid.
    expect(produced === undefined ? test.chain.tip.header.id : produced.hash).toBe(test.chain.tip.header.id)
    const again = await producerOf(test).produce()
    expect(again?.header.height).toBe(2)
    expect(test.log.errors).toEqual([])
  })

  it('makes nothing any more once it is stopped', async () => {
    const test = await TestChain.open()
    const producer = producerOf(test)
    const last = producer.produce()
    await producer.close()
    await last
    const { height } = test.reader
    expect(await producer.produce()).toBe(undefined)
    expect(test.reader.height).toBe(height)
  })
})
