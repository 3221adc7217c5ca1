import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toHex } from '../../../src/base/primitives/bytes.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import type { Standing } from '../../../src/answers/resolver/standing.js'
import type { Gateway } from '../../../src/node/gateway/gateway.js'
import { meta } from '../../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { testAddress } from '../../support/builders/spec.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { LedgerEngine } from '../../support/fakes/ledger-engine.js'
import { nodeOfChain } from '../../support/fakes/named-chain.js'
import { behind, inStep, pausing } from '../../support/fakes/standing.js'
import { ManualTimers } from '../../support/fakes/manual-timers.js'
import { eventually } from '../../support/process/patience.js'
import { gatewayOver } from '../../support/network/gateways.js'

let node: TestChain
let server: ApiServer
let engine: LedgerEngine
let alone: Gateway
let gateway: Gateway

beforeAll(async () => {
  node = await TestChain.open(withoutValidators)
  await node.mineEmpty(5)
  server = await serve(contextOf(node))
  engine = new LedgerEngine(node, 2)
  alone = await gatewayOver(node, engine)
  // The first node is gone.
  gateway = await gatewayOver(node, new LedgerEngine(node), ['http://127.0.0.1:9', `http://127.0.0.1:${server.port}`])
})
afterAll(async () => {
  await alone.close()
  await gateway.close()
  await server.close()
  await node.close()
})

const call = (to: Gateway, method: string, params: unknown = {}) =>
  askJson(to.ports.rpc, '/', { jsonrpc: '2.0', id: 1, method, params })

const nodesOwn = [
  ['getinfo', {}],
  ['getrawmempool', {}],
  ['getnodestate', {}],
  ['getneighbors', {}],
  ['getmininginfo', {}],
  ['getconnectioncount', {}],
  ['getutxosbyamount', { address: testAddress(10), amount: '1' }],
] as const

describe('a gateway without a node', () => {
  it.each(nodesOwn)('refuses %s', async (method, params) => {
    expect((await call(alone, method, params)).body).toMatchObject({
      error: { code: -32601, data: expect.stringContaining('ask a node') as string },
    })
  })

  it('refuses a transaction, and what only a node knows of itself, by REST', async () => {
    const { bytes } = await node.transfer(testAddress(11), 5n)
    const sent = await askJson(alone.ports.rest, '/api/v1/transaction', { data: toHex(bytes) })
    const state = await ask(alone.ports.rest, '/api/v1/node/state')
    for (const answer of [sent, state]) {
      expect(answer).toMatchObject({ status: 503, body: { Error: 42003 } })
    }
  })

  it('answers what is on the chain beside refusals of the same batch', async () => {
    const batch = ['getblockcount', 'getinfo', 'getbestblockhash'].map((method, id) => ({ jsonrpc: '2.0', id, method }))
    const { body } = await askJson(alone.ports.rpc, '/', batch)
    expect(body).toMatchObject([
      { id: 0, result: node.reader.height + 1 },
      { id: 1, error: { code: -32601 } },
      { id: 2, result: node.chain.tip.header.id },
    ])
  })
})

describe('a gateway with nodes', () => {
  it.each(nodesOwn)('has the first that answers say %s', async (method, params) => {
    const { text } = await askJson(server.port, '/rpc', { jsonrpc: '2.0', id: 1, method, params })
    expect((await call(gateway, method, params)).text).toBe(text)
  })

  it('has a node take transactions, whose refusals stand as they are', async () => {
    const { bytes, txid } = await node.transfer(testAddress(11), 7n)
    expect((await call(gateway, 'sendrawtransaction', { data: toHex(bytes) })).body).toMatchObject({ result: txid })
    expect((await ask(gateway.ports.rest, '/api/v1/transactionpool')).text).toContain(txid)
    expect((await ask(gateway.ports.rest, `/api/v1/transaction/${txid}`)).text).toContain(txid)
    const again = { data: toHex(bytes) }
    const refused = await askJson(server.port, '/api/v1/transaction', again)
    expect(await askJson(gateway.ports.rest, '/api/v1/transaction', again)).toMatchObject({
      status: refused.status,
      text: refused.text,
    })
  })

  it('gives no answer of a block that it has not itself yet', async () => {
    const lagging = new LedgerEngine(node)
    const follower = await gatewayOver(node, lagging, [`http://127.0.0.1:${server.port}`])
    const shown = await lagging.hideAfter(0)
    await node.mineEmpty(1)
    const { height } = node.reader
    const asked = ask(follower.ports.rest, '/api/v1/node/state')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(follower.chain.tip.header.height).toBe(height - 1)
    shown()
    expect(await asked).toMatchObject({ status: 200, headers: { 'x-chain-height': String(height) } })
    expect(follower.chain.tip.header.height).toBe(height)
    await follower.close()
  })

  it('has one that answers say it, however many ask at once', async () => {
    const asked = Array.from({ length: 10 }, () => ask(gateway.ports.rest, '/api/v1/node/state'))
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array<number>(10).fill(200))
  })

  it('takes no answer of a node that lacks blocks which it has itself', async () => {
    const young = await TestChain.open(withoutValidators)
    const low = await serve(contextOf(young, { limits: { heightWait: 10 } }))
    const ahead = await gatewayOver(node, new LedgerEngine(node), [`http://127.0.0.1:${low.port}`])
    expect(await ask(ahead.ports.rest, '/api/v1/node/state')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
    })
    expect((await call(ahead, 'getinfo')).body).toMatchObject({ error: { code: -32022 } })
    await ahead.close()
    await low.close()
    await young.close()
  })

  it('takes a node for behind whose height is no number', async () => {
    const high: RequestListener = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-chain-height': 'high' }).end('{}')
    }
    const odd = createServer(nodeOfChain(node.chain.genesis.hash, high)).listen(0, '127.0.0.1')
    await once(odd, 'listening')
    const over = await gatewayOver(node, new LedgerEngine(node), [
      `http://127.0.0.1:${(odd.address() as AddressInfo).port}`,
    ])
    expect(await ask(over.ports.rest, '/api/v1/node/state')).toMatchObject({ status: 503, body: { Error: 45002 } })
    await over.close()
    odd.close()
  })

  it('says that none answers', async () => {
    const without = await gatewayOver(node, new LedgerEngine(node), ['http://127.0.0.1:9'])
    expect((await call(without, 'getinfo')).body).toMatchObject({ error: { code: -32023 } })
    const { bytes } = await node.transfer(testAddress(11), 5n)
    const told = [
      (await call(without, 'getinfo')).text,
      (await ask(without.ports.rest, '/api/v1/node/state')).text,
      (await call(without, 'sendrawtransaction', { data: toHex(bytes) })).text,
      (await askJson(without.ports.rest, '/api/v1/transaction', { data: toHex(bytes) })).text,
    ]
    // Nothing was passed on to a node whose chain is not known.
    expect(told.map((text) => text.includes('nevertheless'))).toEqual([false, false, false, false])
    await without.close()
  })
})

describe('a client of a gateway', () => {
  it('that names a height waits for it, and gets no older answer', async () => {
    const height = node.reader.height + 1
    const asked = ask(alone.ports.rest, '/api/v1/block/height', { headers: { 'x-min-height': String(height) } })
    await node.mineEmpty(1)
    expect(await asked).toMatchObject({
      status: 200,
      body: { Result: height },
      headers: { 'x-chain-height': String(height) },
    })
    const later = await ask(alone.ports.rest, '/api/v1/block/height', {
      headers: { 'x-min-height': String(height + 1) },
    })
    expect(later).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  })

  it('that has an answer of the tip gets 304', async () => {
    const path = `/api/v1/asset/balances/${testAddress(10)}`
    const { headers } = await ask(alone.ports.rest, path)
    const again = await ask(alone.ports.rest, path, { headers: { 'if-none-match': String(headers['etag']) } })
    expect(again).toMatchObject({ status: 304, text: '' })
  })

  it('sees whether it is ready, and its figures', async () => {
    expect((await ask(alone.ports.rest, '/readyz')).body).toMatchObject({ status: 'ready', height: node.reader.height })
    const { text } = await ask(alone.ports.rest, '/metrics')
    expect(text).toMatch(/^didledger_gateway_replays_total [1-9]/m)
    expect(text).toMatch(/^didledger_http_requests_total{path="\/api\/v1\/block\/height",status="200"} [1-9]/m)
  })

  it('is told while shards show several states, and while one is gone', async () => {
    const shown = await engine.hideAfter(1)
    await node.mineEmpty(1)
    const path = `/api/v1/asset/utxos/${testAddress(12)}`
    expect(await ask(alone.ports.rest, path)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    const { body } = await ask(alone.ports.rest, '/readyz')
    expect(body).toMatchObject({ status: 'out of step', reason: expect.stringContaining('several blocks') as string })
    shown()
    expect(await ask(alone.ports.rest, path)).toMatchObject({ status: 200 })
  })
})

it('a gateway does not say how far the node that began with a state has verified', async () => {
  const young = await TestChain.open(withoutValidators)
  await young.mineEmpty(3)
  const overlay = new Overlay(young.database)
  overlay.put(meta.joined.key, meta.joined.encode(2))
  const { height, hash } = young.chain.tip.header
  await overlay.commit({ kind: 'header', height, hash }, { sync: false })
  const over = await gatewayOver(young, new LedgerEngine(young))
  const { result } = (await call(over, 'getchaininfo')).body as { readonly result: object }
  expect(result).toMatchObject({ joined: 2 })
  expect(result).not.toHaveProperty('verified')
  await over.close()
  await young.close()
})

describe('a gateway beside nodes', () => {
  const ready = async ({ ports }: Gateway) =>
    (await ask(ports.rest, '/readyz')).body as Readonly<Record<string, unknown>>
  const syncing = async (over: Gateway) => (await call(over, 'eth_syncing')).body as { readonly result?: unknown }

  it('is behind one that is more than three blocks ahead, until it has the blocks', async () => {
    const lagging = new LedgerEngine(node)
    const timers = new ManualTimers()
    const url = `http://127.0.0.1:${server.port}`
    const over = await gatewayOver(node, lagging, ['http://127.0.0.1:9', url], {}, timers)
    const { height } = node.reader
    await eventually('the first look', async () => (await ready(over))['target'] === height)
    const shown = await lagging.hideAfter(0)
    const look = async (target: number) => {
      await eventually('a look', () => timers.pending.length === 1)
      timers.fire()
      await eventually('the height of the node', async () => (await ready(over))['target'] === target)
    }
    await node.mineEmpty(3)
    await look(height + 3)
    expect(await ready(over)).toMatchObject({ status: 'ready', height })
    expect((await ask(over.ports.rest, '/readyz?within=2')).body).toMatchObject({ status: 'behind' })
    await node.mineEmpty(1)
    await look(height + 4)
    expect(await ready(over)).toMatchObject({
      status: 'catching up',
      reason: expect.stringContaining('a node is at') as string,
    })
    expect(
      (await call(over, 'resolvedid', { did: 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', all: false })).body,
    ).toMatchObject({ error: { code: -32001 } })
    expect(await syncing(over)).toMatchObject({ result: { highestBlock: `0x${(height + 4).toString(16)}` } })
    shown()
    await eventually('the blocks', async () => (await ready(over))['status'] === 'ready')
    expect(await syncing(over)).toMatchObject({ result: false })
    await over.close()
  })

  /** Readiness, and the answer about a DID that does not exist, of a gateway at the height of these nodes. */
  const over = async (...urls: readonly string[]) => {
    const gateway = await gatewayOver(node, new LedgerEngine(node), urls)
    const body = await ready(gateway)
    const params = { did: 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', all: false }
    const asked = (await call(gateway, 'resolvedid', params)).body
    const progress = (await syncing(gateway)).result
    await gateway.close()
    return { body, asked, progress }
  }
  const exists = { result: { status: 3 } }
  const url = ({ port }: Pick<ApiServer, 'port'>) => `http://127.0.0.1:${port}`

  it('says that something is not by the word of one that is in step, whatever the others are', async () => {
    const { height } = node.reader
    const joining = await serve(
      contextOf(node, {
        health: () => ({
          ...{ failed: false, stage: 'serving', standing: behind(height, 1000) },
          sync: { catchingUp: true, height, target: 1000 },
        }),
      }),
    )
    const alone = await serve(contextOf(node, { standing: () => pausing(height) }))
    const one = await over(url(joining))
    expect(one).toMatchObject({
      body: { status: 'catching up', target: 1000, inStep: false },
      asked: { error: { code: -32001, data: expect.stringContaining(`${height} of 1000`) as string } },
      progress: { highestBlock: '0x3e8' },
    })
    expect(await over(url(alone), 'http://127.0.0.1:9')).toMatchObject({
      body: { status: 'out of step', target: height, inStep: false },
      asked: { error: { code: -32001 } },
      progress: false,
    })
    expect(await over(url(joining), url(alone), url(server))).toMatchObject({
      body: { status: 'ready', target: height, inStep: true },
      asked: exists,
      progress: false,
    })
    await joining.close()
    await alone.close()
  })

  it('goes by the last word of its node, and by the age of its tip when that one is gone', async () => {
    const { height } = node.reader
    let standing: Standing = inStep(height)
    const other = await serve(contextOf(node, { standing: () => standing }))
    const timers = new ManualTimers()
    const gateway = await gatewayOver(node, new LedgerEngine(node), [url(other)], {}, timers)
    const becomes = async (status: string) => {
      await eventually('a look', () => timers.pending.length === 1)
      timers.fire()
      await eventually(status, async () => (await ready(gateway))['status'] === status)
    }
    expect(await ready(gateway)).toMatchObject({ status: 'ready' })
    standing = pausing(height)
    await becomes('out of step')
    standing = inStep(height)
    await becomes('ready')
    standing = behind(height, 1000)
    await becomes('catching up')
    await other.close()
    await becomes('ready')
    await gateway.close()
  })

  it('that names no chain, or another one, counts for nothing', async () => {
    const { height } = node.reader
    let genesis = node.chain.genesis.hash
    const word: RequestListener = (_, response) => {
      const text = JSON.stringify({ status: 'ready', height, inStep: true })
      response.writeHead(200, { connection: 'close' }).end(text)
    }
    const other = createServer((request, response) => nodeOfChain(genesis, word)(request, response)).listen(
      0,
      '127.0.0.1',
    )
    await once(other, 'listening')
    const at = url(other.address() as AddressInfo)
    const timers = new ManualTimers()
    const gateway = await gatewayOver(node, new LedgerEngine(node), [at], {}, timers)
    const becomes = async (status: string) => {
      await eventually('a look', () => timers.pending.length === 1)
      timers.fire()
      await eventually(status, async () => (await ready(gateway))['status'] === status)
    }
    expect(await ready(gateway)).toMatchObject({ status: 'ready' })
    genesis = 'ab'.repeat(32)
    await becomes('out of step')
    expect(node.log.errors.filter(({ message }) => message.includes(genesis))).toHaveLength(1)
    const told = (await call(gateway, 'getinfo')).body
    expect(told).toMatchObject({ error: { code: -32023, data: expect.stringContaining(genesis) as string } })
    await gateway.close()
    await expect(over(url(server), at)).rejects.toThrow(
      `the node at ${at}: it is of another chain, with genesis block ${genesis}, and not ${node.chain.genesis.hash}; name nodes`,
    )
    genesis = 'soon'
    expect((await over(at)).body).toMatchObject({ status: 'out of step' })
    other.closeAllConnections()
    other.close()
  })

  it.each([
    ['another program', 200, 'hello'],
    ['another program without such a path', 404, '{}'],
    ['a node that does not say it', 200, '{"status":"ready","height":3,"target":3}'],
    ['a node with an odd height', 200, '{"status":"ready","height":"3","inStep":true}'],
    ['a node with an odd word', 200, '{"status":"ready","height":3,"inStep":"true"}'],
  ])('says nothing for certain by the word of %s', async (_, status, text) => {
    const answer: RequestListener = (_, response) => response.writeHead(status, { connection: 'close' }).end(text)
    const odd = createServer(nodeOfChain(node.chain.genesis.hash, answer)).listen(0, '127.0.0.1')
    await once(odd, 'listening')
    expect(await over(url(odd.address() as AddressInfo))).toMatchObject({
      body: { status: 'out of step', inStep: false },
      asked: { error: { code: -32001 } },
    })
    odd.closeAllConnections()
    odd.close()
  })

  it('takes a proxy without its node for one that does not answer', async () => {
    const proxy = createServer((_, response) => response.writeHead(502).end('<html>')).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { body, asked } = await over(url(proxy.address() as AddressInfo))
    expect([body['status'], 'target' in body, asked]).toMatchObject(['ready', false, exists])
    proxy.closeAllConnections()
    proxy.close()
  })

  it('is ready where none answers, and does not say how far the chain is', async () => {
    const timers = new ManualTimers()
    const over = await gatewayOver(node, new LedgerEngine(node), ['http://127.0.0.1:9'], {}, timers)
    await eventually('a look', () => timers.pending.length === 1)
    for (const one of [over, alone]) {
      expect(await ready(one)).toMatchObject({ status: 'ready', inStep: true })
      expect(await ready(one)).not.toHaveProperty('target')
      expect((await syncing(one)).result).toBeUndefined()
    }
    await over.close()
  })

  it('answers while one hangs, and closes', async () => {
    const hanging = createServer(() => {}).listen(0, '127.0.0.1')
    await once(hanging, 'listening')
    const over = await gatewayOver(node, new LedgerEngine(node), [
      `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`,
    ])
    expect(await ready(over)).toMatchObject({ status: 'ready' })
    await over.close()
    hanging.closeAllConnections()
    hanging.close()
  })
})

describe('a gateway that is told to stop', () => {
  it('answers on for a while, and says so', async () => {
    const api = { drain: 1, metricsHosts: ['127.0.0.1'] }
    const draining = await gatewayOver(node, new LedgerEngine(node), [], api)
    // Figures have a port of their own.
    expect(await ask(draining.ports.rest, '/metrics')).toMatchObject({ status: 404 })
    const closed = draining.close()
    expect((await ask(draining.ports.rest, '/readyz')).body).toMatchObject({ status: 'stopping' })
    expect(await ask(draining.ports.rest, '/api/v1/block/height')).toMatchObject({ status: 200 })
    await closed
    await expect(ask(draining.ports.rest, '/readyz')).rejects.toThrow('ECONNREFUSED')
  })
})

describe('a gateway does not open', () => {
  const refusal = (to: LedgerEngine) =>
    gatewayOver(node, to).then(
      () => 'it opened',
      (error: Error) => error.message,
    )

  it('where a shard was never loaded', async () => {
    const empty = new LedgerEngine(node, 2)
    empty.describe = () => undefined
    expect(await refusal(empty)).toMatch(/^shard 0: there are no rows in it; run: .*ship load/)
  })

  it.each([
    ['of another chain', { chain: Buffer.alloc(32, 7) }, /^shard 0: it is of another chain/],
    ['of another version', { layout: 3 }, /layout 3, and this program reads/],
    ['of another number', { number: 1 }, /^shard 0: it is number 1 of 2, and named as 0 of 2/],
    ['one of others', { shards: 3 }, /^shard 0: it is number 0 of 3, and named as 0 of 2/],
  ])('over shards %s', async (_, change, message) => {
    const foreign = new LedgerEngine(node, 2)
    foreign.describe = (state) => ({ ...state, ...change })
    expect(await refusal(foreign)).toMatch(message)
  })
})
