import { describe, expect, it } from 'vitest'
import { bodyMatches, matchBody } from '../../../../src/ledger/chain/match-body.js'
import { auxPowBytes } from '../../../../src/base/primitives/auxpow.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { craft, craftBlock, genesisCoin, solved } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'

const test = await TestChain.open()
const { sanity } = test.chain
const transfer = craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value: 1000n }], [10])
const block = craftBlock(test.chain, { transactions: [transfer] })

describe('bytes of a block', () => {
  it('are those of its header: all transactions with their programs, and its work', async () => {
    expect(await bodyMatches(block.bytes, sanity)).toBe(true)
    const changed = Uint8Array.from(block.bytes)
    // The last byte is of a program.
    changed[changed.length - 1] = (changed.at(-1) as number) ^ 1
    expect(await bodyMatches(changed, sanity)).toBe(false)
    await expect(matchBody(changed, sanity)).rejects.toMatchObject({ code: 'coinbase-witness-root' })
    const fewer = new Block(block.header, block.auxPow, block.transactions.slice(0, 1))
    await expect(matchBody(fewer.bytes, sanity)).rejects.toMatchObject({ code: 'block-merkle-root' })
  })

  it('begin with a coinbase', async () => {
    for (const all of [() => [transfer], (coinbase: Block['transactions'][number]) => [transfer, coinbase]]) {
      const { bytes } = craftBlock(test.chain, { all })
      await expect(matchBody(bytes, sanity)).rejects.toMatchObject({ code: 'block-coinbase-position' })
    }
  })

  it('are those of the block that is expected; work that was verified is not verified again', async () => {
    const { hash } = block.header
    expect((await matchBody(block.bytes, sanity, { hash })).hash).toBe(block.hash)
    const withheld = matchBody(block.bytes, sanity, { hash: new Uint8Array(32) })
    await expect(withheld).rejects.toMatchObject({ code: 'peer-withheld' })
    const idle = new Block(block.header, solved(block.header, false), block.transactions)
    await expect(matchBody(idle.bytes, sanity, { hash })).rejects.toMatchObject({ code: 'auxpow-work' })
    const auxPow = auxPowBytes(block.auxPow)
    await expect(matchBody(idle.bytes, sanity, { hash, auxPow })).rejects.toMatchObject({ code: 'auxpow-work' })
    expect((await matchBody(idle.bytes, sanity, { hash, auxPow: auxPowBytes(idle.auxPow) })).hash).toBe(block.hash)
    expect((await matchBody(block.bytes, sanity, { hash, auxPow })).hash).toBe(block.hash)
  })
})
