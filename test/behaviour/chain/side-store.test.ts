import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportBlocks, importBlocks } from '../../../src/ledger/chain/block-file.js'
import { sideBlockLimit } from '../../../src/ledger/chain/side-blocks.js'
import type { Block } from '../../../src/base/primitives/block.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'

/** A chain of 20 blocks with as many side blocks as its store holds, at height 11; the tests follow one another. */
let test: TestChain
let junk: Block[]
beforeAll(async () => {
  test = await TestChain.open()
  await test.mine(20)
  const parent = test.activeHeader(10)
  junk = Array.from({ length: sideBlockLimit }, () => craftBlock(test.chain, { parent }))
  for (const block of junk) expect(await test.chain.acceptBlock(block.bytes)).toBe('side')
})
afterAll(() => test.close())

const statusOf = (hash: Hash) => test.chain.headers.get(hash)?.status
const storedCount = async () => (await test.database.keys(tables.sideBody.range())).length
const on = (hash: Hash) => craftBlock(test.chain, { parent: test.knownHeader(hash) })

describe('a full store of side blocks', () => {
  it('refuses a block whose branch has no more work than the others', async () => {
    for (const height of [9, 10]) {
      const block = craftBlock(test.chain, { parent: test.activeHeader(height) })
      await expect(test.accept(block)).rejects.toMatchObject({ code: 'block-unsettled-full' })
      expect(statusOf(block.header.hash)).toBeUndefined()
    }
    expect(await storedCount()).toBe(sideBlockLimit)
  })

  it('takes one on a branch with more work, in place of the tip of the lightest', async () => {
    const block = craftBlock(test.chain, { parent: test.activeHeader(11) })
    expect(await test.accept(block)).toBe('side')
    const last = junk.at(-1)?.header.hash as Hash
    expect([statusOf(block.header.hash), statusOf(last), test.database.get(tables.sideBody.key(last))]).toEqual([
      'side',
      'header',
      undefined,
    ])
    expect(await storedCount()).toBe(sideBlockLimit)
  })

  it('keeps the branch that a block stands on', async () => {
    const [first, second] = junk as [Block, Block]
    const child = on(first.header.hash)
    expect(await test.accept(child)).toBe('side')
    expect([statusOf(first.header.hash), statusOf(second.header.hash)]).toEqual(['side', 'side'])
    expect(await storedCount()).toBe(sideBlockLimit)
  })

  it('gives up nothing for a block that turns out to break a rule', async () => {
    const worthless = craftBlock(test.chain, {
      parent: test.activeHeader(12),
      all: (coinbase) => [coinbase, coinbase],
    })
    const before = junk.map(({ header }) => statusOf(header.hash))
    await expect(test.accept(worthless)).rejects.toThrow()
    expect(junk.map(({ header }) => statusOf(header.hash))).toEqual(before)
  })

  it('takes a block again that had to go, once something stands on it', async () => {
    const gone = junk.at(-1) as Block
    const child = on(gone.header.hash)
    await expect(test.accept(child)).rejects.toMatchObject({ code: 'block-parent-unknown' })
    test.chain.pursue(() => ({ base: undefined, work: test.chain.tip.chainWork + 1n, has: () => true }))
    expect([await test.accept(gone), await test.accept(child)]).toEqual(['side', 'side'])
    test.chain.pursue(undefined)
    expect([statusOf(gone.header.hash), statusOf(child.header.hash)]).toEqual(['side', 'side'])
    expect(await test.accept(gone)).toBe('known')
    expect(await storedCount()).toBe(sideBlockLimit)
  })

  it('keeps a branch that was left until its transactions are back in the pool', async () => {
    // As after a stop between the reorganisation and the work of the pool.
    const leaf = junk.findLast(({ header }) => statusOf(header.hash) === 'side') as Block
    const { hash, height } = leaf.header
    const overlay = new Overlay(test.database)
    overlay.put(tables.leftBranch.key(7), tables.leftBranch.encode({ tip: { hash, height }, forkHeight: 10 }))
    const { header } = test.chain.tip
    await overlay.commit({ kind: 'header', hash: header.hash, height: header.height }, { sync: true })
    await test.accept(craftBlock(test.chain, { parent: test.activeHeader(11) }))
    expect(statusOf(hash)).toBe('side')
  })

  it('does not keep the heavier branch of a file out', async () => {
    const other = await TestChain.open()
    for (let height = 1; height <= 5; height++) await other.accept(await test.reader.block(test.activeHeader(height)))
    await other.mine(25)
    const file = exportBlocks(other.chain)
    await importBlocks(test.chain, file)
    expect(test.chain.tip.header.id).toBe(other.chain.tip.header.id)
    await other.close()
  })
})
