import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportBlocks } from '../../../src/ledger/chain/block-file.js'
import { checkRecentBlocks } from '../../../src/ledger/chain/check-recent-blocks.js'
import { readBlockBytes } from '../../../src/ledger/chain/read-body.js'
import { stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { verifyPruned } from '../../../src/ledger/chain/verify-pruned.js'
import { EventCursor } from '../../../src/ledger/events/event-cursor.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { Resolver } from '../../../src/answers/resolver/resolver.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { fromUtf8, toHex } from '../../../src/base/primitives/bytes.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { leastKeptDocuments as keep } from '../../../src/ledger/storage/rows/prune-rows.js'
import type { ResolveOptions, ResolveResult } from '../../../src/identity/did/resolution.js'
import { craft, type CraftedInput } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { holder } from '../../support/builders/did.js'
import { lightIn } from '../../support/builders/light-scene.js'
import { testAddress } from '../../support/builders/spec.js'
import { ask, contextOf, serve } from '../../support/client/api.js'
import { RpcClient } from '../../support/client/rpc.js'
import { inStep } from '../../support/fakes/standing.js'

/** A chain with superseded documents below its end, before and after these are given up. */

const [ada, bob, cid, dan] = [holder(), holder(), holder(), holder()]
const length = 330
const bound = length - keep

/** Transactions of each DID, oldest first. */
interface History {
  readonly ada: string[]
  readonly bob: string[]
  readonly dan: string[]
}

async function opened(): Promise<{ node: TestChain; txids: History }> {
  const node = await TestChain.open()
  const txids: History = { ada: [], bob: [], dan: [] }
  const publish = async (of: keyof History, operation: Parameters<TestChain['publish']>[0], did: string) => {
    txids[of].push(await node.publish(operation, did))
  }
  await publish('ada', ada.create(), ada.did)
  await publish('bob', bob.create(), bob.did)
  await node.publish(cid.create(), cid.did)
  for (let i = 0; i < 9; i++) await publish('ada', ada.update(txids.ada.at(-1) as string), ada.did)
  await publish('bob', bob.update(txids.bob.at(-1) as string), bob.did)
  await publish('bob', bob.deactivate(), bob.did)
  await node.publish(cid.declare(cid.issue(cid.did, { id: `${cid.did}#degree` })), cid.did)
  await publish('dan', dan.create(), dan.did)
  // The update at the bound supersedes a document that goes, and the one above it a document that stays.
  await node.mineEmpty(bound - 1 - node.reader.height)
  await publish('dan', dan.update(txids.dan.at(-1) as string), dan.did)
  await publish('dan', dan.update(txids.dan.at(-1) as string), dan.did)
  await node.mineEmpty(length - node.reader.height)
  return { node, txids }
}

/** Runs with a resolver over a chain. */
async function resolving<T>(node: TestChain, run: (resolver: Resolver) => Promise<T>): Promise<T> {
  const { database, prover, clock } = node
  const standing = () => inStep(node.reader.height)
  const resolver = new Resolver({ database, prover, clock, tip: () => node.chain.tip.header, standing })
  return run(resolver).finally(() => resolver.close())
}

function resolve(node: TestChain, did: string, options: ResolveOptions): Promise<ResolveResult> {
  return resolving(
    node,
    async (resolver) => JSON.parse(JSON.stringify(await resolver.resolve(did, options))) as ResolveResult,
  )
}

/** The latest state, which giving up documents must not change. */
async function latestOf(node: TestChain): Promise<unknown> {
  const rpc = new RpcClient(contextOf(node))
  const dids = [ada, bob, cid, dan].map(({ did }) => did)
  return {
    state: await stateDigest(node.database),
    dids: await Promise.all(dids.map((did) => resolve(node, did, { context: true }))),
    proofs: await Promise.all(dids.map((did) => resolve(node, did, { proof: 'history' }))),
    found: await resolving(node, (resolver) => resolver.query({ query: '{}' })),
    coins: await rpc.call('listunspent', { addresses: [testAddress(10)] }),
    credential: await rpc.call('did_resolveCredential', { id: `${cid.did}#degree`, proof: true }),
    blocks: await rpc.call('listblocks', { limit: 50 }),
  }
}

describe('a chain that gives up superseded documents', () => {
  let node: TestChain
  let txids: History
  let before: unknown
  let whole: ResolveResult
  let spent: CraftedInput
  let book: Awaited<ReturnType<typeof bookOf>>

  beforeAll(async () => {
    ;({ node, txids } = await opened())
    before = await latestOf(node)
    whole = await resolve(node, ada.did, { all: true })
    spent = (await node.reader.block(node.activeHeader(1))).transactions[1]?.inputs[0] as CraftedInput
    book = await bookOf(node)
    expect(node.chain.prunesDocuments).toBe(false)
    await expect(node.chain.exclusive(({ pruneDocuments }) => pruneDocuments(bound + 1))).rejects.toThrow(/may leave/)
  })
  afterAll(() => node.close())

  it('does so up to a height, in any number of batches', async () => {
    const step = () => node.chain.exclusive(({ pruneDocuments }) => pruneDocuments(bound, { operations: 1 }))
    const heights = [await step(), await step(), await step()]
    expect(heights).toEqual([...heights].sort((a, b) => a - b))
    while ((await step()) < bound);
    expect(await step()).toBe(bound)
    expect(node.chain).toMatchObject({ supersededHeight: bound, prunesDocuments: true })
    const given = await node.database.rows(tables.givenUp.range())
    // Nine of ten versions of the first, the create of the second, and of the last what the update at the bound superseded.
    expect(given).toHaveLength(9 + 1 + 1)
  })

  it('has the latest state of each DID, its proof and its search as they were', async () => {
    expect(await latestOf(node)).toEqual(before)
  })

  it('says of a whole history which operations it has the hashes of alone', async () => {
    const all = await resolve(node, ada.did, { all: true, context: true })
    expect(all.transaction).toEqual(whole.transaction?.slice(0, 1))
    expect(all.givenUp?.map(({ txid }) => txid)).toEqual(txids.ada.slice(0, -1).reverse())
    expect(all.givenUp).toEqual(
      whole.transaction?.slice(1).map(({ txid, timestamp, operation: { header, payload } }) => ({
        txid,
        timestamp,
        operation: header.operation,
        height: expect.any(Number) as number,
        payloadHash: toHex(sha256(fromUtf8(payload))),
      })),
    )
    expect(await resolve(node, ada.did, { all: true, skip: 0, limit: 4 })).toMatchObject({
      total: 10,
      start: 0,
      count: 4,
      transaction: [{ txid: txids.ada[9] }],
      givenUp: [{ txid: txids.ada[8] }, { txid: txids.ada[7] }, { txid: txids.ada[6] }],
    })
    const part = await resolve(node, ada.did, { all: true, skip: 8, limit: 4, context: true })
    expect(part).toMatchObject({ start: 8, count: 2, transaction: [], givenUp: [{ txid: txids.ada[1] }, {}] })
    expect(await resolve(node, bob.did, { all: true })).toMatchObject({
      status: 2,
      transaction: [{ txid: txids.bob[2] }, { txid: txids.bob[1] }],
      givenUp: [{ txid: txids.bob[0], operation: 'create' }],
    })
    expect(await resolve(node, dan.did, { all: true })).toMatchObject({
      transaction: [{ txid: txids.dan[2] }, { txid: txids.dan[1] }],
      givenUp: [{ txid: txids.dan[0] }],
    })
    expect(await resolve(node, cid.did, { all: true })).not.toHaveProperty('givenUp')
  })

  it('refuses what it gave up, and gives what it has, at every door', async () => {
    const rpc = new RpcClient(contextOf(node))
    const server = await serve(contextOf(node))
    const [gone, kept] = [txids.ada[4] as string, txids.ada[9] as string]
    const { height } = node.reader.transaction(Buffer.from(kept, 'hex').reverse()) ?? { height: 0 }
    try {
      const code = { code: -32021 }
      const id = node.activeHeader(5).header.id
      expect(await rpc.refusal('getrawtransaction', { txid: gone })).toMatchObject(code)
      expect(await rpc.call('getrawtransaction', { txid: kept })).toEqual(expect.any(String))
      for (const verbosity of [0, 1, 2])
        expect(await rpc.refusal('getblock', { blockhash: id, verbosity })).toMatchObject(code)
      const there = node.activeHeader(height).header.id
      expect(await rpc.call('getblock', { blockhash: there, verbosity: 2 })).toMatchObject({ height })
      expect(await rpc.call('getchaininfo', {})).toMatchObject({ superseded: bound })
      for (const path of [`transaction/${gone}`, 'block/details/height/5', `block/details/hash/${id}`]) {
        const { status, body } = await ask(server.port, `/api/v1/${path}`)
        expect({ path, status, body }).toMatchObject({ status: 404, body: { Error: 44003 } })
      }
      for (const version of [{ versionId: gone }, { versionHeight: 5 }]) {
        expect(await rpc.refusal('resolvedid', { did: ada.did, all: false, ...version })).toMatchObject(code)
      }
      expect(await rpc.call('resolvedid', { did: ada.did, all: false, versionId: kept })).toMatchObject({ status: 0 })
      expect(await rpc.refusal('resolvedid', { did: ada.did, all: true, proof: true })).toMatchObject(code)
      expect(await rpc.call('resolvedid', { did: cid.did, all: true, proof: true })).toMatchObject({ status: 0 })
      const listed = await rpc.call<{ operations: { txid: string }[] }>('listdidoperations', { limit: 100 })
      expect(listed).toMatchObject({ superseded: bound })
      const names = listed.operations.map(({ txid }) => txid)
      expect(names).toContain(kept)
      expect(names).not.toContain(gone)
      expect(await readBlockBytes(node.database, node.activeHeader(height))).toEqual(expect.any(Uint8Array))
      await expect(readBlockBytes(node.database, node.activeHeader(5))).rejects.toMatchObject({ code: 'pruned' })
    } finally {
      await server.close()
    }
  })

  it('lists the history of an address without what it gave up, to the last page', async () => {
    const rpc = new RpcClient(contextOf(node))
    interface Page {
      readonly transactions: readonly { readonly txid: string }[]
      readonly superseded: number
      readonly next?: object
    }
    const page = (limit: number, cursor?: object) =>
      rpc.call<Page>('getaddresshistory', { address: testAddress(10), limit, ...(cursor && { before: cursor }) })
    const all = await page(100)
    expect(all.superseded).toBe(bound)
    expect(all.transactions.map(({ txid }) => txid)).toEqual(expect.arrayContaining([txids.ada[9], txids.dan[1]]))
    expect(all.transactions.map(({ txid }) => txid)).not.toContain(txids.ada[4])
    const found: unknown[] = []
    for (let at = await page(2); ; at = await page(2, at.next)) {
      found.push(...at.transactions)
      if (at.next === undefined) break
    }
    expect(found).toEqual(all.transactions)
  })

  it('proves blocks that lack transactions, and lets light resolvers see the latest state', async () => {
    const server = await serve(contextOf(node))
    const light = lightIn({ server, book })
    for (const { did } of [ada, cid, dan]) expect(await light.resolve(did)).toMatchObject({ status: 0 })
    expect(await light.resolve(bob.did)).toMatchObject({ status: 2 })
    await expect(light.resolve(ada.did, { all: true })).rejects.toThrow()
    const rpc = new RpcClient(contextOf(node))
    expect(await rpc.call('light_anchor', { height: 5 })).toMatchObject({
      anchor: { branch: expect.any(String) as string },
    })
    await server.close()
  })

  it('replays events from above what it gave up', async () => {
    const log = await EventLog.open({ chain: node.chain, mempool: node.mempool, clock: node.clock })
    const from = (height: number) => new EventCursor(log, ['block'], { kind: 'height', height })
    expect(() => from(bound)).toThrow(expect.objectContaining({ code: 'pruned' }))
    expect((await from(bound + 1).replay())?.[0]?.data).toMatchObject({ height: bound + 1 })
  })

  it('takes what was spent long ago for spent, and tells the type of a coin of what it gave up', async () => {
    const again = craft(node.spec, [spent], [{ to: 31, value: 100n }], [10])
    await expect(node.send(again)).rejects.toMatchObject({ code: 'tx-double-spend' })
  })

  it('is verified by the hashes that it kept, and its files of blocks are refused', async () => {
    await expect(checkRecentBlocks(node.chain, { fromHeight: 0 })).resolves.toBeUndefined()
    expect(await verifyPruned(node.chain)).toBeUndefined()
    const written = async () => {
      for await (const piece of exportBlocks(node.chain)) void piece
    }
    await expect(written()).rejects.toMatchObject({ code: 'pruned' })
    const [[key] = []] = await node.database.rows(tables.givenUp.range(), { limit: 1 })
    const overlay = new Overlay(node.database)
    overlay.put(key as Buffer, tables.givenUp.encode({ txid: new Uint8Array(32), digest: new Uint8Array(32) }))
    const { hash, height } = node.chain.tip.header
    await overlay.commit({ kind: 'header', height, hash }, { sync: true })
    expect(await verifyPruned(node.chain)).toMatch(/transactions at height/)
  })
})

it.each([
  ['blocks first', ['prune', 'pruneDocuments']],
  ['documents first', ['pruneDocuments', 'prune']],
] as const)('a chain that gives up blocks and documents, %s, has the latest state of each DID', async (_, order) => {
  const { node, txids } = await opened()
  const dids = [ada, bob, cid, dan].map(({ did }) => did)
  const state = async () => ({
    state: await stateDigest(node.database),
    latest: await Promise.all(dids.map((did) => resolve(node, did, { context: true }))),
    proofs: await Promise.all(dids.map((did) => resolve(node, did, { proof: 'history' }))),
  })
  const before = await state()
  for (const what of order) await node.chain.exclusive((writer) => writer[what](bound))
  expect(node.chain).toMatchObject({ prunedHeight: bound, supersededHeight: bound })
  expect(await state()).toEqual(before)
  expect((await resolve(node, ada.did, { all: true })).givenUp).toHaveLength(9)
  expect(() => node.reader.transaction(Buffer.from(txids.ada[3] as string, 'hex').reverse())).toThrow(/prunes/)
  expect(await verifyPruned(node.chain)).toBeUndefined()
  await node.close()
})
