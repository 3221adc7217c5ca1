import { describe, expect, it } from 'vitest'
import type { KnownHeader } from '../../../../../src/ledger/chain/header-index.js'
import { subsidyAt } from '../../../../../src/ledger/consensus/subsidy.js'
import type { RowReader } from '../../../../../src/ledger/storage/rows/row-reader.js'
import { putDisconnected } from '../../../../../src/ledger/storage/stored-state.js'
import type { Block } from '../../../../../src/base/primitives/block.js'
import { Database } from '../../../../../src/ledger/storage/database.js'
import { StorageError } from '../../../../../src/ledger/storage/failure.js'
import { addToDay, dayOf } from '../../../../../src/ledger/storage/rows/day-rows.js'
import { dayCounters, tables } from '../../../../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../../../../src/ledger/storage/write/overlay.js'
import { memoryStore, TestChain, withoutValidators } from '../../../../support/builders/chain.js'
import { holder } from '../../../../support/builders/did.js'
import { testAddress } from '../../../../support/builders/spec.js'

const day = 86_400

/** The counters of a day that are not 0, or undefined without a row. */
function held({ database }: { readonly database: RowReader }, of: number): object | undefined {
  const row = tables.day.get(database, of)
  return row && Object.fromEntries(dayCounters.flatMap((name) => (row[name] === 0n ? [] : [[name, Number(row[name])]])))
}

async function blocksOf({ reader }: TestChain): Promise<Block[]> {
  const headers = Array.from({ length: reader.height }, (_, i) => reader.headerAt(i + 1) as KnownHeader)
  return Promise.all(headers.map((known) => reader.block(known)))
}

function sumOf(outputs: readonly { readonly value: bigint }[]): bigint {
  return outputs.reduce((sum, { value }) => sum + value, 0n)
}

/** A chain whose genesis block is the last second of a day, with the day after. */
async function opened(): Promise<{ test: TestChain; next: number }> {
  const test = await TestChain.open({ ...withoutValidators, time: 20_000 * day - 1 })
  const next = dayOf(test.chain.genesis.header) + 1
  return { test, next }
}

/** Mines at so many seconds of a day. */
async function mineAt(test: TestChain, of: number, seconds: number): Promise<void> {
  test.clock.time = (of * day + seconds) * 1000
  await test.mine()
}

describe('the counters of a day', () => {
  it('have every block but the genesis block on the day of its header', async () => {
    const { test, next } = await opened()
    expect(await test.database.rows(tables.day.range())).toEqual([])
    await mineAt(test, next, 0)
    await mineAt(test, next, 100)
    await mineAt(test, next, day - 1)
    await mineAt(test, next + 2, 0)
    expect(held(test, next)).toEqual({ blocks: 3, intervals: 2, seconds: day - 1 })
    expect(held(test, next + 1)).toBeUndefined()
    expect(held(test, next + 2)).toEqual({ blocks: 1, intervals: 1, seconds: day + 1 })
    await test.close()
  })

  it('have the transactions without coinbases, their fees, and each kind of operation', async () => {
    const { test, next } = await opened()
    const ada = holder()
    test.clock.time = next * day * 1000
    const created = await test.publish(ada.create(), ada.did)
    await test.publish(ada.update(created), ada.did)
    const credential = { id: `${ada.did}#degree` }
    await test.publish(ada.declare(ada.issue(ada.did, credential)), ada.did)
    await test.publish(ada.revoke(credential.id), ada.did)
    await test.publish(ada.deactivate(), ada.did)
    await test.send(await test.transfer(testAddress(30), 5000n))
    await test.mine()
    let fees = 0n
    for (const { header, transactions } of await blocksOf(test)) {
      const [coinbase] = transactions
      fees += sumOf(coinbase?.outputs ?? []) - subsidyAt(test.spec, header.height)
    }
    const operations = { creations: 1, updates: 1, credentials: 2, deactivations: 1 }
    expect(held(test, next)).toEqual({
      blocks: 6,
      transactions: 6,
      ...operations,
      fees: Number(fees),
      intervals: 5,
      seconds: 2,
    })
    await test.close()
  })

  it('are without a block that is taken back, and gone with the last one', async () => {
    const { test, next } = await opened()
    await mineAt(test, next, 5)
    await test.send(await test.transfer(testAddress(30), 5000n))
    await mineAt(test, next, 9)
    const [first, second] = (await blocksOf(test)) as [Block, Block]
    expect(held(test, next)).toMatchObject({ blocks: 2, transactions: 1, seconds: 4 })
    const overlay = new Overlay(test.database)
    await putDisconnected(overlay, second)
    expect(held({ database: overlay }, next)).toEqual({ blocks: 1 })
    await putDisconnected(overlay, first)
    expect(held({ database: overlay }, next)).toBeUndefined()
    await test.close()
  })

  it('need the header of the block before', async () => {
    const rows = new Overlay(await Database.over(memoryStore()))
    const header = { height: 2, time: day, previous: new Uint8Array(32) }
    expect(() => addToDay(rows, { header, transactions: [] }, 0n)).toThrow(StorageError)
    rows.put(tables.header.key(header.previous), new Uint8Array(84))
    addToDay(rows, { header, transactions: [] }, 0n)
    expect(tables.day.get(rows, 1)).toMatchObject({ blocks: 1n, intervals: 1n, seconds: BigInt(day) })
  })
})
