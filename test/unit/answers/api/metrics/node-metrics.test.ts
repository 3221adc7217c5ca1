import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { describedMetrics, monitoringPage } from '../../../../../scripts/docs/monitoring-page.js'
import { durationBuckets } from '../../../../../src/answers/api/metrics/answer-metrics.js'
import type { ApiServer } from '../../../../../src/answers/api/servers/node-server.js'
import { NodeMetrics } from '../../../../../src/answers/api/metrics/node-metrics.js'
import { ask, askJson, contextOf, serve } from '../../../../support/client/api.js'
import { TestChain } from '../../../../support/builders/chain.js'
import { testPublicKey } from '../../../../support/builders/spec.js'
import { toHex } from '../../../../../src/base/primitives/bytes.js'
import { code, repositoryFile, tableRows } from '../../../../support/assert/markdown.js'
import { type Family, parseMetrics, sampleOf } from '../../../../support/assert/prometheus.js'
import { inStep } from '../../../../support/fakes/standing.js'

/** What a name may end in: units, what is counted, and `info` for a constant 1 that carries labels. */
const units = [
  ...['seconds', 'bytes', 'total', 'blocks', 'transactions', 'connections', 'fds', 'info'],
  ...['peers', 'turns', 'keys', 'validators', 'chains', 'nodes', 'byte', 'batches', 'shards'],
]

const fourKeys = [0, 1, 2, 3].map((person) => toHex(testPublicKey(person)))

let node: TestChain
let server: ApiServer

beforeEach(async () => {
  node = await TestChain.open()
  server = await serve(contextOf(node))
})

afterEach(async () => {
  await server.close()
  await node.close()
})

async function scrape(port = server.port): Promise<Map<string, Family>> {
  const { status, headers, text } = await ask(port, '/metrics')
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  return parseMetrics(text)
}

describe('names', () => {
  it('end in their unit, and only counters in _total', () => {
    for (const { name, type } of describedMetrics()) {
      const unit = name.split('_').at(-1) as string
      if (name !== 'didledger_in_step') expect(units, name).toContain(unit)
      expect(name.endsWith('_total'), name).toBe(type === 'counter')
      expect(name).toMatch(/^(didledger|process|nodejs)_[a-z_]+$/)
    }
  })

  it('are those of docs/monitoring.md, and of what is served', async () => {
    const page = repositoryFile('docs/monitoring.md')
    expect(page).toBe(monitoringPage())
    const documented = tableRows(page).flatMap(([name, type]) =>
      ['counter', 'gauge', 'histogram'].includes(type ?? '') ? [code(name)] : [],
    )
    expect(documented).toEqual([...(await scrape()).keys()])
  })
})

describe('figures', () => {
  it('follow the chain and the pool', async () => {
    const before = await scrape()
    expect(sampleOf(before, 'didledger_chain_height_blocks')).toBe(0)
    expect(sampleOf(before, 'didledger_blocks_connected_total')).toBe(0)
    await node.mine()
    await node.mine()
    const after = await scrape()
    expect(sampleOf(after, 'didledger_chain_height_blocks')).toBe(2)
    expect(sampleOf(after, 'didledger_chain_tip_time_seconds')).toBe(node.chain.tip.header.time)
    expect(sampleOf(after, 'didledger_blocks_connected_total')).toBe(2)
    expect(sampleOf(after, 'didledger_blocks_disconnected_total')).toBe(0)
    expect(sampleOf(after, 'didledger_pool_transactions')).toBe(0)
    expect(sampleOf(after, 'didledger_build_info', { version: 'test' })).toBe(1)
  })

  it('tell of peers and votes, and are zero without', async () => {
    const names = ['didledger_banned_peers', 'didledger_voting_view_turns', 'didledger_votes_received_total']
    const alone = await scrape()
    for (const name of names) expect(sampleOf(alone, name), name).toBe(0)
    expect(sampleOf(alone, 'didledger_sync_target_blocks')).toBe(node.reader.height)
    const neighbor = { id: 7, name: 'x', height: 3, services: 1, relay: true, address: '10.0.0.1:1' }
    const network = {
      neighbors: () => [true, false, true].map((external) => ({ ...neighbor, external })),
      listBans: () => [{ kind: 'host', subject: '10.0.0.1', until: 1, reason: '' }] as const,
      receivedCount: 5,
    }
    const signing = { kind: 'voting' } as const
    const status = () => ({ height: 3, view: 4, step: 'prevote' as const, sponsor: new Uint8Array(33), signing })
    const { chain, mempool } = node
    const stalled = { reason: 'no-quorum', since: 1, detail: '' } as const
    const sync = { catchingUp: false, height: 2, target: 9 }
    const sources = {
      ...{ chain, mempool, resolver: { scannedDocuments: 0 }, version: '' },
      databaseBytes: async () => 0,
      diskSpace: async () => ({ free: 1, size: 2 }),
      health: () => ({ failed: false, stage: 'serving' as const, sync, standing: inStep(), stalled, clockOffset: -20 }),
    }
    const votes = () =>
      [true, true, false].map((heard) => ({
        publicKey: new Uint8Array(33),
        ...{ own: false, heard, prevote: heard, precommit: false },
      }))
    const metrics = new NodeMetrics({ ...sources, network, voting: { status, received: 6, votes } })
    const families = parseMetrics(await metrics.text())
    metrics.close()
    expect(names.map((name) => sampleOf(families, name))).toEqual([1, 4, 6])
    expect(sampleOf(families, 'didledger_peer_connections', { direction: 'inbound' })).toBe(2)
    expect(sampleOf(families, 'didledger_peer_connections', { direction: 'outbound' })).toBe(1)
    expect(sampleOf(families, 'didledger_sync_target_blocks')).toBe(2)
    expect(sampleOf(families, 'didledger_transactions_received_total')).toBe(5)
    expect(sampleOf(families, 'didledger_voting_keys')).toBe(1)
    expect(sampleOf(families, 'didledger_conflicting_blocks')).toBe(0)
    expect(sampleOf(families, 'didledger_voting_heard_validators')).toBe(2)
    expect(sampleOf(families, 'didledger_stalled_chains')).toBe(1)
    expect(sampleOf(families, 'didledger_clock_offset_seconds')).toBe(-20)
    for (const name of ['stalled_chains', 'clock_offset_seconds', 'voting_heard_validators']) {
      expect(sampleOf(alone, `didledger_${name}`)).toBe(0)
    }
  })

  it('tell how many validators there are, and how many of them make a quorum', async () => {
    const names = ['didledger_voting_validators', 'didledger_voting_quorum_validators']
    const without = await scrape()
    expect(names.map((name) => sampleOf(without, name))).toEqual([0, 0])
    const validated = await TestChain.open({ validators: fourKeys, producer: 'sponsor' })
    const other = await serve(contextOf(validated))
    const families = await scrape(other.port)
    expect(names.map((name) => sampleOf(families, name))).toEqual([4, 3])
    await other.close()
    await validated.close()
  })

  it('count requests by route and status, and their time', async () => {
    const path = '/api/v1/block/hash/:height'
    for (const height of ['0', '0', 'x', '9']) await ask(server.port, `/api/v1/block/hash/${height}`)
    await ask(server.port, '/nowhere')
    await ask(server.port, '/api/v1/block/height', { method: 'POST' })
    await ask(server.port, '/api/v1/block/height', { method: 'OPTIONS' })
    const families = await scrape()
    const requests = (status: string, of = path) =>
      sampleOf(families, 'didledger_http_requests_total', { path: of, status })
    expect([requests('200'), requests('400'), requests('404')]).toEqual([2, 1, 1])
    expect(['204', '404', '405'].map((status) => requests(status, 'other'))).toEqual([1, 1, 1])
    const duration = 'didledger_http_request_duration_seconds'
    expect(sampleOf(families, `${duration}_count`, { path })).toBe(4)
    expect(sampleOf(families, `${duration}_bucket`, { path, le: '+Inf' })).toBe(4)
    expect(sampleOf(families, `${duration}_sum`, { path })).toBeGreaterThan(0)
    const buckets = [...durationBuckets, '+Inf'].map(
      (le) => sampleOf(families, `${duration}_bucket`, { path, le: String(le) }) ?? NaN,
    )
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b))
  })

  it('count JSON-RPC calls by method and code, each of a batch', async () => {
    const resolve = (did: string) => ({ jsonrpc: '2.0', id: 1, method: 'resolvedid', params: { did, all: false } })
    const known = resolve('did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc')
    await askJson(server.port, '/rpc', known)
    await askJson(server.port, '/rpc', [known, resolve(''), { method: 'nothing', id: 1 }, 5])
    await askJson(server.port, '/rpc', [])
    await ask(server.port, '/rpc', { method: 'POST', body: '{' })
    const families = await scrape()
    const calls = (method: string, status: string) =>
      sampleOf(families, 'didledger_rpc_calls_total', { interface: 'http', method, status })
    expect([calls('resolvedid', 'ok'), calls('resolvedid', '-32602')]).toEqual([2, 1])
    expect(['-32601', '-32600', '-32700'].map((status) => calls('other', status))).toEqual([1, 2, 1])
    const count = 'didledger_rpc_call_duration_seconds_count'
    expect(sampleOf(families, count, { interface: 'http', method: 'resolvedid' })).toBe(3)
  })

  it('have no labels that clients make up', async () => {
    const size = async () => [...(await scrape()).values()].reduce((sum, { samples }) => sum + samples.length, 0)
    const make = async (i: number) => {
      await ask(server.port, `/nowhere/${i}`)
      await ask(server.port, `/api/v1/block/hash/${i}`)
      await askJson(server.port, '/rpc', { method: `m${i}`, id: i })
      await ask(server.port, '/metrics', { method: `M${i}` }).catch(() => undefined)
    }
    await make(1)
    const first = await size()
    for (let i = 2; i < 30; i++) await make(i)
    // The first question had not counted itself yet.
    expect(await size()).toBeLessThanOrEqual(first + durationBuckets.length + 4)
  })

  it('are those of one node, whatever another one of the process does', async () => {
    const other = await TestChain.open()
    const otherServer = await serve(contextOf(other))
    await other.mine()
    await ask(otherServer.port, '/api/v1/block/height')
    const [own, foreign] = [await scrape(), await scrape(otherServer.port)]
    const name = 'didledger_http_requests_total'
    const labels = { path: '/api/v1/block/height', status: '200' }
    expect([sampleOf(own, name, labels), sampleOf(foreign, name, labels)]).toEqual([undefined, 1])
    const connected = 'didledger_blocks_connected_total'
    expect([sampleOf(own, connected), sampleOf(foreign, connected)]).toEqual([0, 1])
    await otherServer.close()
    await other.close()
    await scrape()
  })

  it('of the process are of the kind that their names say', async () => {
    const families = await scrape()
    const now = Date.now() / 1000
    expect(sampleOf(families, 'process_start_time_seconds')).toBeGreaterThan(now - 3600)
    expect(sampleOf(families, 'process_start_time_seconds')).toBeLessThan(now)
    expect(sampleOf(families, 'process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
    const again = await scrape()
    const cpu = 'process_cpu_seconds_total'
    expect(sampleOf(again, cpu) as number).toBeGreaterThanOrEqual(sampleOf(families, cpu) as number)
    for (const percentile of ['50', '99', '100']) {
      expect(sampleOf(again, 'didledger_event_loop_delay_seconds', { percentile })).toBeLessThan(10)
    }
  })
})
