import { describe, expect, it } from 'vitest'
import { checkDays, makeDays } from '../../../../src/ledger/chain/count-days.js'
import { HeaderIndex } from '../../../../src/ledger/chain/header-index.js'
import { verifyPruned } from '../../../../src/ledger/chain/verify-pruned.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { StorageError } from '../../../../src/ledger/storage/failure.js'
import { meta, tables, type TipRow } from '../../../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { faultOf } from '../../../support/assert/row-invariants.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { memoryStore, type Store, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'
import { testAddress } from '../../../support/builders/spec.js'

const day = 86_400_000
/** As deep as a reorganisation goes. */
const kept = 288

/** A chain of days with transfers and operations, in a store of a version that counted none, and the rows that it lacks. */
async function earlier(options: { readonly above?: number } = {}) {
  const store = memoryStore()
  const test = await TestChain.open(withoutValidators, { store })
  const ada = holder()
  for (let i = 0; i < 4; i++) {
    test.clock.time += day
    await test.send(await test.transfer(testAddress(30), 5000n))
    await test.mine(2)
    if (i === 1) await test.publish(ada.create(), ada.did)
  }
  test.clock.time += day
  await test.mine(options.above ?? 0)
  const rows = await daysOf(test.database)
  const { height, hash } = test.chain.tip.header
  await forget(test.database, { height, hash })
  await test.close()
  return { store, rows, tip: { height, hash } }
}

const daysOf = (database: Database) => database.rows(tables.day.range())

async function change(database: Database, tip: TipRow, stage: (overlay: Overlay) => void): Promise<void> {
  const overlay = new Overlay(database)
  stage(overlay)
  await overlay.commit({ kind: 'pool', ...tip }, { sync: false })
}

async function forget(database: Database, tip: TipRow): Promise<void> {
  const rows = await daysOf(database)
  await change(database, tip, (overlay) => {
    for (const [key] of rows) overlay.del(key)
    overlay.del(meta.days.key)
  })
}

async function reopened(store: Store): Promise<TestChain> {
  const test = await TestChain.open(withoutValidators, { store })
  test.clock.time = test.chain.tip.header.time * 1000
  return test
}

describe('a database without counters of days', () => {
  it('gets them once, as if each block had been counted, and goes on from there', async () => {
    const { store, rows } = await earlier()
    expect(rows).toHaveLength(4)
    const test = await reopened(store)
    expect(await daysOf(test.database)).toEqual(rows)
    expect(test.database.get(meta.days.key)).toEqual(Buffer.alloc(4))
    const parent = test.activeHeader(test.reader.height - 3)
    // Takes blocks of the last days back.
    let last = craftBlock(test.chain, { parent })
    for (let i = 0; i < 4; i++) {
      await test.accept(last)
      last = craftBlock(test.chain, { parent: test.knownHeader(last.header.hash) })
    }
    expect(await faultOf(test)).toBeUndefined()
    await test.close()
    const again = await reopened(store)
    const { sequence } = again.database
    await again.close()
    const third = await reopened(store)
    // The stop before made the one batch.
    expect(third.database.sequence).toBe(sequence + 1)
    await third.close()
  })

  it('gets them anew where a version that counts none has connected blocks meanwhile', async () => {
    const { store, rows, tip } = await earlier()
    const test = await reopened(store)
    const [key, row] = (await daysOf(test.database)).at(-1) as [Buffer, Buffer]
    const { blocks, ...others } = tables.day.decode(row)
    await change(test.database, tip, (overlay) => {
      overlay.put(key, tables.day.encode({ ...others, blocks: blocks - 1n }))
      overlay.put(tables.day.key(1), row)
    })
    await test.close()
    const again = await reopened(store)
    expect(await daysOf(again.database)).toEqual(rows)
    await again.close()
  })

  it('gets them at the next start where a kill came before they were written', async () => {
    const { store, rows, tip } = await earlier()
    const killed = await Database.over(store)
    killed.commit = () => Promise.reject(new Error('no more'))
    const steps: number[] = []
    const made = makeDays({ database: killed, headers: new HeaderIndex(killed) }, tip, (done) => steps.push(done))
    await expect(made).rejects.toThrow('no more')
    expect(steps).toEqual(Array.from({ length: tip.height }, (_, i) => i + 1))
    expect([killed.get(meta.days.key), await daysOf(killed)]).toEqual([undefined, []])
    await killed.close()
    const test = await reopened(store)
    expect(await daysOf(test.database)).toEqual(rows)
    await test.close()
  })

  it('gets all but the fees of blocks that gave up their transactions', async () => {
    const { store, rows, tip } = await earlier({ above: kept })
    const pruning = await reopened(store)
    await pruning.chain.exclusive(({ prune }) => prune(pruning.reader.height - kept))
    const pruned = pruning.chain.prunedHeight
    expect(pruned).toBe(tip.height - kept)
    expect(await daysOf(pruning.database)).toEqual(rows)
    expect(await verifyPruned(pruning.chain)).toBeUndefined()
    await forget(pruning.database, tip)
    await pruning.close()
    const test = await reopened(store)
    expect(meta.days.get(test.database)).toBe(pruned)
    const known = rows.map(([key, row]) => [key, { ...tables.day.decode(row), fees: 0n }])
    expect((await daysOf(test.database)).map(([key, row]) => [key, tables.day.decode(row)])).toEqual(known)
    expect(await verifyPruned(test.chain)).toBeUndefined()
    await test.close()
  })
})

describe('the check of the counters', () => {
  it('takes those of the blocks and refuses a wrong sum, a day too few and one too many', async () => {
    const { store, tip } = await earlier()
    const test = await reopened(store)
    const { database, chain } = test
    await expect(checkDays(chain, tip)).resolves.toBeUndefined()
    const [[key, row]] = (await daysOf(database)) as [[Buffer, Buffer]]
    const other = { ...tables.day.decode(row), fees: 1n }
    for (const [at, wrong] of [
      [key, tables.day.encode(other)],
      [key, undefined],
      [tables.day.key(1), row],
    ] as const) {
      const right = database.get(at)
      const put = (value: Uint8Array | undefined) =>
        change(database, tip, (rows) => (value === undefined ? rows.del(at) : rows.put(at, value)))
      await put(wrong)
      await expect(checkDays(chain, tip)).rejects.toThrow(StorageError)
      expect(await faultOf(test)).toBe('the rows of table 1e are wrong')
      await put(right)
      await expect(checkDays(chain, tip)).resolves.toBeUndefined()
    }
    await test.close()
  })
})
