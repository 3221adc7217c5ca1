import { describe, expect, it } from 'vitest'
import { acceptRun, runBlocks, runsOf } from '../../../../src/ledger/chain/accept-run.js'
import type { IncomingBlock } from '../../../../src/ledger/chain/block-run.js'
import { replay, stateDigest, verifyChain } from '../../../../src/ledger/chain/replay-chain.js'
import type { Block } from '../../../../src/base/primitives/block.js'
import { defined } from '../../../../src/base/primitives/defined.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { digestOf } from '../../../../src/ledger/storage/care/table-digest.js'
import { indexUndoHeights } from '../../../../src/ledger/storage/rows/token-index.js'
import { provedHeights } from '../../../../src/ledger/storage/rows/map/map-rows.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { emptyChain } from '../../../support/assert/row-invariants.js'
import { oneValidator, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { testAddress } from '../../../support/builders/spec.js'
import { holder } from '../../../support/builders/did.js'

const incoming = (chain: TestChain, block: Block): IncomingBlock => ({
  block: block.bytes,
  ...defined({ confirm: chain.confirmFor(block) }),
})

async function* blocksOf(...sizes: readonly number[]): AsyncGenerator<IncomingBlock, void, void> {
  for (const size of sizes) yield Promise.resolve({ block: new Uint8Array(size) })
}

async function lengths(blocks: AsyncIterable<IncomingBlock>): Promise<number[]> {
  const found: number[] = []
  for await (const run of runsOf(blocks)) found.push(run.length)
  return found
}

describe('runs of blocks', () => {
  it('have 256 blocks at most, and end with the block that has 2 MiB', async () => {
    expect(await lengths(blocksOf())).toEqual([])
    expect(await lengths(blocksOf(...Array<number>(runBlocks).fill(100)))).toEqual([runBlocks])
    expect(await lengths(blocksOf(...Array<number>(runBlocks + 1).fill(100)))).toEqual([runBlocks, 1])
    const [half, whole] = [1024 * 1024, 2 * 1024 * 1024]
    expect(await lengths(blocksOf(half, half - 1, 1, half, whole, whole - 1))).toEqual([3, 2, 1])
  })

  it('leave as many rows as single blocks, which take the index and the map back', async () => {
    expect(runBlocks).toBeLessThan(Math.min(indexUndoHeights, provedHeights))
    const test = await TestChain.open(oneValidator())
    const ada = holder()
    let last = await test.publish(ada.create(), ada.did)
    for (let i = 0; i < 20; i++) {
      last = await test.publish(ada.update(last), ada.did)
      await test.mine(15)
    }
    const copy = await emptyChain(test)
    expect(await replay(test.database, copy)).toBeUndefined()
    for (const [name, table] of Object.entries(tables)) {
      // Arrivals and batches differ: a run is one.
      if (name === 'header' || name === 'journal') continue
      const [held, made] = [
        await digestOf(test.database, [table.number]),
        await digestOf(copy.database, [table.number]),
      ]
      expect(toHex(made), name).toBe(toHex(held))
    }
    expect(await verifyChain(test.chain, await emptyChain(test))).toBeUndefined()
  })
})

describe('a run that a program accepts', () => {
  it('counts what is new, of known blocks and of blocks on the tip', async () => {
    const source = await TestChain.open(withoutValidators)
    const run = (await source.mine(6)).map((block) => incoming(source, block))
    const { chain } = await TestChain.open(withoutValidators)
    expect(await acceptRun(chain, run.slice(0, 2))).toEqual({ taken: 2, added: 2 })
    expect(await acceptRun(chain, run)).toEqual({ taken: 6, added: 4 })
    expect(await acceptRun(chain, run)).toEqual({ taken: 6, added: 0 })
  })

  it('takes a branch that becomes the best one, and side blocks in the midst of a run', async () => {
    const [source, rival] = [await TestChain.open(withoutValidators), await TestChain.open(withoutValidators)]
    const run = (await source.mine(3)).map((block) => incoming(source, block))
    await rival.send(await rival.transfer(testAddress(1), 5n))
    const other = (await rival.mine(5)).map((block) => incoming(rival, block))
    const target = await TestChain.open(withoutValidators)
    expect(await acceptRun(target.chain, [...run, ...other])).toEqual({ taken: 8, added: 8 })
    expect(target.chain.tip.header.id).toBe(rival.chain.tip.header.id)
    expect(await stateDigest(target.database)).toBe(await stateDigest(rival.database))
  })

  it('ends before a malformed block, and before one that nothing precedes, with those before them connected', async () => {
    const source = await TestChain.open(oneValidator())
    const run = (await source.mine(5)).map((block) => incoming(source, block)) as [IncomingBlock, ...IncomingBlock[]]
    for (const size of [0, 20, 90]) {
      const { chain } = await TestChain.open(oneValidator())
      const cut = run.map((one, i) => (i === 3 ? { ...one, block: one.block.subarray(0, size) } : one))
      const { error, ...counts } = await acceptRun(chain, cut)
      expect(counts).toEqual({ taken: 3, added: 3 })
      expect(error).toMatchObject({ code: 'block-malformed' })
      expect(chain.tip.header.height).toBe(3)
    }
    const { chain } = await TestChain.open(oneValidator())
    const { taken, error } = await acceptRun(chain, [run[0], ...run.slice(2)])
    expect(taken).toBe(1)
    expect(error).toMatchObject({ code: 'block-parent-unknown' })
  })
})
