import { describe, expect, it } from 'vitest'
import type { Block } from '../../../../src/base/primitives/block.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'

describe('a block that is read', () => {
  it('is one whose body is stored, on the active chain or off it', async () => {
    const test = await TestChain.open()
    const [first, second] = (await test.mine(3)) as [Block, Block, Block]
    const side = craftBlock(test.chain, { parent: test.knownHeader(first.header.hash) })
    expect(await test.accept(side)).toBe('side')
    const bad = craftBlock(test.chain, { fees: 1n })
    await expect(test.accept(bad)).rejects.toMatchObject({ code: 'coinbase-value' })
    const { reader } = test
    for (const block of [first, second, side]) {
      const known = test.knownHeader(block.header.hash)
      expect(reader.headerOf(block.header.hash)).toBe(known)
      expect((await reader.block(known)).hash).toBe(block.hash)
    }
    for (const hash of [bad.header.hash, new Uint8Array(32)]) expect(reader.headerOf(hash)).toBe(undefined)

    const known = [first, second, side].map(({ header }) => test.knownHeader(header.hash))
    expect(known.map((one) => reader.confirmations(one))).toEqual([3, 2, 0])
    expect(known.map((one) => reader.nextHash(one))).toEqual([
      second.header.hash,
      test.chain.tip.header.hash,
      undefined,
    ])
    expect(reader.confirmations(test.chain.tip)).toBe(1)
    expect(reader.nextHash(test.chain.tip)).toBe(undefined)
    expect([0, 3, 4].map((height) => reader.headerAt(height)?.header.height)).toEqual([0, 3, undefined])
    await test.close()
  })
})
