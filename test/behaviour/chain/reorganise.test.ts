import { describe, expect, it } from 'vitest'
import { replay, stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { credentialDigest } from '../../../src/identity/did/known-document.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { digestOf } from '../../../src/ledger/storage/care/table-digest.js'
import { derivedTables, tables } from '../../../src/ledger/storage/rows/tables.js'
import { StoredState } from '../../../src/ledger/storage/stored-state.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { faultOf, leftovers, supplyOf } from '../../support/assert/row-invariants.js'
import { testAddress } from '../../support/builders/spec.js'
import { rounds } from '../../support/process/thorough.js'
import { Crowd, random } from '../../support/builders/random-chain.js'

/** Shared by all chains of this file, which see the same blocks again and again. */
const signatures = new SignatureCache()
const open = () => TestChain.open(undefined, { signatures })

async function checkSupply(test: TestChain): Promise<void> {
  const { issued, coins, addressCoins, balances, balancesOfCoins } = await supplyOf(test)
  expect([coins, addressCoins]).toEqual([issued, issued])
  expect(balances).toEqual(balancesOfCoins)
}

/** Every pooled transaction has its row, and every row its transaction. */
async function checkPoolRows({ database, mempool }: TestChain): Promise<void> {
  // A row that goes is written soon, not at once.
  await database.idle()
  await new Promise((resolve) => setImmediate(resolve))
  await database.idle()
  const rows = await database.rows(tables.pool.range())
  const stored = rows.map(([, value]) => Transaction.fromBytes(tables.pool.decode(value).bytes).txid)
  expect(stored.sort()).toEqual([...mempool.entries()].map(({ transaction }) => transaction.txid).sort())
}

/** A chain that has the first blocks of another. */
async function copyUpTo(test: TestChain, height: number): Promise<TestChain> {
  const copy = await open()
  copy.clock.time = test.clock.time
  for (let at = 1; at <= height; at++) await copy.accept(await blockAt(test, at))
  return copy
}

async function blockAt({ reader }: TestChain, height: number): Promise<Block> {
  const known = reader.headerAt(height)
  if (known === undefined) throw new Error(`no block at height ${height}`)
  return reader.block(known)
}

describe('random transfers, DID operations and reorganisations', () => {
  const seeds = Array.from({ length: rounds(1, 4) }, (_, i) => i + 1)
  it.each(seeds)('leave a state that a replay makes (seed %i)', async (seed) => {
    const roll = random(seed)
    const test = await open()
    const crowd = new Crowd(roll)
    let reorganisations = 0
    for (let step = 0; step < 260; step++) {
      const choice = roll(40)
      // What happens in the pool alone changes no row of coins; the next block would show it.
      const inPool = choice < 27
      if (inPool) await crowd.act(test)
      else if (choice < 39) {
        test.clock.time += 1000
        await test.mine()
      } else {
        const height = test.reader.height
        const depth = Math.min(height, 1 + roll(5))
        const rival = await copyUpTo(test, height - depth)
        const rivals = new Crowd(roll)
        // Some of what was mined comes again on the other branch, in other blocks.
        for (let at = height - depth + 1; at <= height; at++) {
          const { transactions } = await blockAt(test, at)
          for (const { bytes } of transactions.slice(1)) {
            if (roll(2) === 0) await rival.mempool.accept(bytes, { local: false }).catch(() => {})
          }
          if (roll(2) === 0) await rival.mine()
        }
        while (rival.reader.height <= height) {
          rival.clock.time += 1000
          for (let i = roll(4); i > 0; i--) await rivals.act(rival)
          await rival.mine()
        }
        test.clock.time = Math.max(test.clock.time, rival.clock.time)
        for (let at = height - depth + 1; at <= rival.reader.height; at++) {
          await test.accept(await blockAt(rival, at))
        }
        expect(toHex(test.chain.tip.header.hash)).toBe(toHex(rival.chain.tip.header.hash))
        expect(await stateDigest(test.database)).toBe(await stateDigest(rival.database))
        // The rival connected every one of these blocks once and in order, which is what a replay does.
        expect(toHex(await digestOf(test.database, derivedTables))).toBe(
          toHex(await digestOf(rival.database, derivedTables)),
        )
        crowd.look(test)
        reorganisations++
      }
      if (!inPool) await checkSupply(test)
      await checkPoolRows(test)
    }
    expect(reorganisations).toBeGreaterThan(2)
    expect(await faultOf(test)).toBe(undefined)
    expect(test.log.errors).toEqual([])
  })

  it('restore every row byte for byte when a block is taken back', async () => {
    const roll = random(9)
    const test = await open()
    const crowd = new Crowd(roll)
    for (let height = 1; height <= 40; height++) {
      for (let i = roll(6); i > 0; i--) await crowd.act(test)
      test.clock.time += 1000
      const fees = [...test.mempool.entries()].reduce((sum, { fee }) => sum + fee, 0n)
      const packages = [...test.mempool.byFeeRate()].flatMap((one) => one?.entries ?? [])
      const transactions = packages.map(({ transaction }) => transaction)
      const block = craftBlock(test.chain, { transactions, fees })
      expect(await leftovers(test, block)).toEqual([])
      await test.accept(block)
    }
  })
})

describe('trees of blocks', () => {
  it.each([11, 12, 13])('end in the same state whatever the order they come in (seed %i)', async (seed) => {
    const roll = random(seed)
    const origin = await open()
    const blocks: { block: Block; parent: number }[] = []
    for (let i = 0; i < 14; i++) {
      const parent = roll(4) === 0 || i === 0 ? roll(blocks.length + 1) - 1 : i - 1
      const path: Block[] = []
      for (let at = parent; at >= 0; at = blocks[at]?.parent as number) path.unshift(blocks[at]?.block as Block)
      const builder = await open()
      for (const block of path) await builder.accept(block)
      const crowd = new Crowd(roll)
      for (let acts = roll(4); acts > 0; acts--) await crowd.act(builder)
      const [block] = await builder.mine()
      blocks.push({ block: block as Block, parent })
    }
    // One more on top of a highest block: no tie decides.
    const heights = blocks.map(({ block }) => block.header.height)
    const highest = heights.indexOf(Math.max(...heights))
    for (const { block } of blocks) await origin.accept(block)
    const parent = origin.chain.headers.get((blocks[highest]?.block as Block).header.hash)
    if (parent === undefined) throw new Error('the parent is not known')
    blocks.push({ block: craftBlock(origin.chain, { parent }), parent: highest })

    const ends = new Set<string>()
    for (let order = 0; order < 6; order++) {
      const test = await open()
      const left = new Set(blocks.keys())
      const delivered = new Set([-1])
      while (left.size > 0) {
        const ready = [...left].filter((i) => delivered.has(blocks[i]?.parent as number))
        const next = ready[roll(ready.length)] as number
        await test.accept(blocks[next]?.block as Block)
        left.delete(next)
        delivered.add(next)
      }
      expect(await faultOf(test)).toBe(undefined)
      ends.add(`${test.chain.tip.chainWork} ${test.chain.tip.header.id} ${await stateDigest(test.database)}`)
    }
    expect(ends.size).toBe(1)
  })
})

describe('a reorganisation', () => {
  const rich = 100_000_000_000n

  it('keeps the first of two chains with equal work, across a restart too', async () => {
    const test = await open()
    const genesis = test.chain.tip
    const first = craftBlock(test.chain)
    expect(await test.accept(first)).toBe('connected')
    const second = craftBlock(test.chain, { parent: genesis })
    expect(await test.accept(second)).toBe('side')
    expect(await test.accept(second)).toBe('known')
    expect(test.chain.tip.header.id).toBe(first.hash)
    const known = test.chain.headers.get(second.header.hash)
    const third = craftBlock(test.chain, { ...(known === undefined ? {} : { parent: known }) })
    expect(await test.accept(third)).toBe('connected')
    expect(test.chain.tip.header.id).toBe(third.hash)
    expect(test.reader.headerOf(first.header.hash)?.status).toBe('side')
    expect((await test.reader.block(test.knownHeader(first.header.hash))).hash).toBe(first.hash)
    expect(await faultOf(test)).toBe(undefined)
  })

  it('refuses a branch at the block that breaks a rule, and everything on top of it, for good', async () => {
    const test = await open()
    const genesis = test.chain.tip
    for (let i = 0; i < 3; i++) await test.accept(craftBlock(test.chain))
    const before = await stateDigest(test.database)
    const tip = test.chain.tip.header.id
    const on = (parent: Block) => {
      const known = test.chain.headers.get(parent.header.hash)
      if (known === undefined) throw new Error('the parent is not known')
      return { parent: known }
    }
    const good = craftBlock(test.chain, { parent: genesis })
    await test.accept(good)
    const greedy = craftBlock(test.chain, { ...on(good), fees: 1n })
    expect(await test.accept(greedy)).toBe('side')
    // A second block on the greedy one, which is not part of the branch that will be tried.
    const other = craftBlock(test.chain, on(greedy))
    const next = craftBlock(test.chain, on(greedy))
    await test.accept(other)
    await test.accept(next)
    const top = craftBlock(test.chain, on(next))
    await expect(test.accept(top)).rejects.toMatchObject({ code: 'coinbase-value' })
    expect(test.chain.tip.header.id).toBe(tip)
    expect(await stateDigest(test.database)).toBe(before)
    const status = (block: Block) => test.chain.headers.get(block.header.hash)?.status
    expect([good, greedy, next, top].map(status)).toEqual(['side', 'invalid', 'invalid', 'invalid'])
    for (const block of [greedy, next, top]) {
      await expect(test.accept(block)).rejects.toMatchObject({ code: 'block-invalid' })
    }
    // `other` was kept aside before anybody knew; what builds on it must not be tried.
    const late = craftBlock(test.chain, on(other))
    await expect(test.accept(late)).rejects.toMatchObject({ code: 'block-parent-invalid' })
    expect(test.log.errors).toEqual([])
    // The part of the branch that holds can still win.
    let parent = good
    for (let i = 0; i < 3; i++) {
      const block = craftBlock(test.chain, on(parent))
      await test.accept(block)
      parent = block
    }
    expect(test.chain.tip.header.id).toBe(parent.hash)
    expect(await faultOf(test)).toBe(undefined)
  })

  it('takes back what was spent within its block', async () => {
    const test = await open()
    const genesis = test.chain.tip
    const { spec, chain } = test
    const first = craft(spec, [genesisCoin(chain)], [{ to: 30, value: rich - 1000n }], [10])
    const second = craft(spec, [outputOf(first)], [{ to: 31, value: rich - 2000n }], [30])
    const third = craft(spec, [outputOf(second)], [{ to: 30, value: rich - 3000n }], [31])
    const block = craftBlock(chain, { transactions: [first, second, third], fees: 3000n })
    expect(await leftovers(test, block)).toEqual([])
    await test.accept(block)
    await checkSupply(test)
    const rival = craftBlock(chain, { parent: genesis })
    await test.accept(rival)
    await test.accept(craftBlock(chain, { parent: test.knownHeader(rival.header.hash) }))
    await checkSupply(test)
    expect(await faultOf(test)).toBe(undefined)
    // The pool has all three again, in an order that a block can take.
    const [again] = await test.mine()
    expect(again?.transactions.slice(1).map(({ txid }) => txid)).toEqual([first.txid, second.txid, third.txid])
    await checkSupply(test)
  })

  it('never gives a document of another transaction for one whose DID was looked up before', async () => {
    const [ada, bob] = [holder(), holder()]
    const test = await open()
    await test.send(await test.transfer(testAddress(11), rich / 2n))
    await test.mine()
    const rival = await copyUpTo(test, 1)
    const credentials = [ada.issue(ada.did)]
    await test.publish(ada.create({ credentials }), ada.did)
    // Of a reader that knows nothing of the document yet.
    const own = new StoredState(test.database, { time: () => 0 }).did(ada.did)?.document
    expect(own?.authentication.size).toBe(2)
    const operation = bob.create({ credentials: [bob.issue(bob.did), bob.issue(bob.did, { id: '#more' })] })
    await rival.send(await rival.carry(operation, bob.did, 11))
    await rival.mine(2)
    for (const height of [2, 3]) await test.accept(await blockAt(rival, height))
    // In the place of the one document stands the other.
    expect(test.chain.state.did(bob.did)?.operationCount).toBe(1)
    expect(test.chain.state.did(ada.did)).toBe(undefined)
    expect(() => own?.credentials).toThrow(/the place of a document is missing/)
    // Its transaction waited for a block again, and has another place now.
    await test.mine()
    const expected = ada.document({ credentials }).credentials.map(credentialDigest)
    expect(own?.credentials).toEqual(new Set(expected))
    const again = test.chain.state.did(ada.did)?.document
    expect([again?.id, again?.credentials]).toEqual([ada.did, new Set(expected)])
  })

  it('replays into an empty chain', async () => {
    const test = await open()
    await test.mine(5)
    const copy = await open()
    const heights: number[] = []
    expect(await replay(test.database, copy.chain, (height) => heights.push(height))).toBe(undefined)
    expect(heights).toEqual([5])
    expect(copy.chain.tip.header.id).toBe(test.chain.tip.header.id)
    expect(copy.database.get(tables.active.key(5))).toEqual(test.database.get(tables.active.key(5)))
  })
})
