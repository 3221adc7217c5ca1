import { randomBytes } from 'node:crypto'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { didMapKey } from '../../../src/identity/proofs/map-tree.js'
import { connectInto } from '../../../src/ledger/chain/connect-block.js'
import type { Database } from '../../../src/ledger/storage/database.js'
import { keepMap } from '../../../src/ledger/storage/care/build-map.js'
import { MapMemory, mapChangeOf, putMapBack, putMapChange } from '../../../src/ledger/storage/rows/map/map-rows.js'
import { pagesAfter, readWay } from '../../../src/ledger/storage/rows/map/read-way.js'
import { meta, tables } from '../../../src/ledger/storage/rows/tables.js'
import { KnownDocuments } from '../../../src/ledger/storage/write/known-documents.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { holder } from '../../../test/support/builders/did.js'
import { bytesOf, didSizes, seededDid, writeDids } from '../did-rows.js'
import { byTurns, type Cost, costOf, delayDuring, median, timeOf } from '../measure.js'
import { type Row, row, shown } from '../report.js'
import { type Beside, create, mineBlock, withWorkshop, type Workshop } from '../workshop.js'

/** Operations of a block. */
const operations = 500
/** Blocks that change the map before the past is asked, and leaves that each changes. */
const pastBlocks = 288
const leavesOfBlock = 50
const asked = 4000

/**
 * The map of all DIDs in databases of growing numbers of DIDs: blocks of creates connected with it and without it in turn, what they
 * write, taking them back, and ways for proofs at the tip and 288 blocks below.
 */
export async function suite(): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of didSizes([100_000]))
    rows.push(...(await withWorkshop((shop, beside) => atSize(shop, beside, size))))
  return rows
}

async function atSize(shop: Workshop, beside: Beside, size: number): Promise<Row[]> {
  const { chain } = shop
  const { database } = chain
  const dids = `${shown(size)} DIDs`
  await writeDids(chain, size)
  await keepMap(database, false)
  const built = (await timeOf(() => keepMap(database, true))) / 1000
  await database.checkpoint(chain.tip.header)
  return [
    row(`making the map of ${dids}`, built, 's'),
    row('pages of the map on disk, per DID', (await bytesOf(database, [tables.mapPage])) / size, 'B'),
    ...(await connecting(shop, beside, dids)),
    ...(await proving(database, size, dids)),
  ]
}

/** One block of creates, connected over and over: with the map, in a node that has run for a while or has just started, or without. */
async function connecting(shop: Workshop, { verifier }: Beside, dids: string): Promise<Row[]> {
  const { chain } = shop
  const { database, sanity, coinRoots } = chain
  const block = await mineBlock(
    chain,
    Array.from({ length: operations }, () => shop.carry(create(holder()))),
  )
  const bare = new Overlay(database)
  bare.del(meta.didMap.key)
  const { pages } = new MapMemory()
  let bytes = 0
  const into = (overlay: Overlay, mapMemory: MapMemory) => {
    const fresh = { signatures: new SignatureCache(), documents: new KnownDocuments(), mapMemory }
    return connectInto(overlay, block, { sanity, genesis: chain.genesis.header.hash, verifier, coinRoots, ...fresh })
  }
  const connect = {
    with: () => async () => {
      const overlay = new Overlay(database)
      await into(overlay, new MapMemory(pages))
      bytes = mapBytes(overlay)
    },
    started: () => () => into(new Overlay(database), new MapMemory()),
    without: () => () => into(new Overlay(bare), new MapMemory()),
  }
  await byTurns({ warmUp: 0, measured: 2 }, costOf, connect)
  let costs = {} as Record<keyof typeof connect, Cost[]>
  const delay = await delayDuring(async () => {
    costs = await byTurns({ warmUp: 0, measured: 20 }, costOf, connect)
  })
  const middle = (kind: keyof typeof connect, what: 'wall' | 'total' | 'longest') =>
    median(costs[kind].map((cost) => cost[what]))
  /** Median of what the first of two kinds took, round by round, of the other. */
  const part = (one: keyof typeof connect, other: keyof typeof connect, what: 'wall' | 'total') =>
    median(costs[one].map((cost, i) => cost[what] / (costs[other][i] as Cost)[what]))
  const rate = (kind: 'with' | 'started') => [part('without', kind, 'wall'), 'the rate without the map'] as const
  const work = [part('with', 'without', 'total'), 'that without the map'] as const
  const ofMap = ((middle('with', 'wall') - middle('without', 'wall')) * 1000) / operations
  const second = (kind: 'with' | 'started') => operations / (middle(kind, 'wall') / 1000)
  return [
    row(`blocks of ${operations} creates, ${dids}`, second('with'), '/s', { ratio: rate('with'), least: 0.85 }),
    row('the same with no page in memory', second('started'), '/s', { ratio: rate('started') }),
    row('processor time of such a block', middle('with', 'total'), 'ms', { ratio: work }),
    row('the map of an operation', ofMap, 'µs'),
    row('its bytes', bytes / operations, 'B', { most: 3072 }),
    row('the longest turn of such a block', middle('with', 'longest'), 'ms', { most: 10 }),
    row('the longest turn without the map', middle('without', 'longest'), 'ms'),
    row('event-loop delay p99 meanwhile', delay.percentile(99) / 1e6, 'ms', { most: 10 }),
  ]
}

function mapBytes({ changes }: Overlay): number {
  const ofMap: readonly (number | undefined)[] = [tables.mapPage, tables.mapPageBefore, tables.mapRoot].map(
    ({ number }) => number,
  )
  return [...changes.values()]
    .filter(({ key }) => ofMap.includes(key[0]))
    .reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0) + 4, 0)
}

function* noLeaves(): Generator<undefined, []> {
  return []
}

/** Changes of random leaves in many blocks, taking each back, and ways of DIDs. */
async function proving(database: Database, size: number, dids: string): Promise<Row[]> {
  const tip = { hash: new Uint8Array(32), height: 0 }
  const random = () => didMapKey(seededDid(Math.floor(Math.random() * size)).did)
  const [changes, backs]: [number[], number[]] = [[], []]
  for (let height = 1; height <= pastBlocks; height++) {
    const drawn = new Map(Array.from({ length: leavesOfBlock }, random).map((key) => [String(key), key]))
    const leaves = [...drawn.values()]
      .sort((a, b) => Buffer.compare(a, b))
      .map((key) => ({ key, value: randomBytes(32) }))
    const overlay = new Overlay(database)
    const change = async () =>
      putMapChange(overlay, height, await mapChangeOf(overlay, leaves), { knownHeight: height })
    changes.push(await timeOf(change))
    backs.push(await timeOf(() => putMapBack(new Overlay(overlay), height, noLeaves)))
    await overlay.commit({ kind: 'pool', ...tip }, { sync: false })
  }
  const rows = database.freeze()
  const wanted = Array.from({ length: asked }, random)
  let siblings = 0
  const { pages } = new MapMemory()
  const rate = async (height: number) => {
    const time = await timeOf(async () => {
      for (const key of wanted) siblings += (await readWay(pagesAfter(rows, height, pages), key)).siblings.length
    })
    return asked / (time / 1000)
  }
  const [now, past] = [await rate(pastBlocks), await rate(0)]
  rows.close()
  const ratio = [median(backs) / median(changes), 'making it'] as const
  return [
    row(`taking back a change of ${leavesOfBlock} leaves, ${dids}`, median(backs), 'ms', { ratio, most: 1 }),
    row(`ways at the tip, ${dids}`, now, '/s', { least: 2000 }),
    row(`ways ${pastBlocks} blocks below`, past, '/s', { least: 2000 }),
    row('siblings of a way', siblings / 2 / asked, ''),
  ]
}
