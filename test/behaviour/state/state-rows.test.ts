import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { zeroHash } from '../../../src/base/primitives/hash.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import { checkRecentBlocks } from '../../../src/ledger/chain/check-recent-blocks.js'
import { verifyPruned } from '../../../src/ledger/chain/verify-pruned.js'
import { leafOf } from '../../../src/ledger/state/leaf-record.js'
import { StateRows } from '../../../src/ledger/state/state-rows.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { derivedTables, rangeOf, tables } from '../../../src/ledger/storage/rows/tables.js'
import { busyChain, stateHeight as state } from '../../support/builders/busy-chain.js'
import { craft } from '../../support/builders/blocks.js'
import { memoryStore, oneValidator, type TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { memoryScratch } from '../../support/builders/memory-scratch.js'
import { testSpec } from '../../support/builders/spec.js'
import { comparable, joinedChain, passBlocks, rowsOf, wholeChain } from '../../support/builders/joined-chain.js'

describe.each([
  ['with validators', { ...oneValidator(), producer: 'sponsor' as const }],
  ['of work', withoutValidators],
])('the rows of a state of a chain %s', (_, overrides) => {
  let test: TestChain
  let chain: Chain
  let other: Chain
  beforeAll(async () => {
    test = await busyChain({ ...overrides, coinInterval: 330 })
    chain = await joinedChain(test, { leavesAtOnce: 2, bytes: 3_000 })
    other = await wholeChain(test)
    await passBlocks(test, other, [1, state])
  })
  afterAll(async () => {
    await test.close()
    for (const one of [chain, other]) await one.close().finally(() => one.database.close())
  })

  it('are those of a node that connected every block, but for what it has not', async () => {
    expect(chain.tip.header.height).toBe(state)
    expect(await comparable(chain.database, state)).toEqual(await comparable(other.database, state))
    // Nothing is left of what put them in order.
    expect(await rowsOf(chain.database, tables.declaring)).toEqual(new Map())
    const all = await rowsOf(other.database, tables.transaction)
    const had = await rowsOf(chain.database, tables.transaction)
    expect(had.size).toBeLessThan(all.size)
    for (const [key, row] of had) expect(all.get(key)).toBe(row)
    expect(chain.prunedHeight).toBe(state)
    expect(await verifyPruned(chain)).toBeUndefined()
  })

  it('are so with every block that follows', async () => {
    const tip = test.reader.height
    await passBlocks(test, chain, [state + 1, tip])
    await passBlocks(test, other, [state + 1, tip])
    expect(await comparable(chain.database, state)).toEqual(await comparable(other.database, state))
    expect(await verifyPruned(chain)).toBeUndefined()
  })

  it('are all of them once the history below is there, however often it is cut short', async () => {
    const history = await wholeChain(test)
    await passBlocks(test, history, [1, state])
    const cut = AbortSignal.abort(new Error('a stop'))
    await expect(chain.takeHistory(history.database, cut)).rejects.toThrow('a stop')
    expect(chain.joinedHeight).toBe(state)
    // Blocks come meanwhile.
    await test.mine()
    const tip = test.reader.height
    const taken = chain.takeHistory(history.database, new AbortController().signal)
    await Promise.all([taken, passBlocks(test, chain, [tip, tip])])
    await passBlocks(test, other, [tip, tip])
    expect([chain.joinedHeight, chain.prunedHeight]).toEqual([0, 0])
    for (const table of [...derivedTables, tables.confirm.number]) {
      const range = () => rangeOf(table)
      expect({ table, rows: await rowsOf(chain.database, { range }) }).toEqual({
        table,
        rows: await rowsOf(other.database, { range }),
      })
    }
    const headers = async ({ database }: Chain) =>
      (await database.rows(tables.header.range())).map(([, row]) => ({ ...tables.header.decode(row), arrival: 0 }))
    expect(await headers(chain)).toEqual(await headers(other))
    await checkRecentBlocks(chain, { fromHeight: 0 })
    expect(await verifyPruned(chain)).toBeUndefined()
    await history.close()
    await history.database.close()
  })
})

describe('a document that no rule allows', () => {
  it('is a fault of the blocks, which have it', async () => {
    const spec = parseSpec(testSpec(withoutValidators))
    const database = await Database.over(memoryStore())
    const rows = await StateRows.begin(database, spec, memoryScratch)
    const entry = { operation: 1, height: 1, time: 1, txid: zeroHash, payloadHash: zeroHash } as const
    const payload = { type: 10, operation: { ...holder().create(), payload: 'e30' } } as const
    const { bytes } = craft(spec, [], [], [], { payload })
    const record = { did: new Uint8Array(21), entries: [entry], transactions: [bytes] }
    await rows.leaf(record, leafOf(record), [1])
    await expect(rows.end()).rejects.toMatchObject({ code: 'coinbase-did-root' })
    await rows.close()
    await database.close()
  })
})
