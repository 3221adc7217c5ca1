import { describe, expect, it } from 'vitest'
import { auxPowBytes } from '../../../../src/base/primitives/auxpow.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { confirmBytes } from '../../../../src/base/primitives/confirm.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import type { Transaction } from '../../../../src/base/primitives/transaction.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { meta, tables } from '../../../../src/ledger/storage/rows/tables.js'
import { craft, craftBlock, craftConfirm, genesisCoin, solved } from '../../../support/builders/blocks.js'
import { memoryStore, oneValidator, TestChain } from '../../../support/builders/chain.js'
import { faultOf } from '../../../support/assert/row-invariants.js'
import { testSpec } from '../../../support/builders/spec.js'

const rich = 100_000_000_000n

/** Every row but those of the journal, as text. */
async function contents({ database }: TestChain): Promise<string[]> {
  const rows: string[] = []
  for await (const [key, value] of database.scan({})) {
    if (key[0] !== 1) rows.push(`${key.toString('hex')} ${value.toString('hex')}`)
  }
  return rows
}

/** A block of one transfer and the confirm of all four validators, as they come over a wire. */
async function confirmed(): Promise<{ test: TestChain; block: Block; confirm: Uint8Array }> {
  const test = await TestChain.open({})
  const transfer = craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value: rich - 1000n }], [10])
  const block = craftBlock(test.chain, { transactions: [transfer], fees: 1000n })
  return { test, block, confirm: confirmBytes(craftConfirm(test.spec, block)) }
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[at] = (copy[at] as number) ^ 1
  return copy
}

describe('a block as bytes', () => {
  const headerSize = 84
  /** Where things stand in the AuxPow of a block that is its own parent. */
  const script = 4 + 1 + 36 + 1
  /** After the coinbase: the parent hash, the branch and the coinbase index. */
  const auxPowPlaces = (block: Block) => {
    const coinbase = block.auxPow.coinbase.bytes.length
    const end = auxPowBytes(block.auxPow).length
    return {
      'coinbase script, the magic': [script, 'auxpow-parent'],
      'coinbase script, the hash': [script + 10, 'auxpow-parent'],
      'parent hash': [coinbase, 'auxpow-index'],
      'coinbase index': [coinbase + 33, 'auxpow-index'],
      'aux index': [coinbase + 33 + 4 + 1, 'auxpow-index'],
      'merkle root': [end - 80 + 36, 'auxpow-parent'],
    } as const
  }

  it.each([
    'coinbase script, the magic',
    'coinbase script, the hash',
    'parent hash',
    'coinbase index',
    'aux index',
    'merkle root',
  ] as const)('is refused with another byte of its AuxPow (%s), and accepted without', async (place) => {
    const { test, block, confirm } = await confirmed()
    const [at, code] = auxPowPlaces(block)[place]
    const before = await contents(test)
    await expect(test.chain.acceptBlock(flipped(block.bytes, headerSize + at), confirm)).rejects.toMatchObject({ code })
    expect(await contents(test)).toEqual(before)
    expect(await test.chain.acceptBlock(block.bytes, confirm)).toBe('connected')
    expect(await faultOf(test)).toBe(undefined)
  })

  it('is refused with one vote of its confirm altered, and accepted without', async () => {
    const { test, block, confirm } = await confirmed()
    const before = await contents(test)
    const voteSize = 132
    const proposalSize = confirm.length - 8 - 4 * voteSize
    const vote = proposalSize + 8 + 2 * voteSize
    const places = {
      'confirm-signature': vote + voteSize - 1,
      'confirm-vote': vote + 3,
      'confirm-signer': vote + 32 + 1 + 5,
    }
    for (const [code, at] of Object.entries(places)) {
      await expect(test.chain.acceptBlock(block.bytes, flipped(confirm, at))).rejects.toMatchObject({ code })
    }
    const rejecting = flipped(confirm, vote + 32 + 34)
    await expect(test.chain.acceptBlock(block.bytes, rejecting)).rejects.toMatchObject({ code: 'confirm-vote' })
    const proposal = flipped(confirm, proposalSize - 1)
    await expect(test.chain.acceptBlock(block.bytes, proposal)).rejects.toMatchObject({ code: 'confirm-signature' })
    const another = flipped(confirm, 1 + 33 + 3)
    await expect(test.chain.acceptBlock(block.bytes, another)).rejects.toMatchObject({ code: 'confirm-block' })
    expect(await contents(test)).toEqual(before)
    expect(await test.chain.acceptBlock(block.bytes, confirm)).toBe('connected')
    expect(test.reader.confirm(block.header.hash)?.votes).toHaveLength(4)
  })

  it('is refused with its coinbase altered, and accepted without', async () => {
    const { test, block, confirm } = await confirmed()
    const before = await contents(test)
    const coinbase = block.transactions[0] as Transaction
    const start = block.bytes.length - block.transactions.reduce((sum, tx) => sum + tx.bytes.length, 0)
    // From the end of the coinbase: no programs, the lockTime, then its one output.
    const end = start + coinbase.bytes.length
    const places = { value: end - 1 - 4 - 21 - 4 - 8, 'program hash': end - 1 - 4 - 20, attribute: start + 20 }
    for (const at of Object.values(places)) {
      const refused = expect(test.chain.acceptBlock(flipped(block.bytes, at), confirm)).rejects
      await refused.toMatchObject({ code: 'block-merkle-root' })
    }
    expect(await contents(test)).toEqual(before)
    expect(await test.chain.acceptBlock(block.bytes, confirm)).toBe('connected')
  })

  it('never has its hash marked for a body that is not its own', async () => {
    const test = await TestChain.open()
    const transfer = craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value: rich - 1000n }], [10])
    const block = craftBlock(test.chain, { transactions: [transfer], fees: 1000n })
    // The last byte belongs to a program, which the txid does not cover: only the witness root tells.
    const mutated = flipped(block.bytes, block.bytes.length - 1)
    await expect(test.accept(block).then(() => test.chain.acceptBlock(mutated))).resolves.toBe('known')
    const other = await TestChain.open()
    await expect(other.chain.acceptBlock(mutated)).rejects.toMatchObject({ code: 'coinbase-witness-root' })
    expect(other.chain.headers.get(block.header.hash)).toBe(undefined)
    expect(await other.accept(block)).toBe('connected')
  })

  it('has its hash marked when a body of its own breaks a rule, and only without validators', async () => {
    const test = await TestChain.open()
    const bad = craftBlock(test.chain, { fees: 1n })
    await expect(test.accept(bad)).rejects.toMatchObject({ code: 'coinbase-value' })
    expect(test.chain.headers.get(bad.header.hash)?.status).toBe('invalid')
    expect(test.reader.headerOf(bad.header.hash)).toBe(undefined)
    const { test: strict } = await confirmed()
    const refused = craftBlock(strict.chain, { fees: 1n })
    const confirm = confirmBytes(craftConfirm(strict.spec, refused))
    const code = 'coinbase-value'
    await expect(strict.chain.acceptBlock(refused.bytes, confirm)).rejects.toMatchObject({ code })
    expect(strict.chain.headers.get(refused.header.hash)).toBe(undefined)
  })

  it('is stale below the tip where validators confirm blocks, also with a confirm that holds', async () => {
    const test = await TestChain.open(oneValidator())
    const rival = craftBlock(test.chain)
    const before = test.chain.tip
    await test.mine()
    const after = craftBlock(test.chain, { parent: before })
    const tip = test.chain.tip.header.id
    for (const late of [rival, after]) {
      await expect(test.accept(late)).rejects.toMatchObject({ code: 'block-stale' })
      expect(test.chain.headers.get(late.header.hash)).toBe(undefined)
    }
    expect(test.chain.tip.header.id).toBe(tip)
    expect(await test.accept(craftBlock(test.chain))).toBe('connected')
  })

  it('is not marked for a time that will be right later', async () => {
    const test = await TestChain.open()
    const block = craftBlock(test.chain, { header: { time: test.clock.time / 1000 + 7300 } })
    await expect(test.accept(block)).rejects.toMatchObject({ code: 'block-time-future' })
    test.clock.time += 200_000
    expect(await test.accept(block)).toBe('connected')
  })
})

describe('the chain', () => {
  it('opens again where it was', async () => {
    const store = memoryStore()
    const test = await TestChain.open(undefined, { store })
    await test.mine(3)
    const { tip } = test.chain
    await test.close()
    const closed = await Database.over(store)
    // It ended at a clean point: nothing of it has to be looked at again.
    const { kind, height } = tables.journal.decode(closed.get(tables.journal.key(closed.sequence)) as Buffer)
    expect([kind, height]).toEqual(['checkpoint', 3])
    await closed.close()
    const again = await TestChain.open(undefined, { store })
    expect(again.chain.tip.header.id).toBe(tip.header.id)
    expect(again.chain.tip.chainWork).toBe(tip.chainWork)
    await again.mine()
    expect(again.reader.height).toBe(4)
    expect(await faultOf(again)).toBe(undefined)
  })

  it('tells followers within the batch and listeners after it', async () => {
    const test = await TestChain.open()
    const told: string[] = []
    test.chain.addIndexer({
      stage: (_, { connected }) => void told.push(`stage ${test.reader.height} ${connected.length}`),
      follow: ({ disconnected }) => {
        told.push(`follow ${test.reader.height} ${disconnected.length}`)
        return Promise.resolve()
      },
    })
    test.chain.events.on('change', () => told.push(`change ${test.reader.height}`))
    await test.mine()
    expect(told).toEqual(['stage 0 1', 'follow 1 0', 'change 1'])
  })

  it('checks a block once that is prepared more than once', async () => {
    const test = await TestChain.open()
    const { bytes } = craftBlock(test.chain)
    const block = await test.chain.prepare(bytes)
    expect(await test.chain.prepare(bytes, () => false)).toBe(block)
    const other = test.chain.prepare(craftBlock(test.chain).bytes, () => false)
    await expect(other).rejects.toMatchObject({ code: 'busy' })
    await test.close()
  })

  it('prepares no block that breaks a rule of its header, and none off the tip', async () => {
    const test = await TestChain.open()
    const prepare = (block: Block) => test.chain.prepare(block.bytes)
    const early = craftBlock(test.chain, { header: { time: test.clock.time / 1000 + 7300 } })
    await expect(prepare(early)).rejects.toMatchObject({ code: 'block-time-future' })
    const { header, transactions } = craftBlock(test.chain)
    const cheap = new Block(header, solved(header, false), transactions)
    await expect(prepare(cheap)).rejects.toMatchObject({ code: 'auxpow-work' })
    const rival = craftBlock(test.chain)
    await test.mine()
    await expect(prepare(rival)).rejects.toMatchObject({ code: 'block-stale' })
    await test.close()
  })

  it('tells which block of a run broke a rule, also where no one before it connects', async () => {
    for (const overrides of [undefined, oneValidator()]) {
      const test = await TestChain.open(overrides)
      const bad = craftBlock(test.chain, { fees: 1n })
      const confirm = test.confirmFor(bad)
      const run = [{ block: bad.bytes, ...(confirm && { confirm }) }]
      for (const assumed of [true, false]) {
        const refused = expect(test.chain.acceptBlocks(run, { assumed })).rejects
        await refused.toMatchObject({ index: 0, rule: { code: 'coinbase-value' } })
      }
      expect([test.log.errors, test.database.get(meta.assumed.key)]).toEqual([[], undefined])
      await test.close()
    }
  })

  it('reports as an error whatever a part that follows it fails with', async () => {
    const test = await TestChain.open()
    const failures: unknown[] = []
    test.chain.events.on('fatal', (error) => failures.push(error))
    for (const thrown of [new RangeError('a'), 'b', undefined]) test.chain.fail(thrown)
    expect(failures).toEqual([new RangeError('a'), new Error('b'), new Error('undefined')])
    expect(test.log.errors.map(({ fields }) => fields['error'])).toEqual(['a', 'b', 'undefined'])
  })

  it('stops at a write that fails', async () => {
    const store = memoryStore()
    const test = await TestChain.open(undefined, { store })
    const block = craftBlock(test.chain)
    const failures: Error[] = []
    test.chain.events.on('fatal', (error) => failures.push(error))
    await store.close()
    await expect(test.accept(block)).rejects.toThrow()
    expect(failures).toHaveLength(1)
    expect(test.log.errors).toHaveLength(1)
    expect(test.reader.height).toBe(0)
  })

  it('knows one validator by the same rules', async () => {
    const test = await TestChain.open(oneValidator())
    await test.mine(3)
    expect(await faultOf(test)).toBe(undefined)
    expect(parseSpec(testSpec(oneValidator())).hasValidators).toBe(true)
  })
})
