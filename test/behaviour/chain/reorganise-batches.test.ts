import { describe, expect, it } from 'vitest'
import { LeftBranches } from '../../../src/ledger/chain/left-branches.js'
import { copyUnmined, replay, stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { InvariantError } from '../../../src/base/errors/rule-error.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { derivedTables, meta, rangeOf, tables } from '../../../src/ledger/storage/rows/tables.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'
import { FaultyStore } from '../../support/fakes/faulty-store.js'
import { faultOf } from '../../support/assert/row-invariants.js'
import { Crowd, random } from '../../support/builders/random-chain.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)
/** Shared by all chains of this file, which see the same blocks again and again. */
const signatures = new SignatureCache()
/** Less than two blocks of these tests together. */
const reorganisationBytes = 1000

interface Fork {
  /** The old branch from height 1 on. */
  readonly left: readonly Block[]
  /** The new branch from the fork on: with its last block it is the heavier one. */
  readonly right: readonly Block[]
  /** What waits on top of the old branch. */
  readonly waiting: readonly Transaction[]
  /** Which rule the new branch breaks, and where. */
  readonly broken?: { readonly index: number; readonly code: string }
}

/** Two branches with people who pay and keep DIDs on both, and share some transactions. */
async function fork(roll: (sides: number) => number, lengths: { common: number; left: number }): Promise<Fork> {
  const one = await TestChain.open(undefined, { signatures })
  const crowd = new Crowd(roll)
  for (let i = 0; i < lengths.common; i++) {
    for (let acts = roll(4); acts > 0; acts--) await crowd.act(one)
    await one.mine()
  }
  const two = await TestChain.open(undefined, { signatures })
  for (let height = 1; height <= lengths.common; height++) await two.accept(await blockAt(one, height))
  const others = new Crowd(roll)
  for (let i = 0; i < lengths.left; i++) {
    for (let acts = 1 + roll(5); acts > 0; acts--) await crowd.act(one)
    // Some of it is mined on both, at other places.
    for (const { transaction } of one.mempool.entries()) {
      if (roll(3) === 0) await two.mempool.accept(transaction.bytes, { local: false }).catch(() => {})
    }
    one.clock.time += 1000
    await one.mine()
  }
  for (let i = 0; i < 4; i++) await crowd.act(one)
  while (two.reader.height <= one.reader.height) {
    for (let acts = roll(5); acts > 0; acts--) await others.act(two)
    two.clock.time += 3000
    await two.mine()
  }
  const blocks = async (test: TestChain, from: number) => {
    const all: Block[] = []
    for (let height = from; height <= test.reader.height; height++) all.push(await blockAt(test, height))
    return all
  }
  return {
    left: await blocks(one, 1),
    right: await blocks(two, lengths.common + 1),
    waiting: [...one.mempool.entries()].map(({ transaction }) => transaction),
  }
}

async function blockAt({ reader }: TestChain, height: number): Promise<Block> {
  const known = reader.headerAt(height)
  if (known === undefined) throw new Error(`no block at height ${height}`)
  return reader.block(known)
}

/** The same fork, but a block of the new branch pays more than it may. */
async function greedy(sound: Fork, index: number): Promise<Fork> {
  const test = await TestChain.open(undefined, { signatures })
  for (const block of [...sound.left, ...sound.right]) await test.chain.acceptBlock(block.bytes)
  const right = sound.right.slice(0, index)
  const parentOf = (hash: Uint8Array) => ({ parent: test.chain.headers.known(hash) })
  const last = sound.right[index - 1] as Block
  // On a chain that does not follow this branch, nothing looks at its coins.
  const aside = await TestChain.open(undefined, { signatures })
  aside.clock.time = 3e12
  let parent = parentOf(last.header.hash)
  for (let at = index; at < sound.right.length; at++) {
    const block: Block = craftBlock(test.chain, { ...parent, ...(at === index ? { fees: 1n } : {}) })
    right.push(block)
    parent = { parent: { ...test.chain.headers.known(last.header.hash), header: block.header } }
  }
  return { ...sound, right, broken: { index, code: 'coinbase-value' } }
}

/** A chain on the old branch that has all of the new one but its last block. */
async function prepare({ left, right, waiting }: Fork, store: FaultyStore): Promise<TestChain> {
  const test = await reopen(store)
  for (const block of left) await test.accept(block)
  for (const { bytes } of waiting) await test.mempool.accept(bytes, { local: true })
  for (const block of right.slice(0, -1)) expect(await test.accept(block)).toBe('side')
  await test.database.idle()
  return test
}

const reopen = async (store: FaultyStore) => {
  const test = await TestChain.open(undefined, { store: store.store, signatures, reorganisationBytes })
  test.clock.time = 3e12
  return test
}

/** Everything that was acknowledged is on the chain, in the pool, or gone with a reason. */
function checkNothingLost(test: TestChain, { left, waiting }: Fork): void {
  const mined = left.flatMap(({ transactions }) => transactions.slice(1))
  for (const { hash, txid } of [...mined, ...waiting]) {
    const place = test.reader.transaction(hash) !== undefined ? 'mined' : test.mempool.get(hash) && 'pooled'
    expect(place ?? test.mempool.droppedReason(hash), txid).toBeDefined()
  }
}

async function checkWhole(test: TestChain, fork: Fork, ends: ReadonlyMap<string, string>): Promise<void> {
  const digest = ends.get(test.chain.tip.header.id)
  expect(digest, `the tip is one of the two: ${test.chain.tip.header.height}`).toBeDefined()
  expect(await stateDigest(test.database)).toBe(digest)
  expect(await faultOf(test)).toBe(undefined)
  expect(test.database.get(meta.reorganisation.key)).toBe(undefined)
  checkNothingLost(test, fork)
  await test.mempool.settled()
  expect(await test.database.rows(tables.leftBranch.range())).toEqual([])
}

describe('a reorganisation of several batches', () => {
  for (const kind of [
    'a sound branch',
    'a branch whose last block breaks a rule',
    'one that breaks it further below',
  ]) {
    it(`ends at the old or the new tip wherever it is stopped: ${kind}`, { timeout: 300_000 }, async () => {
      const roll = random(seed)
      const sound = await fork(roll, { common: 2, left: 3 })
      const at = { 'a sound branch': undefined, 'a branch whose last block breaks a rule': 3 }[kind]
      const chosen = kind === 'a sound branch' ? sound : await greedy(sound, at ?? 2)
      const top = chosen.right.at(-1) as Block
      const ends = new Map<string, string>()
      let batches = Infinity
      for (let lasts = 0; lasts <= batches; lasts++) {
        const store = new FaultyStore()
        const test = await prepare(chosen, store)
        const old = test.chain.tip.header
        ends.set(old.id, await stateDigest(test.database))
        const begun = store.writes
        store.lasts = begun + lasts
        test.chain.events.on('fatal', () => {})
        const end = await test.accept(top).catch((error: unknown) => error)
        if (store.writes - begun < lasts || end === 'connected' || (end as { code?: string }).code !== undefined) {
          // All of it was written.
          batches = lasts
          store.lasts = Infinity
          expect(end === 'connected' ? end : (end as { code?: string }).code).toBe(chosen.broken?.code ?? 'connected')
          if (end === 'connected') ends.set(top.hash, await stateDigest(test.database))
          await checkWhole(test, chosen, ends)
          break
        }
        // Whoever reads is at the old tip, or where only the pool was stopped at the new one; nothing else is written.
        const shown = test.chain.tip.header.id
        if (shown === top.hash) ends.set(shown, ends.get(shown) ?? (await stateDigest(test.database)))
        expect(await stateDigest(test.database)).toBe(ends.get(shown))
        await expect(test.accept(craftBlock(test.chain))).rejects.toThrow()
        await test.close().catch(() => {})

        // A start may be stopped as well.
        store.lasts = store.writes + roll(4)
        const early = await reopen(store).catch(() => undefined)
        await early?.close().catch(() => {})
        store.lasts = Infinity
        await store.close()
        const again = await reopen(store)
        const tip = again.chain.tip.header.id
        expect([old.id, ...(chosen.broken === undefined ? [top.hash] : [])]).toContain(tip)
        if (tip === top.hash) ends.set(tip, ends.get(tip) ?? (await stateDigest(again.database)))
        await checkWhole(again, chosen, ends)
        // It goes on from there.
        await again.mine()
        expect(await faultOf(again)).toBe(undefined)
        await again.close()
      }
      expect(batches).toBeGreaterThan(4)
      expect(ends.size).toBe(chosen.broken === undefined ? 2 : 1)
    })
  }

  it('is found by a rebuild that meets it half done', async () => {
    const chosen = await fork(random(seed + 3), { common: 2, left: 3 })
    const top = chosen.right.at(-1) as Block
    for (const lasts of [1, 3, 5]) {
      const store = new FaultyStore()
      const test = await prepare(chosen, store)
      const ends = [test.chain.tip.header.id, top.hash]
      store.lasts = store.writes + lasts
      test.chain.events.on('fatal', () => {})
      await test.accept(top).catch(() => {})
      await test.close().catch(() => {})
      store.lasts = Infinity
      await store.close()
      const source = await Database.over(store.store)
      expect(source.get(meta.reorganisation.key)).toBeDefined()
      const target = new FaultyStore()
      const rebuilt = await reopen(target)
      expect(await replay(source, rebuilt.chain)).toBe(undefined)
      expect(await copyUnmined(source, rebuilt.chain)).toBe(0)
      expect(ends).toContain(rebuilt.chain.tip.header.id)
      await rebuilt.close()
      const again = await reopen(target)
      expect(await faultOf(again)).toBe(undefined)
      checkNothingLost(again, chosen)
      await Promise.all([again.close(), source.close()])
    }
  })

  it('writes nothing more when the branch that it left does not connect any more', async () => {
    const test = await TestChain.open(undefined, { signatures, reorganisationBytes: 1 })
    test.chain.events.on('fatal', () => {})
    const genesis = test.chain.tip
    const on = (block: Block) => ({ parent: test.chain.headers.known(block.header.hash) })
    const left = craftBlock(test.chain)
    await test.accept(left)
    await test.accept(craftBlock(test.chain))
    const first = craftBlock(test.chain, { parent: genesis })
    await test.accept(first)
    const greedy = craftBlock(test.chain, { ...on(first), fees: 1n })
    await test.accept(greedy)
    const top = craftBlock(test.chain, on(greedy))
    const other = craftBlock(test.chain, { parent: genesis, fees: 1n })
    const tip = () => meta.tip.decode(test.database.newest.get(meta.tip.key) as Uint8Array)
    const foresee = async () => {
      const overlay = new Overlay(test.database.newest)
      overlay.put(tables.sideBody.key(left.header.hash), other.bytes)
      await overlay.commit({ kind: 'reorganisation', ...tip() }, { sync: false })
    }
    test.chain.addIndexer({ foresee, stage: () => {}, follow: async () => {} })
    await expect(test.accept(top)).rejects.toThrow(InvariantError)
    // The next start is to find it on its way.
    expect(tip().height).toBe(0)
    expect(test.database.newest.get(meta.reorganisation.key)).toBeDefined()
  })

  it('looks at each branch that was left once, whatever its number', async () => {
    const test = await TestChain.open(undefined, { signatures })
    await test.mine(3)
    const branches = new LeftBranches(test.chain)
    const commit = async (stage: (overlay: Overlay) => void) => {
      const overlay = new Overlay(test.database)
      stage(overlay)
      const { height, hash } = test.chain.tip.header
      await overlay.commit({ kind: 'pool', height, hash }, { sync: false })
    }
    const looked: number[] = []
    for (const [number, height] of [
      [9, 3],
      [3, 2],
      [9, 1],
    ] as const) {
      const tip = test.chain.headers.activeAt(height).header
      await commit((overlay) =>
        overlay.put(tables.leftBranch.key(number), tables.leftBranch.encode({ tip, forkHeight: 0 })),
      )
      for (let i = 0; i < 2; i++) await branches.look()
      for (let { first } = branches; first !== undefined; first = branches.first) {
        const branch = first
        looked.push(branch.number, branch.blocks.length)
        await commit((overlay) => branches.settle(branch, overlay))
      }
    }
    expect(looked).toEqual([9, 3, 3, 2, 9, 1])
    await test.close()
  })

  it('is one change to every reader', async () => {
    const chosen = await fork(random(seed + 1), { common: 2, left: 5 })
    const store = new FaultyStore()
    const test = await prepare(chosen, store)
    const top = chosen.right.at(-1) as Block
    const before = await rowsOf(test)
    const coins = await allOf(test, tables.coin.number)
    const tip = test.chain.tip
    let looks = 0
    const pending: Promise<string>[] = []
    let slow: AsyncGenerator<[Buffer, Buffer], void, void> | undefined
    let told = 0
    test.chain.events.on('change', () => told++)
    store.look = (written) => {
      // The pool writes after the change.
      if (!written.some((key) => meta.tip.key.equals(key))) return
      // Between the last write and the turn that follows it, too.
      looks++
      expect([told, test.chain.tip === tip]).toEqual([0, true])
      for (const [key, value] of before) expect(test.database.get(Buffer.from(key, 'latin1'))?.equals(value)).toBe(true)
      expect(test.database.get(tables.active.key(top.header.height))).toBe(undefined)
      pending.push(allOf(test, tables.coin.number))
      slow ??= test.database.scan(tables.transaction.range())
      if (looks === 1) void slow.next()
    }
    expect(await test.accept(top)).toBe('connected')
    store.look = () => {}
    expect(looks).toBeGreaterThan(10)
    expect(new Set(await Promise.all(pending))).toEqual(new Set([coins]))
    // One who began before goes on with what was there then.
    const rest: Buffer[] = []
    if (slow !== undefined) for await (const [key] of slow) rest.push(key)
    const old = [...before.keys()].filter((key) => key.charCodeAt(0) === tables.transaction.number)
    expect(rest.length).toBe(old.length - 1)
    expect([told, test.chain.tip.header.id]).toEqual([1, top.hash])
    expect(await allOf(test, tables.coin.number)).not.toBe(coins)
    await test.close()
  })

  it('stages no more at once than its largest block needs, however long the branches are', async () => {
    const largest = async (length: number) => {
      const chosen = await fork(random(seed + 2), { common: 1, left: length })
      const store = new FaultyStore()
      const test = await prepare(chosen, store)
      store.largest = 0
      const begun = store.writes
      expect(await test.accept(chosen.right.at(-1) as Block)).toBe('connected')
      const sizes = [...chosen.left, ...chosen.right].map(({ bytes }) => bytes.length)
      const result = { ratio: store.largest / Math.max(reorganisationBytes, ...sizes), batches: store.writes - begun }
      await test.close()
      return result
    }
    const [short, long] = [await largest(2), await largest(10)]
    expect(long.batches).toBeGreaterThan(3 * short.batches)
    // Rows of an output weigh a few times its bytes, whether they come or go.
    for (const { ratio } of [short, long]) expect(ratio).toBeLessThan(12)
  })
})

/** The rows of a table as one reader finds them who takes his time. */
async function allOf({ database }: TestChain, one: number): Promise<string> {
  const rows: string[] = []
  for await (const [key, value] of database.scan(rangeOf(one))) rows.push(`${toHex(key)} ${toHex(value)}`)
  return rows.join()
}

/** All rows that follow from the active chain, by key. */
async function rowsOf({ database }: TestChain): Promise<Map<string, Buffer>> {
  const rows = new Map<string, Buffer>()
  for (const one of derivedTables) {
    for (const [key, value] of await database.rows(rangeOf(one))) rows.set(key.toString('latin1'), value)
  }
  return rows
}
