import { afterEach, expect, it } from 'vitest'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import type { ProgramHash } from '../../../src/base/primitives/address.js'
import { readBlock } from '../../../src/ledger/chain/read-body.js'
import { verifyPruned } from '../../../src/ledger/chain/verify-pruned.js'
import { keptEntries } from '../../../src/identity/proofs/kept-entries.js'
import { Resolver } from '../../../src/answers/resolver/resolver.js'
import type { ResolveOptions } from '../../../src/identity/did/resolution.js'
import { didKey } from '../../../src/ledger/storage/rows/did-reader.js'
import { leastKeptDocuments as keep } from '../../../src/ledger/storage/rows/prune-rows.js'
import { type DidOperationRow, tables } from '../../../src/ledger/storage/rows/tables.js'
import { memoryStore, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { rowsOf, wholeRows } from '../../support/builders/joined-chain.js'
import { named } from '../../support/builders/named-did.js'
import { Crowd, crowdNames, random } from '../../support/builders/random-chain.js'
import { inStep } from '../../support/fakes/standing.js'
import { rounds } from '../../support/process/thorough.js'

/** Random histories with reorganisations, on a chain that gives up documents and on one that keeps all. */

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)
const people = Array.from({ length: 5 }, holder)
/** All DIDs there may be. */
const dids = [...people.map(({ did }) => did), ...crowdNames.map(named)]
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type Roll = (sides: number) => number

async function opened(store = memoryStore()): Promise<TestChain> {
  return TestChain.open(withoutValidators, { store, signatures: new SignatureCache() })
}

/** Has people act in many blocks, up to a height. */
async function actUntil(test: TestChain, height: number, roll: Roll): Promise<void> {
  const crowd = new Crowd(roll, people)
  crowd.look(test)
  while (test.reader.height < height) {
    if (roll(3) > 0) await test.mineEmpty(Math.min(height - test.reader.height, 1 + roll(20)))
    else {
      for (let acts = 1 + roll(10); acts > 0; acts--) await crowd.act(test)
      test.clock.time += 1000
      await test.mine()
    }
  }
}

/** Gives blocks of a chain from a height on to another one. */
async function give(from: TestChain, to: TestChain, first: number): Promise<void> {
  for (let height = first; height <= from.reader.height; height++) {
    await to.accept(await readBlock(from.database, from.activeHeader(height)))
  }
  expect(to.chain.tip.header.id).toBe(from.chain.tip.header.id)
}

/** A chain with the blocks of another one up to a height, and more of its own: a branch that is longer by one. */
async function branchOf(whole: TestChain, fork: number, roll: Roll): Promise<TestChain> {
  const branch = await opened()
  closing.push(() => branch.close())
  for (let height = 1; height <= fork; height++) {
    await branch.accept(await readBlock(whole.database, whole.activeHeader(height)))
  }
  branch.clock.time = whole.clock.time + 1000
  await actUntil(branch, whole.reader.height + 1, roll)
  return branch
}

/** Gives up documents up to a height, in batches of random sizes. */
async function giveUp({ chain }: TestChain, to: number, roll: Roll): Promise<void> {
  const batch = () => ({ operations: 1 + roll(4), bytes: 1 + roll(3000) })
  while ((await chain.exclusive(({ pruneDocuments }) => pruneDocuments(to, batch()))) < to);
}

/** Answers about everyone: the latest state, proofs of it, and all that the second chain still has of the histories. */
async function answersOf(test: TestChain, had: ReadonlyMap<string, number>): Promise<unknown> {
  const { database, prover, clock } = test
  const standing = () => inStep(test.reader.height)
  const resolver = new Resolver({ database, prover, clock, tip: () => test.chain.tip.header, standing })
  const resolve = async (did: string, options: ResolveOptions = {}) => {
    return JSON.stringify(await resolver.resolve(did, options))
  }
  const answers = []
  for (const did of dids) {
    answers.push(await resolve(did, { context: true }))
    answers.push(await resolve(did, { proof: 'history' }))
    answers.push(await resolve(did, { all: true, context: true, skip: 0, limit: had.get(did) ?? 0 }))
  }
  const found = await resolver.query({ query: '{}', context: true })
  await resolver.close()
  return { answers, found }
}

/** The operations of each DID, oldest first. */
async function historiesOf({ database }: TestChain): Promise<ReadonlyMap<string, readonly DidOperationRow[]>> {
  const histories = dids.map(async (did) => {
    const rows = await database.rows(tables.didOperation.range(didKey(did) as ProgramHash))
    return [did, rows.map(([, row]) => tables.didOperation.decode(row))] as const
  })
  return new Map(await Promise.all(histories))
}

/** Those of which a later one up to a height superseded the document. */
function goneOf(rows: readonly DidOperationRow[], height: number): DidOperationRow[] {
  const old = rows.filter((row) => row.height <= height)
  const kept = new Set(keptEntries(old))
  return old.filter((_, i) => !kept.has(i))
}

/** Compares a chain that gave up documents up to a height with one that has all. */
async function compare(whole: TestChain, pruned: TestChain, height: number): Promise<void> {
  const histories = await historiesOf(whole)
  const gone = [...histories.values()].flatMap((rows) => goneOf(rows, height))
  const keyOf = (row: DidOperationRow) => tables.transaction.key(row.height, row.index).toString('hex')
  const [all, rows] = [await wholeRows(whole.database), await wholeRows(pruned.database)]
  for (const row of gone) all['transaction']?.delete(keyOf(row))
  expect(rows).toEqual(all)
  const given = [...(await rowsOf(pruned.database, tables.givenUp)).keys()].map((key) => `04${key.slice(2)}`)
  expect(given.sort()).toEqual(gone.map(keyOf).sort())
  const had = new Map([...histories].map(([did, all]) => [did, all.length - goneOf(all, height).length]))
  expect(await answersOf(pruned, had)).toEqual(await answersOf(whole, had))
}

it.each(Array.from({ length: rounds(1, 100) }, (_, i) => seed + i))(
  'a chain that gives up documents answers the latest state as one that keeps all, over reorganisations and stops (DIDLEDGER_SEED=%i)',
  async (one) => {
    const roll = random(one)
    const whole = await opened()
    closing.push(() => whole.close())
    const store = memoryStore()
    let pruned = await opened(store)
    closing.push(() => pruned.close())
    await actUntil(whole, keep + 60 + roll(20), roll)
    await give(whole, pruned, 1)
    let bound = whole.reader.height - keep
    await giveUp(pruned, bound - roll(20), roll)
    await giveUp(pruned, bound, roll)
    await compare(whole, pruned, bound)

    // A branch that leaves the chain at the bound, as deep as any does.
    const branch = await branchOf(whole, bound, roll)
    for (const to of [whole, pruned]) await give(branch, to, bound + 1)
    await compare(whole, pruned, bound)

    // Killed within a block, and opened again.
    bound = whole.reader.height - keep
    await pruned.chain.exclusive(({ pruneDocuments }) => pruneDocuments(bound, { operations: 1 }))
    await pruned.mempool.close()
    await pruned.database.close()
    pruned = await opened(store)
    await giveUp(pruned, bound, roll)
    await compare(whole, pruned, bound)

    // Its tip moves on without a difference.
    const height = whole.reader.height
    await actUntil(whole, height + 300, roll)
    await give(whole, pruned, height + 1)
    await compare(whole, pruned, bound)
    bound = whole.reader.height - keep
    await giveUp(pruned, bound, roll)
    await compare(whole, pruned, bound)
    expect(await verifyPruned(pruned.chain)).toBeUndefined()
    expect((await pruned.database.rows(tables.givenUp.range())).length).toBeGreaterThan(0)
  },
)
