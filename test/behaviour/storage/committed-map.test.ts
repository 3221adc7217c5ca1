import { describe, expect, it } from 'vitest'
import { verifyPruned } from '../../../src/ledger/chain/verify-pruned.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { commitmentTag, decodeCommitments, isCommitments } from '../../../src/identity/proofs/commitment.js'
import { mapRootOf } from '../../../src/identity/proofs/map-proof.js'
import { didMapKey, didRoot, type Leaf } from '../../../src/identity/proofs/map-tree.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { keepMap, leavesIn } from '../../../src/ledger/storage/care/build-map.js'
import { checkHistories, checkMapRows } from '../../../src/ledger/storage/care/check-map-rows.js'
import {
  mapRootAfter,
  provedFrom,
  provedHeights,
  storedMapRoot,
} from '../../../src/ledger/storage/rows/map/map-rows.js'
import { pagesAfter, readWay } from '../../../src/ledger/storage/rows/map/read-way.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { meta, tables } from '../../../src/ledger/storage/rows/tables.js'
import { faultOf } from '../../support/assert/row-invariants.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { memoryStore, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { naiveRoot } from '../../support/builders/naive-map.js'
import { Crowd, random } from '../../support/builders/random-chain.js'
import { rounds } from '../../support/process/thorough.js'

async function leavesOf({ database }: TestChain): Promise<Leaf[]> {
  const leaves: Leaf[] = []
  for await (const leaf of leavesIn(database)) leaves.push(leaf)
  return leaves
}

/** What the tip commits to. */
function committed({ chain, database }: TestChain): string | undefined {
  const coinbase = database.get(tables.transaction.key(chain.tip.header.height, 0)) as Buffer
  const [data] = Transaction.fromBytes(coinbase)
    .attributes.map((attribute) => attribute.data)
    .filter(isCommitments)
  const hash = data && decodeCommitments(data)?.get(commitmentTag.didRoot)
  return hash && toHex(hash)
}

/** What the state as it is now is committed to as. */
async function rootNow(test: TestChain): Promise<Hash> {
  return didRoot(test.chain.genesis.header.hash, naiveRoot(await leavesOf(test)))
}

/**
 * Replaces the last blocks by one block more, none of which has a transaction; they go back to the pool. `root`: what those are to
 * commit to, unless rows say it.
 */
async function reorganise(test: TestChain, depth: number, root?: Hash): Promise<void> {
  let parent = test.activeHeader(test.chain.tip.header.height - depth)
  for (let i = 0; i <= depth; i++) {
    const block = craftBlock(test.chain, { parent, ...(root && { didRoot: root }) })
    await test.accept(block)
    parent = test.knownHeader(block.header.hash)
  }
}

describe('the map that blocks commit to', () => {
  it.each(Array.from({ length: rounds(2, 60) }, (_, i) => i + 1))(
    'follows from operations alone, through reorganisations, and proves every height: seed %i',
    async (seed) => {
      const roll = random(seed)
      const test = await TestChain.open()
      const crowd = new Crowd(roll)
      for (let i = 0; i < 25; i++) {
        for (let n = roll(6); n > 0; n--) await crowd.act(test)
        if (roll(6) === 0 && test.chain.tip.header.height > 3) await reorganise(test, 1 + roll(3))
        else await test.mine()
        crowd.look(test)
        expect(toHex(storedMapRoot(test.database))).toBe(toHex(naiveRoot(await leavesOf(test))))
        expect(committed(test)).toBe(toHex(await rootNow(test)))
      }
      await checkHistories(test.database)
      await checkMapRows(test.database)
      expect(await faultOf(test)).toBeUndefined()
      // The way of each leaf, and of a key that is none, in the map after each block.
      const rows = test.database.freeze()
      const asked = [...(await leavesOf(test)).map(({ key }) => key), didMapKey('did:ledger:none')]
      for (let height = 0; height <= test.chain.tip.header.height; height++) {
        const root = toHex(mapRootAfter(test.database, height) as Uint8Array)
        for (const key of asked) {
          const { siblings, end } = await readWay(pagesAfter(rows, height), key)
          expect(toHex(mapRootOf({ siblings, ...(end && { leaf: end }) }, key))).toBe(root)
        }
      }
      rows.close()
    },
  )

  it('is the same when it is made from the rows of DIDs, in any number of batches', async () => {
    const test = await TestChain.open()
    const crowd = new Crowd(random(9))
    let root: Hash | undefined
    for (let i = 0; i < 20; i++) {
      for (let n = 0; n < 4; n++) await crowd.act(test)
      await test.mine()
      crowd.look(test)
      // More than the slots of a page.
      if (i < 17) {
        const one = holder()
        await test.publish(one.create(), one.did)
      }
      if (i === 16) root = await rootNow(test)
    }
    const { database } = test
    const before = await database.rows(tables.mapPage.range())
    expect(before.length).toBeGreaterThan(1)
    for (const sizes of [{}, { sortedAtOnce: 2, batchLeaves: 1 }, { sortedAtOnce: 3, batchLeaves: 2 }]) {
      await keepMap(database, false)
      expect(database.get(meta.didMap.key)).toBeUndefined()
      await keepMap(database, true, () => {}, sizes)
      expect(await database.rows(tables.mapPage.range())).toEqual(before)
      expect(await database.rows(tables.mapPageBefore.range())).toEqual([])
      expect(provedFrom(database)).toBe(test.chain.tip.header.height)
    }
    // Without rows to put it back it is hashed back.
    await reorganise(test, 3, root)
    expect(toHex(storedMapRoot(database))).toBe(toHex(naiveRoot(await leavesOf(test))))
    expect(await faultOf(test)).toBeUndefined()
  })

  it('is made anew where a kill ended its making', async () => {
    const store = memoryStore()
    const first = await TestChain.open({ didRoot: undefined, ...withoutValidators }, { store })
    let root: Hash | undefined
    for (let i = 0; i < 5; i++) {
      const one = holder()
      await first.publish(one.create(), one.did)
      if (i === 1) root = await rootNow(first)
    }
    await first.close()
    const killed = await Database.over(store)
    const commit = killed.commit.bind(killed)
    let left = 2
    killed.commit = (...batch) => (left-- > 0 ? commit(...batch) : Promise.reject(new Error('no more')))
    await expect(keepMap(killed, true, () => {}, { batchLeaves: 1 })).rejects.toThrow('no more')
    await killed.close()
    // The spec gains an upgrade above the tip.
    const upgrades = [{ height: 8, name: 'proofs', parameters: { didRoot: true } }]
    const test = await TestChain.open({ didRoot: undefined, upgrades, ...withoutValidators }, { store })
    await checkMapRows(test.database)
    expect(toHex(storedMapRoot(test.database))).toBe(toHex(naiveRoot(await leavesOf(test))))
    const seen = []
    for (let i = 0; i < 4; i++) {
      const one = holder()
      await test.publish(one.create(), one.did)
      seen.push(committed(test) !== undefined)
    }
    expect(seen).toEqual([false, false, true, true])
    await reorganise(test, 7, root)
    expect(toHex(storedMapRoot(test.database))).toBe(toHex(naiveRoot(await leavesOf(test))))
    expect(await faultOf(test)).toBeUndefined()
  })

  it('keeps what it needs for the last blocks, and no more', async () => {
    const test = await TestChain.open()
    const people = [holder(), holder(), holder()]
    for (const one of people) await test.publish(one.create(), one.did)
    await test.mine(provedHeights)
    const { database } = test
    expect(provedFrom(database)).toBe(3)
    expect(await database.rows(tables.mapPageBefore.range())).toEqual([])
    expect(tables.mapRoot.decode(database.get(tables.mapRoot.key(2)) as Buffer).pages).toEqual([])
    expect(toHex(mapRootAfter(database, 0) as Uint8Array)).toBe('00'.repeat(32))
    expect(await faultOf(test)).toBeUndefined()
  })

  it('is found wrong where a page, a leaf or an entry is', async () => {
    const test = await TestChain.open()
    for (let i = 0; i < 20; i++) {
      const one = holder()
      await test.send(await test.carry(one.create(), one.did, 10 + (i % 2)))
      if (i % 2 === 1) await test.mine()
    }
    const { database } = test
    expect(await verifyPruned(test.chain)).toBeUndefined()
    const spoil = async (key: Buffer, value: Buffer) => {
      const before = database.get(key) as Buffer
      const put = async (row: Buffer) => {
        const overlay = new Overlay(database)
        overlay.put(key, row)
        const { hash, height } = test.chain.tip.header
        await overlay.commit({ kind: 'pool', hash, height }, { sync: false })
      }
      await put(value)
      const fault = await verifyPruned(test.chain)
      await put(before)
      return fault
    }
    for (const [key, row] of await database.rows(tables.mapPage.range())) {
      const other = Buffer.from(row)
      other.writeUInt8((other.at(-1) as number) ^ 1, other.length - 1)
      expect(await spoil(key, other)).toMatch(/map of DIDs/)
    }
    const [operation] = await database.rows(tables.didOperation.range(), { limit: 1 })
    const [key, row] = operation as [Buffer, Buffer]
    for (const at of [38, 39, 43, 75, 106]) {
      const other = Buffer.from(row)
      other.writeUInt8((other[at] as number) ^ 1, at)
      expect(await spoil(key, other)).toMatch(/the history of a DID is wrong/)
    }
    expect(await verifyPruned(test.chain)).toBeUndefined()
  })
})
