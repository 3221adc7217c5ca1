import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import autocannon from 'autocannon'
import { PostgresServer, postgresPrograms } from '../../../test/support/process/postgres.js'
import { chainOfDids } from '../chain-of-dids.js'
import { commandFile } from '../compiled.js'
import { didSizes } from '../did-rows.js'
import { byTurns, figureOf, median, timeOf } from '../measure.js'
import { following, end, run, runNode, type RunningNode } from '../processes.js'
import { processorTime } from '../processor-time.js'
import { type Row, row } from '../report.js'
import { withDirectory } from '../workshop.js'

/** DIDs of the chain, unless `--dids` says otherwise. */
const usualDids = [20_000]
const rounds = { warmUp: 1, measured: 5 }
/** Requests at a time, and DIDs that are resolved without any row of them in memory. */
const [atOnce, coldDids] = [64, 5000]
/** Blocks between whose commit and the answer of a gateway the time is taken. */
const timedBlocks = 30
/** Gateways that are asked for a first page, and searches of each before. */
const [gateways, warmUps] = [5, 20]

/** Answers from PostgreSQL against those of the node; nothing where there are no programs of PostgreSQL. */
export async function suite(): Promise<Row[]> {
  if (postgresPrograms() === undefined) {
    console.error('gateway: left out, it needs PostgreSQL 15 or newer, or its programs named by POSTGRES_BIN')
    return []
  }
  const rows: Row[] = []
  for (const dids of didSizes(usualDids))
    rows.push(...(await withDirectory((directory) => answerRows(directory, dids))))
  return [...rows, ...(await withDirectory(tipRows))]
}

async function answerRows(directory: string, count: number): Promise<Row[]> {
  const source = join(directory, 'source')
  const { file, dids } = await chainOfDids(directory, source, { dids: count })
  const server = await PostgresServer.create()
  const parts = [await PostgresServer.create(), await PostgresServer.create(), await PostgresServer.create()]
  const nodes: RunningNode[] = []
  try {
    const seconds = (await timeOf(() => shipped([server], source))) / 1000
    // A directory has one user at a time: before the node.
    await shipped(parts, source)
    const bytes = Number(server.sql("SELECT pg_total_relation_size('didledger.row')"))
    const own = readdirSync(join(source, 'chain')).reduce(
      (sum, name) => sum + statSync(join(source, 'chain', name)).size,
      0,
    )
    // The chain stands still, and no node ships.
    const still = '--answer-out-of-step'
    const node = await runNode([...following(file, source), still])
    const serving = (servers = [server]) =>
      runNode(['gateway', '--genesis', file, '--shards', ...servers.map(({ url }) => url), still, '--stop-on-eof'])
    const gateway = await serving()
    const divided = await serving(parts)
    nodes.push(node, gateway, divided)
    return [
      row(`fill a shard with ${count} DIDs`, (seconds * 1e6) / count, 'µs a DID', { most: 480 }),
      row('  bytes in PostgreSQL', bytes / count, 'B a DID', { ratio: [bytes / own, 'those of LevelDB'], most: 1.3 }),
      ...(await coldRows(server, node, gateway, dids.slice(0, coldDids))),
      await busiestRow([server, gateway], [parts, divided], dids.slice(coldDids, 2 * coldDids)),
      ...(await searchRows(node, gateway, count, serving)),
    ]
  } finally {
    await Promise.all(nodes.map((one) => one.stop()))
    for (const one of [server, ...parts]) one.close()
  }
}

async function shipped(servers: readonly PostgresServer[], dataDir: string): Promise<void> {
  const urls = servers.map(({ url }) => url)
  const { process: loading } = await run([commandFile, 'ship', 'load', ...urls, '--data-dir', dataDir, '--json'])
  await end(loading)
}

const resolveCall = (did: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resolvedid', params: { did, all: false } })

/** The result of a call. */
async function asked({ rpc }: RunningNode, body: string): Promise<unknown> {
  const response = await fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
  if (result === undefined) throw new Error(`${body}: ${JSON.stringify(error)}`)
  return result
}

/** Each DID once, so many at a time: processor time of gateway and server, against that of the node. */
async function coldRows(
  server: PostgresServer,
  node: RunningNode,
  gateway: RunningNode,
  dids: readonly string[],
): Promise<Row[]> {
  const spent = async (to: RunningNode) => {
    const before = [processorTime([to.process.pid]), processorTime(server.pids())]
    await resolveAll(to, dids)
    const after = [processorTime([to.process.pid]), processorTime(server.pids())]
    return after.map((one, i) => ((one - (before[i] as number)) * 1000) / dids.length)
  }
  // The code is compiled by then; the rows of a state are dropped when it moves, and here it does not.
  const [atNode = 0] = await spent(node)
  const [atGateway = 0, atServer = 0] = await spent(gateway)
  return [
    row(`resolve ${dids.length} DIDs once, ${atOnce} at a time: gateway`, atGateway, 'µs an answer', {
      ratio: [atGateway / atNode, 'the node'],
      most: 1.5,
    }),
    row('  server', atServer, 'µs an answer', { ratio: [atServer / atNode, 'the node'], most: 0.5 }),
  ]
}

/** Resolves each DID once, so many at a time. */
async function resolveAll(to: RunningNode, dids: readonly string[]): Promise<void> {
  const left = dids.values()
  const ask = async () => {
    for (const did of left) await asked(to, resolveCall(did))
  }
  await Promise.all(Array.from({ length: atOnce }, ask))
}

/** Processor time of the busiest of several servers, each with a part of the rows, against that of one with all of them. */
async function busiestRow(
  [server, gateway]: readonly [PostgresServer, RunningNode],
  [parts, divided]: readonly [readonly PostgresServer[], RunningNode],
  dids: readonly string[],
): Promise<Row> {
  const spent = async (servers: readonly PostgresServer[], to: RunningNode) => {
    const before = servers.map((one) => processorTime(one.pids()))
    await resolveAll(to, dids)
    const times = servers.map((one, i) => processorTime(one.pids()) - (before[i] as number))
    return (Math.max(...times) * 1000) / dids.length
  }
  const alone = await spent([server], gateway)
  const busiest = await spent(parts, divided)
  return row(`busiest of ${parts.length} servers`, busiest, 'µs an answer', {
    ratio: [busiest / alone, 'one server'],
    most: 0.45,
  })
}

async function warmRow(node: RunningNode, gateway: RunningNode, did: string): Promise<Row> {
  const load = (to: RunningNode) => async () => {
    const headers = { 'content-type': 'application/json' }
    const { requests, duration, errors, non2xx } = await autocannon({
      ...{ url: to.rpc, connections: 10, duration: 2, method: 'POST', headers, body: resolveCall(did) },
    })
    if (errors + non2xx > 0) throw new Error('an answer failed')
    return requests.total / duration
  }
  const rates = await byTurns(rounds, figureOf, { node: () => load(node), gateway: () => load(gateway) })
  const [own, other] = [median(rates.gateway), median(rates.node)]
  return row('resolve a DID from memory, gateway', own, '/s', { ratio: [own / other, 'the node'], least: 0.7 })
}

async function searchRows(
  node: RunningNode,
  gateway: RunningNode,
  count: number,
  fresh: () => Promise<RunningNode>,
): Promise<Row[]> {
  const search = (params: object) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'query', params: { ...params, limit: 20 } })
  const page = (skip: number) => search({ service: 'About', skip })
  const firsts: number[] = []
  for (let i = 0; i < gateways; i++) {
    const one = await fresh()
    firsts.push(await firstPage(one, count, search, page(0)))
    await one.stop()
  }
  const first = [median(firsts), await firstPage(node, count, search, page(0))] as const
  const times = await byTurns(rounds, timeOf, {
    node: (round) => () => asked(node, page(20 * round)),
    gateway: (round) => () => asked(gateway, page(20 * round)),
  })
  const both = { 'service.type': 'About', expires: { $gte: '2030-01-01T00:00:00Z', $lt: '2030-02-01T00:00:00Z' } }
  const total = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'query',
    params: { query: JSON.stringify(both), limit: 0 },
  })
  const counted = async (to: RunningNode) => {
    const { total: found } = (await asked(to, total)) as { readonly total: number }
    if (found !== count) throw new Error(`${found} of ${count} were found`)
  }
  const totals = await byTurns(rounds, timeOf, {
    node: () => () => counted(node),
    gateway: () => () => counted(gateway),
  })
  return [
    row('first page of a search, none of whose rows the gateway has', first[0], 'ms', {
      ratio: [first[0] / first[1], 'the node'],
      most: 1.5,
    }),
    row('further pages, gateway', median(times.gateway), 'ms', {
      ratio: [median(times.gateway) / median(times.node), 'the node'],
    }),
    row('exact total by two lists of the index, gateway', (median(totals.gateway) * 1e5) / count, 'ms for 10^5 hits', {
      most: 80,
    }),
  ]
}

/** Milliseconds of a page none of whose rows were read, when the code is compiled: by pages of another list of the index, and of other DIDs. */
async function firstPage(
  of: RunningNode,
  count: number,
  search: (params: object) => string,
  page: string,
): Promise<number> {
  for (let i = 0; i < warmUps; i++) await asked(of, search({ query: '{}', skip: Math.floor(count / 2) + 20 * i }))
  return timeOf(() => asked(of, page))
}

/** From the block of a devnet to the answer of a gateway that has it. */
async function tipRows(directory: string): Promise<Row[]> {
  const server = await PostgresServer.create()
  const nodes: RunningNode[] = []
  try {
    const devnet = ['devnet', '--data-dir', join(directory, 'devnet'), '--ship', server.url, '--seed-dids', '10']
    const node = await runNode(devnet)
    nodes.push(node)
    const gateway = await runNode(['gateway', '--genesis', 'devnet', '--shards', server.url, '--stop-on-eof'])
    nodes.push(gateway)
    const times: number[] = []
    for (let i = 0; i < timedBlocks; i++) {
      await asked(node, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'dev_mine', params: { blocks: 1 } }))
      const height = String(
        Number(await asked(node, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getblockcount' }))) - 1,
      )
      const url = `${gateway.rest}/api/v1/block/height`
      times.push(
        await timeOf(() => fetch(url, { headers: { 'x-min-height': height } }).then((answer) => answer.text())),
      )
      await pause(50)
    }
    const found = await asked(
      node,
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'query', params: { query: '{}', limit: 1 } }),
    )
    const [{ id }] = (found as { readonly document: readonly [{ readonly id: string }] }).document
    return [
      row('from a block to the answer of a gateway that has it', median(times), 'ms', { most: 100 }),
      // Both are in step, as they are in service; of a chain that stands still no answer is kept.
      await warmRow(node, gateway, id),
    ]
  } finally {
    await Promise.all(nodes.map((one) => one.stop()))
    server.close()
  }
}
