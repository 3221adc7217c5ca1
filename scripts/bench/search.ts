import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import type { Resolver as ResolverType } from '../../src/answers/resolver/resolver.js'
import { quickSigner } from '../../test/support/builders/signatures.js'
import { type DidRow, perBlock, seededCreates, seededDid, withoutIndex, writeOperations } from './did-rows.js'
import {
  chainProver,
  createVerifierPool,
  type Database,
  DataDirectory,
  openLedger,
  Overlay,
  Resolver,
  systemEnv,
  tables,
} from './dist.js'
import { didSizes } from './did-sizes.js'
import { fundedSpec, mineBlock, quiet, withChain, withDirectory } from './load.js'
import { runNode } from './processes.js'
import { median, type Row } from './report.js'
import { Workshop } from './workshop.js'

/** Numbers of DIDs, ascending; `--dids=10000,1000000` chooses others. */
const usualSizes = [10_000, 100_000]
const rounds = 31
/** Milliseconds after the writing. */
const settle = 15_000
/** Operations of the DID with the longest history, and the height of its first block of them. */
const longHistory = 10_000
const historyHeight = 1_000_000
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

/** Figures of one size by name. */
type Figures = Map<string, number>

/**
 * Searches by the index in databases of growing numbers of DIDs, written as blocks write them: first pages, totals, deep pages, what
 * the rows take, the start of a node; resolution of a DID with many operations; blocks of creates with and without the index.
 */
export async function searchSuite(): Promise<Row[]> {
  const sizes = didSizes(usualSizes)
  const all: Figures[] = []
  const rows: Row[] = []
  for (const size of sizes) {
    const { figures, rows: own } = await withDirectory((directory) => measure(directory, size))
    all.push(figures)
    rows.push(...own)
  }
  const [first, last] = [all[0] as Figures, all.at(-1) as Figures]
  const [least, most] = [sizes[0] as number, sizes.at(-1) as number]
  for (const name of sizes.length > 1 ? Object.keys(firstPages) : []) {
    const [before, after] = [first.get(name) as number, last.get(name) as number]
    rows.push({
      name: `first page of ${name}, growth`,
      value: after / before,
      unit: 'times',
      ratio: { value: after / before, against: `${text(most)} and ${text(least)} DIDs` },
      target: { most: 2 },
    })
  }
  return [...rows, await connectRatio()]
}

const text = (count: number) => count.toLocaleString('en')

async function measure(directory: string, size: number): Promise<{ figures: Figures; rows: Row[] }> {
  const dataDir = join(directory, 'data')
  const specFile = join(directory, 'spec.json')
  const { text: spec, spec: parsed } = fundedSpec(1)
  mkdirSync(directory, { recursive: true })
  writeFileSync(specFile, spec)
  const verifier = createVerifierPool()
  const { chain, database, clock } = await openLedger(
    parsed,
    await DataDirectory.open(dataDir),
    verifier,
    systemEnv(quiet),
  )
  const figures: Figures = new Map()
  const rows: Row[] = []
  try {
    const { hash, height } = chain.tip.header
    const tip = { hash, height, time: chain.tip.header.time }
    const written = await writeOperations(database, tip, seededCreates(size), 1)
    rows.push(
      { name: `bytes of a document, ${text(size)} DIDs`, value: written.bytes / size, unit: 'B' },
      { name: 'index of a create', value: (written.index * 1000) / size, unit: 'µs', target: { most: 200 } },
      { name: 'rows 16 to 18 of a DID', value: (await indexBytes(database)) / size, unit: 'B', target: { most: 250 } },
    )
    // LevelDB goes on to sort its tables for a while.
    await database.checkpoint({ hash, height })
    await setTimeout(settle)
    const standing = () => ({ inStep: true, height: 0, age: 0 }) as const
    const resolver = (changes = {}) =>
      new Resolver({
        database,
        prover: chainProver(chain),
        clock,
        tip: () => tip,
        standing,
        cacheBytes: 0,
        queryLimits: changes,
      })
    rows.push(...(await searches(resolver, size, figures)))
    rows.push(...(await histories(database, tip, resolver())))
    await chain.close()
  } finally {
    await database.close()
    await verifier.close()
  }
  const began = performance.now()
  const start = ['start', '--genesis', specFile, '--data-dir', dataDir]
  const node = await runNode(start)
  const value = performance.now() - began
  await node.stop()
  rows.push({ name: `start of a node with ${text(size)} DIDs`, value, unit: 'ms', target: { most: 2000 } })
  return { figures, rows }
}

async function indexBytes(database: Database): Promise<number> {
  let bytes = 0
  for (const table of [tables.ordinal, tables.posting, tables.tokenCount]) {
    for await (const [key, value] of database.scan(table.range())) bytes += key.length + value.length + 4
  }
  return bytes
}

async function searches(resolver: (limits?: object) => ResolverType, size: number, figures: Figures): Promise<Row[]> {
  const rows: Row[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  for (const [name, query] of Object.entries(firstPages)) {
    const warm = resolver()
    await warm.query({ query, limit: 10 })
    const value = await medianOf(() => warm.query({ query, limit: 10 }))
    figures.set(name, value)
    rows.push({ name: `first page of ${name}, ${text(size)} DIDs`, value, unit: 'ms', target: { most: 5 } })
  }
  for (const [name, query] of Object.entries(totals)) {
    let total = 0
    const value = await medianOf(async () => ({ total } = await resolver().query({ query, limit: 0 })))
    rows.push({
      name: `exact total of ${name}, cold, per 100,000 hits, ${text(size)} DIDs`,
      value: (value / total) * 100_000,
      unit: 'ms',
      target: { most: 50 },
    })
  }
  const skip = Math.min(100_000, Math.floor(size / 2))
  const deep = await medianOf(() => resolver().query({ query: {}, skip, limit: 10 }))
  rows.push({ name: `page after ${text(skip)} others, cold`, value: deep, unit: 'ms' })
  const open = { 'service.text': { $regex: 'no text like this' } }
  const scan = await medianOf(() => resolver({ examined: 10 * size }).query({ query: open }), 3)
  rows.push({ name: `condition that the index does not answer, ${text(size)} DIDs`, value: scan, unit: 'ms' })
  delay.disable()
  const value = delay.percentile(99) / 1e6
  return [...rows, { name: 'event-loop delay p99 while searching', value, unit: 'ms', target: { most: 10 } }]
}

/** Resolution of a DID with many operations, against one with a single one. */
async function histories(
  database: Database,
  tip: { readonly hash: Uint8Array; readonly height: number },
  resolver: ResolverType,
): Promise<Row[]> {
  const { did, text: document } = seededDid(1)
  const operations = function* (): Generator<DidRow & { readonly count: number }> {
    for (let count = 2; count <= longHistory; count++) yield { did, text: document, count }
  }
  await writeOperations(database, tip, operations(), historyHeight)
  // Of the blocks of both last operations the resolver reads the time; they are taken away again before a node starts.
  const heights = [1, historyHeight + Math.floor((longHistory - 2) / perBlock)]
  const activate = async (hash: Uint8Array | undefined) => {
    const overlay = new Overlay(database)
    for (const height of heights) {
      if (hash === undefined) overlay.del(tables.active.key(height))
      else overlay.put(tables.active.key(height), hash)
    }
    await overlay.commit({ kind: 'pool', hash: tip.hash, height: tip.height }, { sync: false })
  }
  await activate(tip.hash)
  const other = seededDid(0).did
  const times: Record<'long' | 'short', number[]> = { long: [], short: [] }
  for (let i = 0; i < 3000; i++) {
    times.long.push(await timed(() => resolver.resolve(did, { all: false })))
    times.short.push(await timed(() => resolver.resolve(other, { all: false })))
  }
  await activate(undefined)
  const [long, short] = [median(times.long), median(times.short)]
  return [
    {
      name: `resolvedid of a DID with ${text(longHistory)} operations`,
      value: long * 1000,
      unit: 'µs',
      ratio: { value: long / short, against: 'a DID with one' },
      target: { most: 1.2 },
    },
  ]
}

/** Blocks full of creates, every other one connected without the index. */
async function connectRatio(): Promise<Row> {
  const owner = quickSigner()
  const verifier = createVerifierPool()
  const [creates, blocks, warmUp] = [200, 24, 8]
  try {
    return await withChain(Workshop.spec(owner), { verifier }, async (chain) => {
      const shop = new Workshop(chain, owner)
      const times: Record<'with' | 'without', number[]> = { with: [], without: [] }
      for (let n = 0; n < blocks; n++) {
        const service = { id: '#hub', type: 'Hub', serviceEndpoint: `https://hub.example.org/${'x'.repeat(600)}` }
        const carried = Array.from({ length: creates }, () =>
          shop.carry(shop.create(shop.holder({ services: [service] }))),
        )
        const { bytes } = await mineBlock(chain, chain.tip.header, carried)
        // Pairs change places, so that neither is always the first.
        const bare = n % 4 === 1 || n % 4 === 2
        const restore = bare ? withoutIndex() : () => {}
        const time = await timed(() => chain.acceptBlock(bytes))
        restore()
        if (n >= warmUp) times[bare ? 'without' : 'with'].push(time)
        shop.coins.push(
          ...carried.map((tx) => ({
            txid: tx.hash,
            index: tx.outputs.length - 1,
            value: tx.outputs.at(-1)?.value ?? 0n,
          })),
        )
      }
      const [indexed, bare] = [median(times.with), median(times.without)]
      return {
        name: `blocks of ${creates} creates`,
        value: creates / (indexed / 1000),
        unit: '/s',
        ratio: { value: bare / indexed, against: 'the rate without the index' },
        target: { least: 0.8 },
      }
    })
  } finally {
    await verifier.close()
  }
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await act()
  return performance.now() - began
}

async function medianOf(act: () => Promise<unknown>, times = rounds): Promise<number> {
  const all: number[] = []
  for (let round = 0; round < times; round++) all.push(await timed(act))
  return median(all)
}
