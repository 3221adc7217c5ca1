import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { quickSigner } from '../../test/support/builders/signatures.js'
import { seededCreates, seededDid, writeOperations } from './did-rows.js'
import { didSizes } from './did-sizes.js'
import {
  type Chain,
  connectInto,
  createVerifierPool,
  type Database,
  didMapKey,
  keepMap,
  KnownDocuments,
  MapMemory,
  mapChangeOf,
  meta,
  Overlay,
  pagesAfter,
  putMapBack,
  putMapChange,
  readWay,
  SignatureCache,
  tables,
} from './dist.js'
import { mineBlock, withChain } from './load.js'
import { median, type Row } from './report.js'
import { type Cost, costOf } from './turn-probe.js'
import { Workshop } from './workshop.js'

/** Operations of a block. */
const operations = 500
const rounds = 22
const warmUp = 2
/** Blocks that change the map before the past is asked, and leaves that each changes. */
const pastBlocks = 288
const leavesOfBlock = 50
const asked = 4000

/**
 * The map of all DIDs in databases of growing numbers of DIDs: blocks of creates connected with it and without it in turn, what they
 * write, taking them back, and ways for proofs at the tip and 288 blocks below.
 */
export async function proofsSuite(): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of didSizes([100_000])) rows.push(...(await atSize(size)))
  return rows
}

async function atSize(size: number): Promise<Row[]> {
  const owner = quickSigner()
  const verifier = createVerifierPool()
  try {
    return await withChain(Workshop.spec(owner), { verifier }, async (chain) => {
      const { database } = chain
      const dids = size.toLocaleString('en')
      const { hash, height } = chain.tip.header
      await writeOperations(database, { hash, height }, seededCreates(size), 1)
      await keepMap(database, false)
      const began = performance.now()
      await keepMap(database, true)
      const built = (performance.now() - began) / 1000
      await database.checkpoint({ hash, height })
      return [
        { name: `making the map of ${dids} DIDs`, value: built, unit: 's' },
        { name: 'pages of the map on disk, per DID', value: (await pageBytes(database)) / size, unit: 'B' },
        ...(await connecting(chain, new Workshop(chain, owner), dids)),
        ...(await proving(database, size, dids)),
      ]
    })
  } finally {
    await verifier.close()
  }
}

async function pageBytes(database: Database): Promise<number> {
  let bytes = 0
  for await (const [key, value] of database.scan(tables.mapPage.range())) bytes += key.length + value.length + 4
  return bytes
}

/** How a block is connected: with the map, in a node that has run for a while or has just started; or without. */
const kinds = ['with', 'started', 'without'] as const
type Kind = (typeof kinds)[number]

/** Cost of connecting a block, and milliseconds from its begin to its end. */
interface Connected extends Cost {
  readonly time: number
}

/** One block of creates, connected over and over, with the map and without it. */
async function connecting(chain: Chain, shop: Workshop, dids: string): Promise<Row[]> {
  const { database, sanity } = chain
  const carried = Array.from({ length: operations }, () => shop.carry(shop.create(shop.holder({}))))
  const block = await mineBlock(chain, chain.tip.header, carried)
  const verifier = createVerifierPool()
  const bare = new Overlay(database)
  bare.del(meta.didMap.key)
  const { pages } = new MapMemory()
  let bytes = 0
  const connect = async (kind: Kind): Promise<Connected> => {
    const overlay = new Overlay(kind === 'without' ? bare : database)
    const fresh = {
      signatures: new SignatureCache(),
      documents: new KnownDocuments(),
      mapMemory: kind === 'with' ? new MapMemory(pages) : new MapMemory(),
    }
    const began = performance.now()
    const cost = await costOf(() =>
      connectInto(overlay, block, { sanity, genesis: chain.genesis.header.hash, verifier, ...fresh }),
    )
    const time = performance.now() - began
    if (kind === 'with') bytes = mapBytes(overlay)
    return { ...cost, time }
  }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const measured: Record<Kind, Connected>[] = []
  for (let round = 0; round < rounds; round++) {
    if (round === warmUp) delay.enable()
    const [first, second, third] = [0, 1, 2].map((i) => kinds[(round + i) % kinds.length] as Kind) as [Kind, Kind, Kind]
    const one = { [first]: await connect(first), [second]: await connect(second), [third]: await connect(third) }
    if (round >= warmUp) measured.push(one as Record<Kind, Connected>)
  }
  delay.disable()
  await verifier.close()
  const middle = (kind: Kind, what: 'time' | 'total' | 'longest') => median(measured.map((one) => one[kind][what]))
  const ratio = (kind: Kind) => ({
    value: median(measured.map((one) => one.without.time / one[kind].time)),
    against: 'the rate without the map',
  })
  const work = median(measured.map((one) => one.with.total / one.without.total))
  return [
    {
      name: `blocks of ${operations} creates, ${dids} DIDs`,
      value: operations / (middle('with', 'time') / 1000),
      unit: '/s',
      ratio: ratio('with'),
      target: { least: 0.85 },
    },
    {
      name: 'the same with no page in memory',
      value: operations / (middle('started', 'time') / 1000),
      unit: '/s',
      ratio: ratio('started'),
    },
    {
      name: 'processor time of such a block',
      value: middle('with', 'total'),
      unit: 'ms',
      ratio: { value: work, against: 'that without the map' },
    },
    {
      name: 'the map of an operation',
      value: ((middle('with', 'time') - middle('without', 'time')) * 1000) / operations,
      unit: 'µs',
    },
    { name: 'its bytes', value: bytes / operations, unit: 'B', target: { most: 3072 } },
    { name: 'the longest turn of such a block', value: middle('with', 'longest'), unit: 'ms', target: { most: 10 } },
    { name: 'the longest turn without the map', value: middle('without', 'longest'), unit: 'ms' },
    { name: 'event-loop delay p99 meanwhile', value: delay.percentile(99) / 1e6, unit: 'ms', target: { most: 10 } },
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
  const times: Record<'change' | 'back', number[]> = { change: [], back: [] }
  for (let height = 1; height <= pastBlocks; height++) {
    const drawn = new Map(Array.from({ length: leavesOfBlock }, random).map((key) => [String(key), key]))
    const leaves = [...drawn.values()]
      .sort((a, b) => Buffer.compare(a, b))
      .map((key) => ({ key, value: randomBytes(32) }))
    const overlay = new Overlay(database)
    const began = performance.now()
    await putMapChange(overlay, height, await mapChangeOf(overlay, leaves), { knownHeight: height })
    times.change.push(performance.now() - began)
    const again = performance.now()
    await putMapBack(new Overlay(overlay), height, noLeaves)
    times.back.push(performance.now() - again)
    await overlay.commit({ kind: 'pool', ...tip }, { sync: false })
  }
  const rows = database.freeze()
  const wanted = Array.from({ length: asked }, random)
  let siblings = 0
  const { pages } = new MapMemory()
  const rate = async (height: number) => {
    const began = performance.now()
    for (const key of wanted) siblings += (await readWay(pagesAfter(rows, height, pages), key)).siblings.length
    return asked / ((performance.now() - began) / 1000)
  }
  const [now, past] = [await rate(pastBlocks), await rate(0)]
  rows.close()
  const [change, back] = [median(times.change), median(times.back)]
  return [
    {
      name: `taking back a change of ${leavesOfBlock} leaves, ${dids} DIDs`,
      value: back,
      unit: 'ms',
      ratio: { value: back / change, against: 'making it' },
      target: { most: 1 },
    },
    { name: `ways at the tip, ${dids} DIDs`, value: now, unit: '/s', target: { least: 2000 } },
    { name: `ways ${pastBlocks} blocks below`, value: past, unit: '/s', target: { least: 2000 } },
    { name: 'siblings of a way', value: siblings / 2 / asked, unit: '' },
  ]
}
