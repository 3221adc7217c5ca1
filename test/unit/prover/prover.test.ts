import { afterEach, describe, expect, it } from 'vitest'
import { chainProver } from '../../../src/node/chain-prover.js'
import { maxHeaders } from '../../../src/proofs/work.js'
import { craftBlock, largeCoinbase } from '../../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { changing, keysOf } from '../../support/builders/light-scene.js'
import type { SpecOverrides } from '../../support/builders/spec.js'

const opened: TestChain[] = []
afterEach(async () => {
  for (const chain of opened.splice(0)) await chain.close()
})

async function open(overrides: SpecOverrides = { validators: keysOf(1) }): Promise<TestChain> {
  const test = await TestChain.open(overrides)
  opened.push(test)
  return test
}

const tipOf = ({ chain }: TestChain) => chain.tip.header
const unavailable = (said: string) => ({ code: 'proof-unavailable', message: expect.stringContaining(said) as string })

/** A block that is no anchor. */
async function mineLarge(test: TestChain): Promise<void> {
  await test.accept(craftBlock(test.chain, { coinbase: largeCoinbase(test.chain) }))
}

describe('the block as of which is proved', () => {
  it('is the tip, or six blocks below on a chain without validators', async () => {
    for (const [overrides, depth] of [
      [{ validators: keysOf(1) }, 0],
      [withoutValidators, 6],
    ] as const) {
      const test = await open(overrides)
      await test.mine(9)
      expect(await test.prover.block(tipOf(test), {})).toMatchObject({ height: 9 - depth })
      expect(await test.prover.block(tipOf(test), { depth: 2 })).toMatchObject({ height: 7 })
      expect(await test.prover.block(tipOf(test), { height: 4 })).toMatchObject({ height: 4 })
      await expect(test.prover.block(tipOf(test), { height: 10 })).rejects.toMatchObject(
        unavailable('this node proves blocks 1 to 9, not the one of height 10'),
      )
    }
  })

  it('is the newest one below where the coinbase of that one is too large', async () => {
    const test = await open()
    await test.mine(2)
    await mineLarge(test)
    expect(await test.prover.block(tipOf(test), {})).toMatchObject({ height: 2 })
    expect(await test.prover.change(tipOf(test), {})).toMatchObject({ height: 3 })
    await expect(test.prover.block(tipOf(test), { height: 3 })).rejects.toMatchObject(
      unavailable('block 3 is no anchor: its coinbase is too large, or its confirm missing'),
    )
    await test.mine()
    expect(await test.prover.block(tipOf(test), {})).toMatchObject({ height: 4 })
    expect(await test.prover.block(tipOf(test), { depth: 1 })).toMatchObject({ height: 2 })
  })

  it('is none where no block has an anchor', async () => {
    const test = await open()
    await mineLarge(test)
    await expect(test.prover.block(tipOf(test), {})).rejects.toMatchObject(
      unavailable('this node proves blocks 1 to 1, not the one 0 blocks below the tip'),
    )
  })
})

describe('changes of validators', () => {
  it('end before a block that is no anchor, and are refused where it is the first', async () => {
    const test = await open(changing)
    const book = async () => (await bookOf(test)).changes(0).changes
    // The validators change at 4 and at 8.
    await test.mine(6)
    await mineLarge(test)
    await test.mine(2)
    const [first] = await book()
    expect(await test.prover.changes(tipOf(test), 0)).toMatchObject({ changes: [first], more: false })
    await expect(test.prover.changes(tipOf(test), 4)).rejects.toMatchObject(
      unavailable('block 7, which names other validators, has no anchor here'),
    )
    expect(await test.prover.changes(tipOf(test), 8)).toMatchObject({ changes: [], more: false })
  })
})

describe('headers', () => {
  it('are those asked for, as far as there are any', async () => {
    const test = await open(withoutValidators)
    await test.mine(5)
    const book = await bookOf(test)
    expect(await test.prover.headers(2, 2)).toEqual(book.headers(2, 2))
    expect(await test.prover.headers(4, maxHeaders + 1)).toEqual(book.headers(4, 2))
    expect(await test.prover.headers(6, 1)).toEqual([])
  })
})

describe('a chain whose blocks commit to nothing', () => {
  it('has neither proofs nor a trust root', async () => {
    const test = await open({ ...withoutValidators, didRoot: undefined })
    await test.mine()
    const prover = chainProver(test.chain)
    await expect(prover.block(tipOf(test), {})).rejects.toMatchObject(unavailable('none ever will'))
    await expect(prover.changes(tipOf(test), 0)).rejects.toMatchObject(unavailable('none ever will'))
    expect(() => prover.trust()).toThrow('no block of this chain commits to the state of all DIDs')
  })
})
