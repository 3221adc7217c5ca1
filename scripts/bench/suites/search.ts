import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Resolver } from '../../../src/answers/resolver/resolver.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import type { Ledger } from '../../../src/node/open-ledger.js'
import { holder } from '../../../test/support/builders/did.js'
import {
  bytesOf,
  type DidRow,
  didSizes,
  perBlock,
  seededDid,
  withoutIndex,
  writeDids,
  writeOperations,
} from '../did-rows.js'
import { byTurns, delayDuring, median, medianTime, timeOf } from '../measure.js'
import { following, runNode } from '../processes.js'
import { type Row, row, shown } from '../report.js'
import {
  coinOf,
  create,
  mineBlock,
  resolverOf,
  withDirectory,
  withLedger,
  withWorkshop,
  writtenSpec,
} from '../workshop.js'

const usual = [10_000, 100_000]
const rounds = { warmUp: 0, measured: 31 }
/** Milliseconds after the writing. */
const settle = 15_000
/** Operations of the DID with the longest history, and the height of its first block of them. */
const longHistory = 10_000
const historyHeight = 1_000_000
/** Creates of a block that is connected with and without the index. */
const creates = 200
const email = { $exists: true }
const firstPages = {
  'a service': { service: { type: 'Hub' } },
  'a credential': { credential: { type: ['ProfileCredential'] } },
  'the sample condition': { credential: { type: ['ProfileCredential'], subject: { email } } },
} as const
const totals = {
  'two tokens': { 'credential.type': 'BasicCredential', 'service.type': 'About' },
  'three tokens': { 'credential.type': 'BasicCredential', 'service.type': 'About', 'credential.subject.name': email },
} as const

/**
 * Searches by the index in databases of growing numbers of DIDs, written as blocks write them: first pages, totals, deep pages, what
 * the rows take, the start of a node; resolution of a DID with many operations; blocks of creates with and without the index.
 */
export async function suite(): Promise<Row[]> {
  const sizes = didSizes(usual)
  const all: Row[][] = []
  for (const size of sizes) all.push(await withDirectory((directory) => atSize(directory, size)))
  const between = `${shown(sizes.at(-1) as number)} and ${shown(sizes[0] as number)} DIDs`
  const growth = Object.keys(firstPages).map((name) => {
    const [before, after] = [all[0], all.at(-1)].map((rows) =>
      rows?.find((one) => one.name.includes(`page of ${name},`)),
    )
    const value = (after?.value ?? NaN) / (before?.value ?? NaN)
    return row(`first page of ${name}, growth`, value, 'times', { ratio: [value, between], most: 2 })
  })
  return [...all.flat(), ...(sizes.length > 1 ? growth : []), await connectRatio()]
}

async function atSize(directory: string, size: number): Promise<Row[]> {
  const dataDir = join(directory, 'data')
  const { file, spec } = await writtenSpec(directory, 1)
  const rows = await withLedger(spec, dataDir, async (ledger) => {
    const { chain, database } = ledger
    const { index, bytes } = await writeDids(chain, size)
    const indexed = await bytesOf(database, [tables.ordinal, tables.posting, tables.tokenCount])
    // LevelDB goes on to sort its tables for a while.
    await database.checkpoint(chain.tip.header)
    await setTimeout(settle)
    return [
      row(`bytes of a document, ${shown(size)} DIDs`, bytes / size, 'B'),
      row('index of a create', (index * 1000) / size, 'µs', { most: 200 }),
      row('rows 16 to 18 of a DID', indexed / size, 'B', { most: 250 }),
      ...(await searches((queryLimits) => resolverOf(ledger, { cacheBytes: 0, queryLimits }), size)),
      await history(ledger),
    ]
  })
  const start = await timeOf(async () => (await runNode(following(file, dataDir))).stop())
  return [...rows, row(`start of a node with ${shown(size)} DIDs`, start, 'ms', { most: 2000 })]
}

async function searches(resolver: (limits: object) => Resolver, size: number): Promise<Row[]> {
  const rows: Row[] = []
  const dids = `${shown(size)} DIDs`
  const delay = await delayDuring(async () => {
    for (const [name, query] of Object.entries(firstPages)) {
      const warm = resolver({})
      const time = await medianTime({ ...rounds, warmUp: 1 }, () => warm.query({ query, limit: 10 }))
      rows.push(row(`first page of ${name}, ${dids}`, time, 'ms', { most: 5 }))
    }
    for (const [name, query] of Object.entries(totals)) {
      let total = 0
      const time = await medianTime(rounds, async () => ({ total } = await resolver({}).query({ query, limit: 0 })))
      const what = `exact total of ${name}, cold, per 100,000 hits, ${dids}`
      rows.push(row(what, (time / total) * 100_000, 'ms', { most: 50 }))
    }
    const skip = Math.min(100_000, Math.floor(size / 2))
    const deep = await medianTime(rounds, () => resolver({}).query({ query: {}, skip, limit: 10 }))
    rows.push(row(`page after ${shown(skip)} others, cold`, deep, 'ms'))
    const query = { 'service.text': { $regex: 'no text like this' } }
    const search = () => resolver({ examined: 10 * size }).query({ query })
    const scan = await medianTime({ warmUp: 0, measured: 3 }, search)
    rows.push(row(`condition that the index does not answer, ${dids}`, scan, 'ms'))
  })
  return [...rows, row('event-loop delay p99 while searching', delay.percentile(99) / 1e6, 'ms', { most: 10 })]
}

/** Resolution of a DID with many operations, against one with a single one. */
async function history(ledger: Ledger): Promise<Row> {
  const { chain, database } = ledger
  const [{ did: other }, one] = [seededDid(0), seededDid(1)]
  const operations = function* (): Generator<DidRow> {
    for (let count = 2; count <= longHistory; count++) yield { ...one, count }
  }
  await writeOperations(chain, operations(), historyHeight)
  // Of the blocks of both last operations the resolver reads the time; they are taken away again before a node starts.
  const heights = [1, historyHeight + Math.floor((longHistory - 2) / perBlock)]
  const { hash, height: tipHeight } = chain.tip.header
  const activate = async (active: boolean) => {
    const overlay = new Overlay(database)
    for (const height of heights) {
      if (active) overlay.put(tables.active.key(height), hash)
      else overlay.del(tables.active.key(height))
    }
    await overlay.commit({ kind: 'pool', hash, height: tipHeight }, { sync: false })
  }
  await activate(true)
  const resolver = resolverOf(ledger, { cacheBytes: 0 })
  const { long, short } = await byTurns({ warmUp: 0, measured: 3000 }, timeOf, {
    long: () => () => resolver.resolve(one.did, { all: false }),
    short: () => () => resolver.resolve(other, { all: false }),
  })
  await activate(false)
  const time = median(long)
  const ratio = [time / median(short), 'a DID with one'] as const
  return row(`resolvedid of a DID with ${shown(longHistory)} operations`, time * 1000, 'µs', { ratio, most: 1.2 })
}

/** Blocks full of creates, every other one connected without the index. */
function connectRatio(): Promise<Row> {
  return withWorkshop(async (shop) => {
    const { chain } = shop
    const service = { id: '#hub', type: 'Hub', serviceEndpoint: `https://hub.example.org/${'x'.repeat(600)}` }
    const next = async () => {
      const made = Array.from({ length: creates }, () => shop.carry(create(holder(), { services: [service] })))
      const { bytes } = await mineBlock(chain, made)
      for (const tx of made) shop.coins.push(coinOf(tx))
      return () => chain.acceptBlock(bytes)
    }
    const times = await byTurns({ warmUp: 4, measured: 8 }, timeOf, {
      indexed: next,
      bare: async () => {
        const connect = await next()
        return async () => {
          const restore = withoutIndex()
          await connect()
          restore()
        }
      },
    })
    const [indexed, bare] = [median(times.indexed), median(times.bare)]
    const ratio = [bare / indexed, 'the rate without the index'] as const
    return row(`blocks of ${creates} creates`, creates / (indexed / 1000), '/s', { ratio, least: 0.8 })
  })
}
