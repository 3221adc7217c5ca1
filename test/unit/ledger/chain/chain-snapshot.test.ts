import { expect, it, vi } from 'vitest'
import { ChainSnapshot } from '../../../../src/ledger/chain/chain-snapshot.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { TestChain } from '../../../support/builders/chain.js'

it('has the tip and the blocks of one moment, whatever comes later', async () => {
  const node = await TestChain.open()
  const mined = await node.mine(2)
  await ChainSnapshot.read(node.database, async (chain) => {
    const rival = await TestChain.open()
    for (const block of await rival.mine(4)) await node.accept(block)
    await rival.close()
    expect(node.reader.height).toBe(4)
    expect([chain.tip.height, toHex(chain.tip.hash)]).toEqual([2, toHex(mined[1]?.header.hash as Uint8Array)])
    const blocks = await chain.blocks([2, 0, 1])
    const expected = [mined[1], node.chain.genesis, mined[0]]
    expect(blocks.map(({ header }) => header.id)).toEqual(expected.map((block) => block?.hash))
    expect(blocks.map(({ size }) => size)).toEqual(expected.map((block) => block?.bytes.length))
    expect(blocks.map(({ transactionCount }) => transactionCount)).toEqual([1, 2, 1])
  })
  await node.close()
})

it('names what is missing, and gives its state back then too', async () => {
  const node = await TestChain.open()
  const closed = vi.fn()
  const freeze = node.database.freeze.bind(node.database)
  vi.spyOn(node.database, 'freeze').mockImplementation(() => {
    const rows = freeze()
    return { ...rows, close: () => (rows.close(), closed()) }
  })
  const reading = ChainSnapshot.read(node.database, (chain) => chain.blocks([0, 1]))
  await expect(reading).rejects.toThrow(/an active block is missing/)
  expect(closed).toHaveBeenCalledTimes(1)
  vi.restoreAllMocks()
  await node.close()
})
