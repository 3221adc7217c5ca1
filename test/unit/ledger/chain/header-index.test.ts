import { describe, expect, it } from 'vitest'
import { HeaderIndex } from '../../../../src/ledger/chain/header-index.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { Header, type HeaderFields } from '../../../../src/base/primitives/header.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'

const fieldsOf = ({ version, previous, merkleRoot, time, bits, nonce, height }: Header): HeaderFields => {
  return { version, previous, merkleRoot, time, bits, nonce, height }
}

describe('the headers', () => {
  it('give the ancestors of a block on whichever branch it stands', async () => {
    const test = await TestChain.open()
    const { chain } = test
    await test.mine(4)
    const fork = chain.headers.active(2)
    if (fork === undefined) throw new Error('no block at height 2')
    const side = craftBlock(chain, { parent: fork })
    await test.accept(side)
    const known = chain.headers.get(side.header.hash)
    if (known === undefined) throw new Error('the side block is not known')
    const { parent, at } = chain.headers.ancestry(known)
    expect(parent.height).toBe(3)
    expect((at(3) as typeof known.header).id).toBe(side.hash)
    expect((at(3) as typeof known.header).id).not.toBe(chain.headers.active(3)?.header.id)
    expect((at(2) as typeof known.header).id).toBe(fork.header.id)
    expect((at(0) as typeof known.header).id).toBe(chain.genesis.hash)
  })

  it('say of which block an ancestor is gone', async () => {
    const test = await TestChain.open()
    await test.mine(4)
    const gone = tables.header.key(test.activeHeader(2).header.hash)
    const headers = new HeaderIndex({ get: (key) => (gone.equals(key) ? undefined : test.database.get(key)) })
    const { header } = test.chain.tip
    const { at } = headers.ancestry(test.chain.tip)
    expect(at(3).height).toBe(3)
    expect(() => at(2)).toThrow(`an ancestor of ${header.id} at height 2 is gone`)
    expect(() => headers.ancestry({ ...test.activeHeader(3), status: 'side' }).at(1)).toThrow(/at height 1 is gone/)
  })

  it('are read again after their records changed', async () => {
    const test = await TestChain.open()
    const genesis = test.chain.tip
    const first = craftBlock(test.chain)
    await test.accept(first)
    expect(test.chain.headers.get(first.header.hash)?.status).toBe('active')
    let parent = genesis
    for (let i = 0; i < 2; i++) {
      const block = craftBlock(test.chain, { parent })
      await test.accept(block)
      parent = test.chain.headers.get(block.header.hash) as typeof parent
    }
    expect(test.chain.headers.get(first.header.hash)?.status).toBe('side')
    expect(test.chain.headers.active(1)?.status).toBe('active')
    expect(parent.header.id).toBe(test.chain.tip.header.id)
  })

  it('stay right when there are more than the cache holds', async () => {
    const test = await TestChain.open()
    await test.mine(3)
    const reads: string[] = []
    const rows = {
      get: (key: Buffer) => {
        reads.push(key.toString('hex'))
        return test.database.get(key)
      },
    }
    const headers = new HeaderIndex(rows)
    const { hash } = test.chain.tip.header
    headers.get(hash)
    headers.get(hash)
    expect(reads).toHaveLength(1)
    headers.forget([hash])
    expect(headers.get(hash)?.header.id).toBe(test.chain.tip.header.id)
    expect(reads).toHaveLength(2)
    expect(headers.get(new Uint8Array(32))).toBe(undefined)
  })

  it('know the rival of a header: another active block on the same parent', async () => {
    const test = await TestChain.open()
    await test.mine(3)
    const { headers } = test.chain
    const [below, active, above] = [1, 2, 3].map((height) => test.activeHeader(height).header) as [
      Header,
      Header,
      Header,
    ]
    const other = new Header({ ...fieldsOf(active), nonce: active.nonce + 1 })
    expect(headers.rivalOf(other)?.header.id).toBe(active.id)
    expect(headers.rivalOf(active)).toBe(undefined)
    expect(headers.rivalOf(new Header({ ...fieldsOf(other), previous: above.hash }))).toBe(undefined)
    expect(headers.rivalOf(new Header({ ...fieldsOf(other), previous: active.hash, height: 4 }))).toBe(undefined)
    const genesis = test.chain.genesis.header
    expect(headers.rivalOf(new Header({ ...fieldsOf(genesis), nonce: 9 }))).toBe(undefined)
    expect(headers.rivalOf(new Header({ ...fieldsOf(below), nonce: 9 }))?.header.id).toBe(below.id)
  })

  it('are settled once their block is stored or known to be invalid', async () => {
    const test = await TestChain.open()
    const bad = craftBlock(test.chain, { fees: 1n })
    await expect(test.accept(bad)).rejects.toMatchObject({ code: 'coinbase-value' })
    const { headers } = test.chain
    expect([test.chain.genesis.header.hash, bad.header.hash].map((hash) => headers.isSettled(hash))).toEqual([
      true,
      true,
    ])
    expect(headers.isSettled(new Uint8Array(32))).toBe(false)
    const row = tables.header.encode({ ...test.chain.tip, header: test.chain.tip.header.bytes, status: 'header' })
    expect(new HeaderIndex({ get: () => row }).isSettled(bad.header.hash)).toBe(false)
  })

  it('are all read again once the memory is cleared', async () => {
    const test = await TestChain.open()
    let reads = 0
    const headers = new HeaderIndex({ get: (key) => (reads++, test.database.get(key)) })
    for (let i = 0; i < 3; i++) {
      headers.clear()
      headers.get(test.chain.tip.header.hash)
    }
    expect(reads).toBe(3)
  })

  it('give way to others in memory, the oldest first', async () => {
    const test = await TestChain.open()
    const row = test.database.get(tables.header.key(test.chain.genesis.header.hash)) as Buffer
    let reads = 0
    const headers = new HeaderIndex({ get: () => (reads++, row) })
    const hash = (number: number) => {
      const bytes = Buffer.alloc(32)
      bytes.writeUInt32LE(number)
      return bytes
    }
    const count = 10_000
    for (let number = 0; number < count; number++) headers.get(hash(number))
    headers.get(hash(count - 1))
    expect(reads).toBe(count)
    headers.get(hash(0))
    expect(reads).toBe(count + 1)
  })
})
