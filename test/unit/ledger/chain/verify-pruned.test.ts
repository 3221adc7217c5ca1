import { describe, expect, it } from 'vitest'
import type { Chain } from '../../../../src/ledger/chain/chain.js'
import type { VerifyStep } from '../../../../src/ledger/chain/replay-chain.js'
import { verifyPruned } from '../../../../src/ledger/chain/verify-pruned.js'
import { StorageError } from '../../../../src/ledger/storage/failure.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { oneValidator, TestChain } from '../../../support/builders/chain.js'

/** A chain of six blocks, seen as one whose first three have given up their transactions. */
async function scene() {
  const test = await TestChain.open(oneValidator())
  await test.mine(6)
  const { database, headers, spec, tip } = test.chain
  const chain = { database, headers, spec, tip, prunedHeight: 3, supersededHeight: 0 } as unknown as Chain
  const without = async (key: Buffer) => {
    const overlay = new Overlay(database)
    overlay.del(key)
    await overlay.commit({ kind: 'pool', height: 6, hash: tip.header.hash }, { sync: false })
    headers.clear()
  }
  return { chain, without }
}

describe('the look at a chain that prunes', () => {
  it('tells how far it is: rows, then each block', async () => {
    const steps: VerifyStep[] = []
    expect(await verifyPruned((await scene()).chain, (step) => steps.push(step))).toBeUndefined()
    const blocks = steps.filter(({ stage }) => stage === 'blocks')
    expect(blocks).toEqual([1, 2, 3, 3, 4, 5].map((done) => ({ stage: 'blocks', done, total: 6 })))
    expect(steps[0]).toMatchObject({ stage: 'rows' })
  })

  it.each([1, 3, 4, 6])('finds that the confirm of block %i is gone', async (height) => {
    const { chain, without } = await scene()
    await without(tables.confirm.key(chain.headers.activeHash(height) as Uint8Array))
    expect(await verifyPruned(chain)).toContain(`no confirm for height ${height}`)
  })

  it.each([1, 3])('finds that the header of block %i is gone', async (height) => {
    const { chain, without } = await scene()
    await without(tables.active.key(height))
    expect(await verifyPruned(chain)).toContain(`the header of height ${height} is gone`)
  })

  it('passes on what says nothing about the rows', async () => {
    const { chain } = await scene()
    for (const error of [new TypeError('a slip'), new StorageError('no such device', 'environment')]) {
      const looked = verifyPruned(chain, () => {
        throw error
      })
      await expect(looked).rejects.toBe(error)
    }
  })
})
