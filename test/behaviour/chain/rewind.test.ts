import { describe, expect, it } from 'vitest'
import type { ChainChange, Restoration } from '../../../src/ledger/chain/chain-change.js'
import { checkRecentBlocks } from '../../../src/ledger/chain/check-recent-blocks.js'
import { rewindBlocks } from '../../../src/ledger/chain/disconnect-block.js'
import { replay, stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { InvariantError } from '../../../src/base/errors/rule-error.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { checkJournal } from '../../../src/ledger/storage/care/check-journal.js'
import { digestOf } from '../../../src/ledger/storage/care/table-digest.js'
import { derivedTables, meta, tables } from '../../../src/ledger/storage/rows/tables.js'
import { memoryStore, oneValidator, type Store, TestChain } from '../../support/builders/chain.js'
import { supplyOf } from '../../support/assert/row-invariants.js'
import { testAddress } from '../../support/builders/spec.js'
import { Crowd, random } from '../../support/builders/random-chain.js'

const open = (store?: Store) =>
  TestChain.open({ ...oneValidator(), devnet: true }, store === undefined ? {} : { store })

/** Takes a chain back to a height. */
function rewind({ chain }: TestChain, height: number, restorations: readonly Restoration[] = []): Promise<void> {
  return chain.exclusive((writer) => writer.rewind(chain.headers.activeHash(height) as Uint8Array, restorations))
}

/** Every row that belongs to blocks. */
async function rowsOf({ database }: TestChain): Promise<string> {
  return toHex(await digestOf(database, [...derivedTables, tables.confirm.number, tables.sideBody.number]))
}

describe('taking a chain back', () => {
  it('leaves every row as it was, at any depth', async () => {
    const test = await open()
    const roll = random(1)
    const crowd = new Crowd(roll)
    const at = [await rowsOf(test)]
    const headers = async () => (await test.database.keys(tables.header.range())).length
    while (test.reader.height < 20) {
      for (let i = roll(5); i > 0; i--) await crowd.act(test)
      test.clock.time += 1000
      await test.mine()
      at.push(await rowsOf(test))
    }
    for (const height of [19, 19, 15, 7, 1, 0]) {
      await rewind(test, height)
      expect(test.reader.height).toBe(height)
      expect(await rowsOf(test)).toBe(at[height])
      expect(await headers()).toBe(height + 1)
      const { issued, coins, addressCoins } = await supplyOf(test)
      expect([coins, addressCoins]).toEqual([issued, issued])
    }
    await test.close()
  })

  it('lets the same blocks come again, and others in their place', async () => {
    const test = await open()
    await test.send(await test.transfer(testAddress(12), 5n))
    const blocks = await test.mine(3)
    const digest = await stateDigest(test.database)
    await rewind(test, 0)
    for (const block of blocks) {
      expect(test.reader.headerOf(block.header.hash)).toBeUndefined()
      expect(test.reader.confirm(block.header.hash)).toBeUndefined()
    }
    for (const block of blocks) expect(await test.accept(block)).toBe('connected')
    expect(await stateDigest(test.database)).toBe(digest)
    await rewind(test, 1)
    // The validator signs another block of the same height.
    const [other] = await test.mine()
    expect(other?.header.height).toBe(2)
    expect(other?.hash).not.toBe(blocks[1]?.hash)
    await expect(test.accept(blocks[1] as (typeof blocks)[number])).rejects.toMatchObject({ code: 'block-stale' })
    await test.close()
  })

  it('returns transactions to the pool and tells followers what went, newest first', async () => {
    const test = await open()
    const changes: ChainChange[] = []
    const staged: number[] = []
    test.chain.addIndexer({
      stage: (_, { disconnected }) => void staged.push(disconnected.length),
      follow: async (change) => void changes.push(change),
    })
    const { txid } = await test.send(await test.transfer(testAddress(12), 5n))
    await test.mine(3)
    const heard: ChainChange[] = []
    test.chain.events.on('change', (change) => heard.push(change))
    changes.length = staged.length = 0
    await rewind(test, 0)
    expect(changes).toHaveLength(1)
    expect(heard).toEqual(changes)
    expect(staged).toEqual([3])
    expect(changes[0]?.disconnected.map(({ header }) => header.height)).toEqual([3, 2, 1])
    expect(changes[0]?.connected).toEqual([])
    await test.mempool.settled()
    expect([...test.mempool.entries()].map(({ transaction }) => transaction.txid)).toEqual([txid])
    await test.close()
  })

  it('restores other parts in its batch, also where the tip stays, and then tells no follower', async () => {
    const test = await open()
    await test.mine(2)
    const before = test.chain.tip
    let told = 0
    test.chain.events.on('change', () => told++)
    const done: string[] = []
    const part: Restoration = {
      stage: (overlay) => {
        done.push('staged')
        overlay.put(meta.clock.key, new Uint8Array(8).fill(7))
      },
      follow: async () => void done.push(`followed at ${test.reader.height}`),
    }
    await rewind(test, 2, [part])
    expect(told).toBe(0)
    await rewind(test, 1, [part])
    expect(told).toBe(1)
    expect(done).toEqual(['staged', 'followed at 2', 'staged', 'followed at 1'])
    expect(test.database.get(meta.clock.key)).toEqual(Buffer.alloc(8, 7))
    // What somebody keeps for a tip is told from what holds now by the object.
    await test.mine()
    await rewind(test, 1)
    expect(test.chain.tip).not.toBe(before)
    await test.close()
  })

  it('is on disk when it is done: the next start passes its checks and goes on from there', async () => {
    const store = memoryStore()
    const test = await open(store)
    await test.mine(5)
    await rewind(test, 2)
    const digest = await stateDigest(test.database)
    // Nothing is closed: this is a kill.
    await test.database.idle()
    const row = test.database.get(tables.journal.key(test.database.sequence)) as Buffer
    expect(tables.journal.decode(row)).toMatchObject({ kind: 'rewind', height: 2 })
    await test.database.close()
    const again = await open(store)
    await checkRecentBlocks(again.chain, await checkJournal(again.database))
    expect(again.reader.height).toBe(2)
    expect(await stateDigest(again.database)).toBe(digest)
    await again.mine(2)
    const copy = await open()
    expect(await replay(again.database, copy.chain)).toBeUndefined()
    expect(await stateDigest(copy.database)).toBe(await stateDigest(again.database))
    await again.close()
    await copy.close()
  })

  it('goes below the depth of reorganisations, in batches of a bounded size', async () => {
    const test = await open()
    const genesis = await rowsOf(test)
    await test.mine(rewindBlocks + 300)
    const sizes: number[] = []
    test.chain.events.on('change', ({ disconnected }) => sizes.push(disconnected.length))
    const parts: number[] = []
    const part = { stage: () => void parts.push(test.reader.height), follow: async () => {} }
    await rewind(test, 0, [part])
    expect(sizes).toEqual([rewindBlocks, 300])
    expect(parts).toEqual([300])
    expect(await rowsOf(test)).toBe(genesis)
    await test.close()
  })

  it('is for devnets alone, and for blocks of the active chain', async () => {
    const other = await TestChain.open(oneValidator())
    other.chain.events.on('fatal', () => {})
    await other.mine(1)
    await expect(rewind(other, 0)).rejects.toThrow(InvariantError)
    const test = await open()
    test.chain.events.on('fatal', () => {})
    await expect(test.chain.exclusive(({ rewind: back }) => back(new Uint8Array(32), []))).rejects.toThrow(
      InvariantError,
    )
    await other.close()
    await test.close()
  })
})
