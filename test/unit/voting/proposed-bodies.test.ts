import { describe, expect, it } from 'vitest'
import type { Block } from '../../../src/base/primitives/block.js'
import type { Header } from '../../../src/base/primitives/header.js'
import { checkJournal } from '../../../src/ledger/storage/care/check-journal.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { ProposedBodies } from '../../../src/voting/proposed-bodies.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'

const open = async (test: TestChain) =>
  ProposedBodies.open(test.database, () => ({ height: test.reader.height, hash: test.chain.tip.header.hash }))

describe('bodies of blocks that are voted on', () => {
  it('are there after a restart, and go with the batch that decides their height', async () => {
    const test = await TestChain.open()
    const [block, other] = [craftBlock(test.chain), craftBlock(test.chain)]
    const before = await open(test)
    await before.put(block.header, block.bytes)
    await before.put(other.header, other.bytes)
    const bodies = await open(test)
    expect(bodies.get(block.header.hash)).toEqual(Buffer.from(block.bytes))
    expect(bodies.has(craftBlock(test.chain).header.hash)).toBe(false)
    test.chain.addIndexer(bodies)
    await test.accept(block)
    expect([block, other].map(({ header }) => bodies.get(header.hash))).toEqual([undefined, undefined])
    expect(await test.database.keys({ gte: Buffer.of(0x24), lt: Buffer.of(0x25) })).toEqual([])
    await test.close()
  })

  it('go up to the highest height that is decided at once, and those above it stay', async () => {
    const test = await TestChain.open()
    const bodies = await open(test)
    const at = (height: number) => craftBlock(test.chain, { header: { height } })
    const blocks = [1, 2, 3].map(at)
    for (const { header, bytes } of blocks) await bodies.put(header, bytes)
    const staged = (...connected: Block[]) => {
      bodies.stage(new Overlay(test.database), { reorganised: false, disconnected: [], connected: connected as never })
      return blocks.map(({ header }) => bodies.has(header.hash))
    }
    expect(staged()).toEqual([true, true, true])
    expect(staged(at(1), at(2))).toEqual([false, false, true])
    await test.close()
  })

  it('are sixteen at most; what a lock needs stays', async () => {
    const test = await TestChain.open()
    const bodies = await open(test)
    const blocks = Array.from({ length: 20 }, () => craftBlock(test.chain))
    const [locked] = blocks as [(typeof blocks)[number]]
    for (const { header, bytes } of blocks) await bodies.put(header, bytes, [locked.header.hash])
    const kept = blocks.map(({ header }) => bodies.has(header.hash))
    expect(kept.filter((is) => is)).toHaveLength(16)
    expect(kept[0]).toBe(true)
    expect(kept.slice(-15).every((is) => is)).toBe(true)
    expect((await open(test)).has(locked.header.hash)).toBe(true)
    await test.close()
  })

  it('have room for 64 MiB', async () => {
    const test = await TestChain.open()
    const bodies = await open(test)
    const headers: Header[] = []
    for (let i = 0; i < 9; i++) {
      const { header } = craftBlock(test.chain)
      headers.push(header)
      await bodies.put(header, Buffer.concat([header.bytes, Buffer.alloc(8_000_000)]))
    }
    expect(headers.filter(({ hash }) => bodies.has(hash))).toHaveLength(8)
    await test.close()
  })

  it('count once, also when two bring the same one at a time', async () => {
    const test = await TestChain.open()
    const bodies = await open(test)
    const headers: Header[] = []
    for (let i = 0; i < 8; i++) {
      const { header } = craftBlock(test.chain)
      headers.push(header)
      const bytes = Buffer.concat([header.bytes, Buffer.alloc(8_000_000)])
      await Promise.all([bodies.put(header, bytes), bodies.put(header, bytes)])
    }
    expect(headers.filter(({ hash }) => bodies.has(hash))).toHaveLength(8)
    await test.close()
  })

  it('may be written after the tip has moved, and the journal still tells a whole database', async () => {
    const test = await TestChain.open()
    const tip = { height: 0, hash: test.chain.tip.header.hash }
    const bodies = await ProposedBodies.open(test.database, () => tip)
    const late = craftBlock(test.chain)
    await test.mine(1)
    await bodies.put(late.header, late.bytes)
    await expect(checkJournal(test.database)).resolves.toBeDefined()
    await test.close()
  })
})
