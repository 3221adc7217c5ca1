import { expect, it } from 'vitest'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { maxAnchorCoinbase } from '../../../../src/identity/proofs/anchor-coinbase.js'
import { StorageError } from '../../../../src/ledger/storage/failure.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { meta } from '../../../../src/ledger/storage/rows/tables.js'
import { checkByRules } from '../../../../src/ledger/chain/check-rules.js'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { coinbasePayload, craftBlock } from '../../../support/builders/blocks.js'
import { memoryStore, type Store, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { testSpec } from '../../../support/builders/spec.js'

/** A chain that commits to the state of all DIDs from a block on, whose coinbases had any size before. */
const mapFrom = (height: number) => ({
  ...withoutValidators,
  didRoot: undefined,
  upgrades: [{ height, name: 'map', parameters: { didRoot: true } }],
})

/**
 * A store with a chain of an earlier version: block 1 has a coinbase of `size` bytes and `above` blocks on top, and no row says by
 * which rules it was checked.
 */
async function earlier(size: number, above = 2): Promise<Store> {
  const store = memoryStore()
  const test = await TestChain.open(mapFrom(2), { store })
  await test.accept(craftBlock(test.chain, { coinbase: coinbasePayload(test.chain, size) }))
  await test.mine(above)
  await change(test, (overlay) => overlay.del(meta.rules.key))
  await test.close()
  return store
}

async function change({ database, chain }: TestChain, stage: (overlay: Overlay) => void): Promise<void> {
  const { height, hash } = chain.tip.header
  const overlay = new Overlay(database)
  stage(overlay)
  await overlay.commit({ kind: 'header', height, hash }, { sync: false })
}

/** Makes it a chain that had to commit, and so to be small, from block 1 on. */
async function committedEarlier(store: Store): Promise<void> {
  const test = await TestChain.open(mapFrom(2), { store })
  const digest = parseSpec(testSpec(mapFrom(1))).upgradesDigest(test.reader.height)
  await change(test, (overlay) => {
    overlay.put(meta.upgrades.key, digest)
    overlay.del(meta.rules.key)
  })
  await test.close()
}

it('a database of an earlier version is refused where a coinbase is too large, and stays as it is', async () => {
  const store = await earlier(maxAnchorCoinbase + 1)
  await committedEarlier(store)
  for (let attempt = 0; attempt < 2; attempt++) {
    const opened = TestChain.open(mapFrom(1), { store })
    await expect(opened).rejects.toThrow(StorageError)
    await expect(TestChain.open(mapFrom(1), { store })).rejects.toThrow(
      /^the block at height 1 was valid in an earlier version and is not any more \(coinbase-too-large: .* 65537 bytes.*didledger chain reindex/,
    )
  }
})

it('it is taken where every coinbase has the size that the rule allows at its height, and looked through once', async () => {
  for (const [size, from] of [
    [maxAnchorCoinbase + 1, 2],
    [maxAnchorCoinbase, 1],
  ] as const) {
    const store = await earlier(size)
    if (from === 1) await committedEarlier(store)
    const test = await TestChain.open(mapFrom(from), { store })
    expect([test.reader.height, test.database.get(meta.rules.key)]).toEqual([3, Buffer.of(1)])
    await test.close()
  }
})

it('the tip is looked at too, and once it was well nothing is looked at or written again', async () => {
  const large = await earlier(maxAnchorCoinbase + 1, 0)
  await committedEarlier(large)
  await expect(TestChain.open(mapFrom(1), { store: large })).rejects.toThrow(/^the block at height 1 was valid/)
  const store = await earlier(maxAnchorCoinbase)
  const sequences: number[] = []
  for (let start = 0; start < 3; start++) {
    const database = await Database.over(store)
    sequences.push(database.sequence)
    await checkByRules(database, parseSpec(testSpec(mapFrom(2))), { height: 3, hash: zeroHash })
    sequences.push(database.sequence)
    await database.close()
  }
  const [before = 0] = sequences
  expect(sequences).toEqual([before, ...Array<number>(5).fill(before + 1)])
})

it('a new database says by which rules its blocks are checked', async () => {
  const test = await TestChain.open()
  expect(test.database.get(meta.rules.key)).toEqual(Buffer.of(1))
  await test.close()
})
