import { describe, expect, it } from 'vitest'
import { checkRecentBlocks } from '../../../../src/ledger/chain/check-recent-blocks.js'
import { StorageError } from '../../../../src/ledger/storage/failure.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { oneValidator, TestChain } from '../../../support/builders/chain.js'
import { testAddress } from '../../../support/builders/spec.js'

/** A chain of six heights with a transfer in each. */
async function chainOf(overrides?: Parameters<typeof TestChain.open>[0]): Promise<TestChain> {
  const test = await TestChain.open(overrides)
  for (let i = 0; i < 6; i++) {
    await test.send(await test.transfer(testAddress(30), 1_000_000n))
    await test.mine()
  }
  return test
}

type Damage = (overlay: Overlay, test: TestChain) => void

async function damage(test: TestChain, change: Damage): Promise<void> {
  const overlay = new Overlay(test.database)
  change(overlay, test)
  const { height, hash } = test.chain.tip.header
  await overlay.commit({ kind: 'pool', height, hash }, { sync: false })
}

const hashAt = ({ chain }: TestChain, height: number) => chain.headers.activeHash(height) as Uint8Array

/** Puts an altered header in the place of the one at height 4, under the old hash. */
const alteredHeader =
  (change: (header: Buffer) => void): Damage =>
  (overlay, test) => {
    const key = tables.header.key(hashAt(test, 4))
    const record = tables.header.decode(test.database.get(key) as Buffer)
    const header = Buffer.from(record.header)
    change(header)
    overlay.put(key, tables.header.encode({ ...record, header }))
    test.chain.headers.forget([hashAt(test, 4)])
  }

const damages: readonly (readonly [string, RegExp, Damage])[] = [
  ['a missing transaction', /1 of 2 transactions/, (overlay) => overlay.del(tables.transaction.key(4, 1))],
  ['a missing coinbase', /1 of 2 transactions/, (overlay) => overlay.del(tables.transaction.key(4, 0))],
  [
    'another transaction',
    /not those of the header/,
    (overlay, { database }) =>
      overlay.put(tables.transaction.key(4, 1), database.get(tables.transaction.key(5, 1)) as Buffer),
  ],
  ['a missing undo record', /no undo record for height 4/, (overlay) => overlay.del(tables.undo.key(4))],
  ['a missing confirm', /no confirm for height 4/, (overlay, test) => overlay.del(tables.confirm.key(hashAt(test, 4)))],
  ['a header with another time', /height 4/, alteredHeader((header) => header.writeUInt32LE(1, 68))],
  ['a header with another parent', /height 4/, alteredHeader((header) => header.fill(1, 4, 36))],
  ['a header with another merkle root', /height 4/, alteredHeader((header) => header.fill(1, 36, 68))],
  ['a missing entry of the active chain', /height 4 is gone/, (overlay) => overlay.del(tables.active.key(4))],
  [
    'an entry of the active chain that names another block',
    /height 4/,
    (overlay, test) => overlay.put(tables.active.key(4), hashAt(test, 5)),
  ],
  [
    'a missing header record',
    /height 4 is gone/,
    (overlay, test) => {
      overlay.del(tables.header.key(hashAt(test, 4)))
      test.chain.headers.forget([hashAt(test, 4)])
    },
  ],
  ['a block above the tip', /above the tip/, (overlay, test) => overlay.put(tables.active.key(7), hashAt(test, 5))],
]

describe('the look at recent blocks', () => {
  it('finds nothing wrong with a whole chain', async () => {
    for (const overrides of [undefined, oneValidator()]) {
      const test = await chainOf(overrides)
      for (const fromHeight of [undefined, 0, 3, 6, 9]) {
        await expect(checkRecentBlocks(test.chain, { fromHeight })).resolves.toBe(undefined)
      }
    }
  })

  it.each(damages)('finds %s, and names the command that mends it', async (_, message, change) => {
    const test = await chainOf(oneValidator())
    await damage(test, change)
    const found = checkRecentBlocks(test.chain, { fromHeight: 2 })
    await expect(found).rejects.toThrow(StorageError)
    await expect(found).rejects.toThrow(message)
    await expect(found).rejects.toThrow(/didledger chain reindex/)
  })

  it('looks no further back than it is told', async () => {
    const test = await chainOf()
    await damage(test, (overlay) => overlay.del(tables.undo.key(2)))
    await expect(checkRecentBlocks(test.chain, { fromHeight: 3 })).resolves.toBe(undefined)
    await expect(checkRecentBlocks(test.chain, { fromHeight: 2 })).rejects.toThrow(/height 2/)
  })

  it('looks for the confirm of each block but genesis', async () => {
    const test = await chainOf(oneValidator())
    for (let height = 6; height > 0; height--) {
      await damage(test, (overlay) => overlay.del(tables.confirm.key(hashAt(test, height))))
      const found = checkRecentBlocks(test.chain, { fromHeight: 0 })
      await expect(found).rejects.toThrow(`no confirm for height ${height}`)
    }
  })

  it('looks at the tip though the last clean point is above it', async () => {
    const test = await chainOf()
    await damage(test, (overlay) => overlay.del(tables.undo.key(6)))
    await expect(checkRecentBlocks(test.chain, { fromHeight: 9 })).rejects.toThrow(/no undo record for height 6/)
  })

  it('looks at genesis too', async () => {
    const test = await chainOf()
    await damage(test, (overlay) => overlay.del(tables.undo.key(0)))
    for (const fromHeight of [undefined, 0]) {
      await expect(checkRecentBlocks(test.chain, { fromHeight })).rejects.toThrow(/no undo record for height 0/)
    }
    await expect(checkRecentBlocks(test.chain, { fromHeight: 1 })).resolves.toBe(undefined)
  })
})
