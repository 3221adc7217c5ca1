import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { replay, stateDigest, verifyChain } from '../../../src/ledger/chain/replay-chain.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { PoolGraph } from '../../../src/ledger/mempool/graph.js'
import { PoolView } from '../../../src/ledger/mempool/pool-view.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { choose } from '../../../src/ledger/production/selection.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { derivedTables, tables } from '../../../src/ledger/storage/rows/tables.js'
import { provedSteps } from '../../../src/ledger/storage/rows/side-chain-rows.js'
import { digestOf } from '../../../src/ledger/storage/care/table-digest.js'
import { emptyChain, faultOf, leftovers } from '../../support/assert/row-invariants.js'
import { craft, craftBlock } from '../../support/builders/blocks.js'
import { memoryStore, TestChain } from '../../support/builders/chain.js'
import { anyOrder, inOrder, proved, provedRows, purse, rewind, wrapped } from '../../support/builders/side-proofs.js'
import { rounds } from '../../support/process/thorough.js'

const code = 'tx-side-chain-proved'
const genesisOf = (sideChain: number) => new Uint8Array(32).fill(sideChain)
const blockAt = async ({ reader }: TestChain, height: number): Promise<Block> => {
  return reader.block(reader.headerAt(height) as NonNullable<ReturnType<typeof reader.headerAt>>)
}

/** A chain with blocks that prove these heights of side chain 2, one a block, above one that splits coins. */
async function proving(heights: readonly number[], overrides = inOrder, store = memoryStore()) {
  const test = await TestChain.open(overrides, { store })
  const coin = await purse(test)
  const proof = (blockHeight: number, sideChain = 2) => wrapped(test, coin(), { blockHeight, sideChain })
  const block = async (...numbers: readonly number[]) => {
    const transactions: Transaction[] = []
    for (const number of numbers) transactions.push(await proof(number))
    return craftBlock(test.chain, { transactions })
  }
  for (const height of heights) await test.accept(await block(height))
  return { test, coin, proof, block }
}

describe('a block of a chain whose proofs of side-chain work rise', () => {
  it('holds the next proof, and neither one as late as the last nor one before it', async () => {
    const { test, block } = await proving([9])
    for (const height of [9, 8, 0]) {
      await expect(test.accept(await block(height))).rejects.toMatchObject({
        code,
        message: expect.stringMatching(
          new RegExp(
            `^transaction 1 .* it proves block ${height} of the side chain ${'02'.repeat(32)}, of which block 9 `,
          ),
        ),
      })
    }
    expect(proved(test)).toBe(9)
    expect(await test.accept(await block(10))).toBe('connected')
    expect(proved(test)).toBe(10)
    await test.close()
  })

  it('counts its own proofs in their order', async () => {
    const { test, block } = await proving([9])
    for (const numbers of [
      [10, 10],
      [11, 10],
      [10, 9],
      [10, 12, 11],
    ]) {
      await expect(test.accept(await block(...numbers))).rejects.toMatchObject({ code })
    }
    expect(await test.accept(await block(10, 11, 13))).toBe('connected')
    expect(proved(test)).toBe(13)
    await test.close()
  })

  it('holds a first proof of any height, each side chain for itself', async () => {
    const { test, proof } = await proving([])
    const most = 2 ** 29 - 1
    const transactions = [await proof(0), await proof(most, 3), await proof(9, 4), await proof(1)]
    await test.accept(craftBlock(test.chain, { transactions }))
    expect([proved(test), proved(test, 3), proved(test, 4)]).toEqual([1, most, 9])
    // The last height that there is ends a side chain.
    const last = craftBlock(test.chain, { transactions: [await proof(most, 3)] })
    await expect(test.accept(last)).rejects.toMatchObject({ code })
    await test.close()
  })

  it('is checked alike where the proof is in a short transaction and in a long one', async () => {
    const { test, coin, proof } = await proving([9])
    const { payload } = await proof(9)
    for (const inputs of [1, 6]) {
      const coins = Array.from({ length: inputs }, coin)
      const outputs = Array.from({ length: 20 * inputs }, () => ({ to: 30, value: 1_000_000n }))
      const transactions = [craft(test.spec, coins, inputs === 1 ? outputs.slice(0, 1) : outputs, [11], { payload })]
      expect(transactions[0]?.isShort).toBe(inputs === 1)
      await expect(test.accept(craftBlock(test.chain, { transactions }))).rejects.toMatchObject({ code })
    }
    await test.close()
  })

  it('is refused by a node that starts again, and by one that replays, with nothing changed', async () => {
    const store = memoryStore()
    const first = await proving([8, 9], inOrder, store)
    const equal = await first.block(9)
    await first.test.close()
    const test = await TestChain.open(inOrder, { store })
    test.clock.time = first.test.clock.time
    const before = await stateDigest(test.database)
    for (let i = 0; i < 2; i++) await expect(test.accept(equal)).rejects.toMatchObject({ code })
    expect([await stateDigest(test.database), test.chain.tip.header.height]).toEqual([before, 3])
    expect(await faultOf(test)).toBeUndefined()
    await test.close()
    // A node that lacked the rule took it: a verification names its height, a replay ends below it.
    const lax = await proving([8, 9])
    Object.assign(lax.test.spec, { sideChainOrder: false })
    await lax.test.accept(await lax.block(9))
    Object.assign(lax.test.spec, { sideChainOrder: true })
    const wrong = await verifyChain(lax.test.chain, await emptyChain(lax.test))
    expect(wrong).toMatch(/^the block at height 4 does not connect: .*of which block 9 is proved/)
    const copy = await emptyChain(lax.test)
    expect((await replay(lax.test.database, copy))?.height).toBe(4)
    expect(copy.tip.header.height).toBe(3)
    await lax.test.close()
  })

  it('is taken back with what it proved, so that another branch proves it again', async () => {
    const { test, block } = await proving([5, 7, 9])
    await rewind(test, 2)
    expect(proved(test)).toBe(5)
    await expect(test.accept(await block(5))).rejects.toMatchObject({ code })
    await test.accept(await block(6, 9))
    await expect(test.accept(await block(9))).rejects.toMatchObject({ code })
    expect(proved(test)).toBe(9)
    expect(await faultOf(test)).toBeUndefined()
    await rewind(test, 1)
    expect(await provedRows(test)).toEqual({})
    await test.close()
  })
})

describe('a proof that the chain has by now', () => {
  it('is in no template, also where the pool has it still: it leaves by the rule of the chain', async () => {
    const { test, proof } = await proving([])
    const pooled = await test.send(await proof(9))
    const mined = craftBlock(test.chain, { transactions: [await proof(9)] })
    // A pool that does not follow, and looks at no row.
    const { follow } = test.mempool
    test.mempool.follow = async () => {}
    test.mempool.isMineable = () => true
    await test.accept(mined)
    const { transactions } = await choose(test.chain, test.mempool, { parent: test.chain.tip })
    expect(transactions).toEqual([])
    expect(test.mempool.droppedReason(pooled.hash)).toMatch(/^tx-side-chain-proved: .*, of which block 9 is proved$/)
    test.mempool.follow = follow
    await test.close()
  })

  it('has the height of the chain in the view of the pool', async () => {
    const { test } = await proving([9])
    const view = new PoolView(test.chain, new PoolGraph(), new Set())
    expect([2, 3].map((sideChain) => view.provedHeight(genesisOf(sideChain)))).toEqual([9, undefined])
    await test.close()
  })
})

describe('a block of a chain whose spec does not say so', () => {
  it('holds proofs of any order, and has the row of the latest', async () => {
    const { test, block } = await proving([9, 9, 8], anyOrder)
    await test.accept(await block(3, 10, 10, 4))
    expect(proved(test)).toBe(10)
    expect(await faultOf(test)).toBeUndefined()
    await test.close()
  })
})

describe('the rows of side chains', () => {
  it('are staged in steps, as many as a block proves', async () => {
    const { test } = await proving([])
    const transactions = Array.from({ length: 40 }, (_, i) => {
      return { fee: 0n, spent: [], proved: { genesis: genesisOf(i), height: i, before: undefined } }
    })
    const overlay = new Overlay(test.database)
    expect([...provedSteps(overlay, transactions)]).toHaveLength(2)
    expect([...overlay.changes.values()]).toHaveLength(40)
    await test.close()
  })

  it('are all there where the rule reads them: a verification finds a missing one and a lower one', async () => {
    for (const change of ['missing', 'lower', 'added'] as const) {
      const { test } = await proving([9])
      expect(await verifyChain(test.chain, await emptyChain(test))).toBeUndefined()
      const overlay = new Overlay(test.database)
      if (change === 'missing') overlay.del(tables.sideChain.key(genesisOf(2)))
      else overlay.put(tables.sideChain.key(genesisOf(change === 'lower' ? 2 : 3)), Uint8Array.of(8, 0, 0, 0))
      const { hash, height } = test.chain.tip.header
      await overlay.commit({ kind: 'pool', hash, height }, { sync: true })
      expect(await verifyChain(test.chain, await emptyChain(test))).toContain('1d')
      await test.close()
    }
  })
})

/** Blocks with proofs of heights of side chains, and blocks that are taken back. */
type Step = { readonly proofs: readonly (readonly [number, number])[] } | { readonly back: number }
const proofs = fc.array(fc.tuple(fc.constantFrom(2, 3, 4), fc.integer({ min: 0, max: 6 })), { maxLength: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ proofs }) },
  { weight: 1, arbitrary: fc.record({ back: fc.integer({ min: 1, max: 4 }) }) },
)

/** The heights after proofs; undefined where the rule refuses them. */
function after(
  before: Readonly<Record<number, number>>,
  block: readonly (readonly [number, number])[],
  ordered: boolean,
): Readonly<Record<number, number>> | undefined {
  const heights = { ...before }
  for (const [sideChain, height] of block) {
    if (height > (heights[sideChain] ?? -1)) heights[sideChain] = height
    else if (ordered) return undefined
  }
  return heights
}

const rowsOf = (heights: Readonly<Record<number, number>>) =>
  Object.fromEntries(Object.entries(heights).map(([chain, height]) => [toHex(genesisOf(Number(chain))), height]))

describe.each([
  ['that rise', true],
  ['of any order', false],
])('random proofs %s, and blocks taken back', (_, ordered) => {
  it('leave what the rule allows, and rows as a chain has that never took any back', async () => {
    let refused = 0
    let taken = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const test = await TestChain.open(ordered ? inOrder : anyOrder)
        const coin = await purse(test, 60)
        /** Heights proved after each block. */
        const model: Readonly<Record<number, number>>[] = [{}, {}]
        for (const one of steps) {
          if ('back' in one) {
            const height = Math.max(1, model.length - 1 - one.back)
            await rewind(test, height)
            model.length = height + 1
            continue
          }
          const transactions: Transaction[] = []
          for (const [sideChain, blockHeight] of one.proofs) {
            transactions.push(await wrapped(test, coin(), { blockHeight, sideChain }))
          }
          const block = craftBlock(test.chain, { transactions })
          const next = after(model.at(-1) ?? {}, one.proofs, ordered)
          if (next === undefined) {
            refused++
            await expect(test.accept(block)).rejects.toMatchObject({ code })
          } else {
            taken++
            expect(await leftovers(test, block)).toEqual([])
            await test.accept(block)
            model.push(next)
          }
          expect(await provedRows(test)).toEqual(rowsOf(model.at(-1) ?? {}))
        }
        const fresh = await TestChain.open(ordered ? inOrder : anyOrder)
        for (let height = 1; height < model.length; height++) await fresh.accept(await blockAt(test, height))
        const compared = [...derivedTables, tables.sideChain.number]
        expect(toHex(await digestOf(test.database, compared))).toBe(toHex(await digestOf(fresh.database, compared)))
        expect(await test.database.rows(tables.undo.range())).toEqual(await fresh.database.rows(tables.undo.range()))
        await Promise.all([test.close(), fresh.close()])
      }),
      { numRuns: rounds(12, 500) },
    )
    expect(taken).toBeGreaterThan(0)
    if (ordered) expect(refused).toBeGreaterThan(0)
  })

  it('reach blocks by the pool only as far as the rule allows, with those that a rewind returned', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
        const test = await TestChain.open(ordered ? inOrder : anyOrder)
        const coin = await purse(test, 60)
        for (const one of steps) {
          if ('back' in one) await rewind(test, Math.max(1, test.chain.tip.header.height - one.back))
          else {
            for (const [sideChain, blockHeight] of one.proofs) {
              await test.send(await wrapped(test, coin(), { blockHeight, sideChain })).catch((error: unknown) => {
                if (!(error instanceof RuleError && error.code === 'pool-side-chain')) throw error
              })
            }
            const pooled = test.mempool.size
            const [block] = await test.mine()
            // All of them fit, so nothing that the pool holds was refused by the template.
            expect(block?.transactions).toHaveLength(pooled + 1)
          }
        }
        await test.mine()
        expect(test.mempool.size).toBe(0)
        expect(await faultOf(test)).toBeUndefined()
        await test.close()
      }),
      { numRuns: rounds(8, 300) },
    )
  })
})
