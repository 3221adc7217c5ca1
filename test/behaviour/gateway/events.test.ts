import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocketServer, type WebSocket } from 'ws'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { LogEvents } from '../../../src/answers/api/ws/log-events.js'
import { WebSockets } from '../../../src/answers/api/ws/web-sockets.js'
import { followEvents } from '../../../src/clients/client/follow-events.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import type { Gateway, GatewayOptions } from '../../../src/node/gateway/gateway.js'
import { replaceByEmpty } from '../../support/builders/empty-branch.js'
import { holder } from '../../support/builders/did.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { testAddress } from '../../support/builders/spec.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { nodeOfChain } from '../../support/fakes/named-chain.js'
import { WsClient } from '../../support/client/ws.js'
import { LedgerEngine } from '../../support/fakes/ledger-engine.js'
import { gatewayOver } from '../../support/network/gateways.js'
import { eventually } from '../../support/process/patience.js'

const cleaning: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean()
})

type Api = NonNullable<GatewayOptions['tuning']>['api']

/** A server of a chain, with its WebSockets. */
interface Node {
  readonly url: string
  readonly server: ApiServer
  readonly sockets: WebSockets
  stop(): Promise<void>
}

async function nodeOf(chain: TestChain, changes: Parameters<typeof contextOf>[1] = {}): Promise<Node> {
  const context = contextOf(chain, changes)
  const log = await EventLog.open({ chain: chain.chain, mempool: chain.mempool, clock: chain.clock })
  const sockets = new WebSockets(context, new LogEvents(log))
  const server = await serve(context, { sockets })
  const stop = async () => void (await Promise.all([sockets.close(), server.close()]))
  cleaning.push(stop)
  return { url: `http://127.0.0.1:${server.port}`, server, sockets, stop }
}

interface Setting {
  readonly test: TestChain
  readonly node: Node
  readonly engine: LedgerEngine
  readonly gateway: Gateway
  open(options?: Parameters<typeof WsClient.open>[1]): Promise<WsClient>
}

async function served(api: Api = {}, more: readonly string[] = []): Promise<Setting> {
  const test = await TestChain.open(withoutValidators)
  cleaning.push(() => test.close())
  await test.mine(3)
  const node = await nodeOf(test)
  const engine = new LedgerEngine(test)
  const gateway = await gatewayOf(test, engine, [...more, node.url], api)
  const open = (options = {}) => WsClient.open(`ws://127.0.0.1:${gateway.ports.rest}/ws`, options)
  return { test, node, engine, gateway, open }
}

async function gatewayOf(test: TestChain, engine: LedgerEngine, nodes: readonly string[], api: Api = {}) {
  const gateway = await gatewayOver(test, engine, nodes, api)
  cleaning.push(() => gateway.close())
  return gateway
}

/** A node that is none: it takes WebSockets, and does with them what the test says. */
async function odd(take: (ws: WebSocket) => void): Promise<string> {
  const chain = await TestChain.open(withoutValidators)
  const genesis = chain.chain.genesis.hash
  await chain.close()
  const http = createServer(nodeOfChain(genesis, (_, response) => response.writeHead(426).end()))
  const server = new WebSocketServer({ server: http.listen(0, '127.0.0.1') })
  await once(http, 'listening')
  server.on('connection', take)
  cleaning.push(() => {
    for (const client of server.clients) client.terminate()
    server.close()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

/** Answers subscribe of whoever asks, then does more. */
const subscribing = (then: (ws: WebSocket) => void) => (ws: WebSocket) => {
  ws.on('message', (data: Buffer) => {
    const { id } = JSON.parse(data.toString()) as { readonly id: number }
    const result = { subscription: 1, number: 1, height: 0, hash: '0'.repeat(64) }
    ws.send(JSON.stringify({ id, jsonrpc: '2.0', result }))
    then(ws)
  })
}

const all = { topics: ['block', 'transaction', 'did', 'credential'] }
const blocks = { topics: ['block'] }
/** Messages as they came. */
const texts = (client: WsClient): string[] => {
  const told: string[] = []
  client.ws.on('message', (data: Buffer) => told.push(data.toString()))
  return told
}

describe('a subscription at a gateway', () => {
  it('pass on documents that meet a condition, and refusals of one', async () => {
    const { test, open } = await served()
    const client = await open()
    await client.result('subscribe', { topics: ['documents'], service: 'Hub' })
    const refused = await client.call('subscribe', { topics: ['documents'], query: '{$where: 1}' })
    expect(refused.error).toMatchObject({ code: -32602 })
    const one = holder()
    const services = [{ id: '#hub', type: 'Hub', serviceEndpoint: 'https://hub.example' }]
    await test.publish(one.create({ services }), one.did)
    const told = () => JSON.stringify(client.told.filter((message) => 'params' in message))
    await eventually('the document is told', () => Promise.resolve(told().includes('"change":"begins"')))
    expect(told()).toContain(one.did)
  })

  it('gets the messages of its node, at both ports', async () => {
    const { test, node, gateway, open } = await served()
    const direct = await WsClient.open(`${node.url.replace('http', 'ws')}/ws`)
    const clients = [direct, await open(), await WsClient.open(gateway.ports.ws)]
    const told = clients.map(texts)
    for (const client of clients) await client.result('subscribe', all)
    await test.send(await test.transfer(testAddress(11), 5n))
    await test.mine(2)
    for (const client of clients) await client.until(() => client.events.length === 3)
    expect(told[1]).toEqual(told[0])
    expect(told[2]).toEqual(told[0])
  })

  it('begins where its client says, in batches too, and ends', async () => {
    const { test, open } = await served()
    const client = await open()
    const from = (id: number, more: object) => ({
      jsonrpc: '2.0',
      id,
      method: 'subscribe',
      params: { ...blocks, ...more },
    })
    client.ws.send(
      JSON.stringify([from(1, { fromHeight: 2 }), from(2, { afterBlock: test.activeHeader(2).header.id })]),
    )
    await client.until(() => client.events.length === 3)
    expect(client.told[0]).toMatchObject([{ result: { subscription: 1 } }, { result: { subscription: 2 } }])
    const heights = (subscription: number) =>
      client.events.flatMap((event) => ('height' in event && event.subscription === subscription ? [event.height] : []))
    expect([heights(1), heights(2)]).toEqual([[2, 3], [3]])
    expect(await client.result('unsubscribe', { subscription: 1 })).toBe(true)
    expect(await client.result('unsubscribe', { subscription: 1 })).toBe(false)
    await test.mine()
    await client.until(() => client.events.length === 4)
    expect([heights(1), heights(2)]).toEqual([
      [2, 3],
      [3, 4],
    ])
    expect(await client.result('subscribe', { ...blocks, fromHeight: 4 })).toMatchObject({ subscription: 3, height: 4 })
    await client.until(() => client.events.length === 5)
  })

  it.each([
    ['no topics', { topics: [] }],
    ['an unknown block', { ...blocks, afterBlock: '1'.repeat(64) }],
    ['a number of another run', { ...blocks, after: 1 }],
    ['a height above the next', { ...blocks, fromHeight: 9 }],
  ])('is refused for %s as by the node', async (_, params) => {
    const { node, open } = await served()
    const [client, direct] = [await open(), await WsClient.open(`${node.url.replace('http', 'ws')}/ws`)]
    expect((await client.call('subscribe', params)).error).toEqual((await direct.call('subscribe', params)).error)
    expect(await client.result('subscribe', blocks)).toMatchObject({ subscription: 1 })
  })

  it('is one of 16 of a connection', async () => {
    const { open } = await served()
    const client = await open()
    for (let i = 1; i <= 16; i++) expect(await client.result('subscribe', blocks)).toMatchObject({ subscription: i })
    expect((await client.call('subscribe', blocks)).error).toMatchObject({ code: -32005 })
  })

  it('passes over nodes that do not answer, and those that are behind', async () => {
    const young = await TestChain.open(withoutValidators)
    cleaning.push(() => young.close())
    const behind = await nodeOf(young, { limits: { heightWait: 10 } })
    const { open } = await served({}, ['http://127.0.0.1:9', behind.url])
    expect(await (await open()).result('subscribe', blocks)).toMatchObject({ height: 3 })
    expect(behind.sockets.connections).toBe(0)
  })

  it('ends the connection where no node takes it, for a client that comes again', async () => {
    const test = await TestChain.open(withoutValidators)
    cleaning.push(() => test.close())
    const { ports } = await gatewayOf(test, new LedgerEngine(test), ['http://127.0.0.1:9'])
    const client = await WsClient.open(ports.ws)
    expect(await client.result('getblockcount')).toBe(1)
    void client.call('subscribe', blocks).catch(() => {})
    expect(await client.closed).toMatchObject({ code: 1013, reason: expect.stringMatching(/^followed-unreachable/) })
  })
})

describe('a client of events of a gateway', () => {
  it('finds at the gateway what it was told of', async () => {
    const { test, engine, gateway, open } = await served()
    const client = await open()
    const shown = await engine.hideAfter(0)
    await client.result('subscribe', blocks)
    await test.mineEmpty(2)
    const fresh = await open()
    const late = fresh.result<{ height: number }>('subscribe', blocks)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect([gateway.chain.tip.header.height, client.events.length]).toEqual([3, 0])
    shown()
    for (const count of [1, 2]) {
      await client.until(() => client.events.length >= count)
      const { body } = await ask(gateway.ports.rest, '/api/v1/block/height')
      expect((body as { Result: number }).Result).toBeGreaterThanOrEqual(3 + count)
    }
    expect(await late).toMatchObject({ height: 5 })
  })

  it('is told of a reorganisation when the gateway has taken it', async () => {
    const { test, engine, gateway, open } = await served()
    const client = await open()
    await client.result('subscribe', blocks)
    const left = test.chain.tip.header.id
    const shown = await engine.hideAfter(0)
    await replaceByEmpty(test, 1)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(client.events).toEqual([])
    shown()
    const checks: Promise<unknown>[] = []
    await client.until(() => client.events.length >= 2)
    checks.push(askJson(gateway.ports.rpc, '/', { id: 1, method: 'getblockhash', params: { height: 3 } }))
    expect(client.events.map(({ action }) => action).slice(0, 2)).toEqual(['revert', 'apply'])
    for (const { text } of (await Promise.all(checks)) as { text: string }[]) expect(text).not.toContain(left)
  })

  it('has its calls answered by the gateway, as over HTTP', async () => {
    const { gateway, open } = await served()
    const client = await open()
    const told = texts(client)
    const calls = [
      { jsonrpc: '2.0', id: 'a', method: 'getbestblockhash' },
      { jsonrpc: '2.0', id: 7, method: 'getinfo' },
      { jsonrpc: '2.0', id: 8, method: 'nothing' },
      [{ id: 1, method: 'getblockcount' }, 7],
    ]
    for (const call of calls) {
      client.ws.send(JSON.stringify(call))
      const { text } = await askJson(gateway.ports.rpc, '/', call)
      await eventually('the answer', () => told.at(-1) === text)
    }
  })

  it('of another site reads, and changes nothing', async () => {
    const { test, open } = await served()
    const page = await open({ origin: 'https://example.org' })
    expect((await page.call('provetoken', { challenge: '00'.repeat(32) })).error).toMatchObject({
      data: expect.stringContaining('another site') as string,
    })
    await page.result('subscribe', blocks)
    await test.mine()
    await page.until(() => page.events.length === 1)
  })

  it('goes on at the next node when its own is gone, and misses nothing', async () => {
    const test = await TestChain.open(withoutValidators)
    cleaning.push(() => test.close())
    await test.mine(2)
    const nodes = [await nodeOf(test), await nodeOf(test)]
    const { ports } = await gatewayOf(
      test,
      new LedgerEngine(test),
      nodes.map(({ url }) => url),
    )
    const end = new AbortController()
    const events = followEvents({
      url: `ws://127.0.0.1:${ports.rest}/ws`,
      topics: ['block'],
      from: { fromHeight: 1 },
      signal: end.signal,
    })
    const heights: unknown[] = []
    const read = async (count: number) => {
      while (heights.length < count) {
        const { value } = await events.next()
        if (value !== undefined && 'height' in value) heights.push(value.height)
      }
    }
    await read(2)
    expect(nodes.map(({ sockets }) => sockets.connections)).toEqual([1, 0])
    await nodes[0]?.stop()
    await test.mine(2)
    await read(4)
    expect(heights).toEqual([1, 2, 3, 4])
    expect(nodes[1]?.sockets.connections).toBe(1)
    end.abort()
  })

  it.each([
    ['breaks off', (ws: WebSocket) => ws.terminate(), 1014],
    ['stops', (ws: WebSocket) => ws.close(1001, 'the node is stopping'), 1001],
    ['finds it too slow', (ws: WebSocket) => ws.close(1013, 'event-gone: too slow'), 1013],
    ['sends what is no JSON', (ws: WebSocket) => ws.send('{'), 1014],
    ['sends what is no text', (ws: WebSocket) => ws.send(Buffer.of(1)), 1014],
    ['sends more than a message may have', (ws: WebSocket) => ws.send('x'.repeat(256 * 1024 + 1)), 1014],
    ['has another reason', (ws: WebSocket) => ws.close(1008, 'no'), 1014],
  ])('is closed when its node %s', async (_, end, code) => {
    const url = await odd(subscribing((ws) => setTimeout(() => end(ws), 50)))
    const test = await TestChain.open(withoutValidators)
    cleaning.push(() => test.close())
    const { ports } = await gatewayOf(test, new LedgerEngine(test), [url])
    const client = await WsClient.open(ports.ws)
    void client.call('subscribe', blocks).catch(() => {})
    expect((await client.closed).code).toBe(code)
    expect(await (await WsClient.open(ports.ws)).result('getblockcount')).toBe(1)
  })

  it('that does not read has its node wait, and loses nothing', async () => {
    const filling = 'x'.repeat(1000)
    const count = 40_000
    let sent = 0
    let socket: WebSocket | undefined
    const url = await odd(
      subscribing((ws) => {
        socket = ws
        for (; sent < count; sent++) {
          const params = { subscription: 1, number: sent, topic: 'transaction', filling }
          ws.send(JSON.stringify({ jsonrpc: '2.0', method: 'event', params }))
        }
      }),
    )
    const test = await TestChain.open(withoutValidators)
    cleaning.push(() => test.close())
    const { ports } = await gatewayOf(test, new LedgerEngine(test), [url])
    const client = await WsClient.open(ports.ws)
    await client.result('subscribe', all)
    client.ws.pause()
    let before = -1
    await eventually('nothing moves', async () => {
      const now = socket?.bufferedAmount ?? 0
      const stands = now === before
      before = now
      await new Promise((resolve) => setTimeout(resolve, 300))
      return stands
    })
    // Two pairs of sockets hold some of it; the rest stays with the node.
    expect(before).toBeGreaterThan(count * 500)
    client.ws.resume()
    await client.until(() => client.events.length === count)
    expect(client.events.map(({ number }) => number)).toEqual(Array.from({ length: count }, (_, i) => i))
  })
})

describe('WebSockets of a gateway', () => {
  it('are refused without a node', async () => {
    const test = await TestChain.open(withoutValidators)
    cleaning.push(() => test.close())
    const { ports } = await gatewayOf(test, new LedgerEngine(test), [])
    for (const url of [`ws://127.0.0.1:${ports.rest}/ws`, `ws://127.0.0.1:${ports.ws}`]) {
      await expect(WsClient.open(url)).rejects.toThrow('503')
    }
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    expect(await ask(ports.rest, '/ws', { headers })).toMatchObject({
      status: 503,
      body: { error: { data: expect.stringContaining('ask a node') as string } },
    })
  })

  it('are as many as their limit, beyond which the most expendable one goes', async () => {
    const { open, gateway } = await served({ wsConnections: 4 })
    const subscriber = await open()
    await subscriber.result('subscribe', blocks)
    const quiet = await open()
    expect(await quiet.result('getblockcount')).toBe(4)
    const next = await WsClient.open(gateway.ports.ws)
    expect((await quiet.closed).code).toBe(1006)
    expect(await next.result('getblockcount')).toBe(4)
    expect(await subscriber.result('getblockcount')).toBe(4)
  })

  it('leave nothing at the node when their clients are gone', async () => {
    const { node, open } = await served()
    const clients = [await open(), await open()]
    for (const client of clients) await client.result('subscribe', blocks)
    expect(node.sockets.connections).toBe(2)
    await clients[0]?.close()
    clients[1]?.ws.terminate()
    await eventually('no connection', () => node.sockets.connections === 0)
  })

  it('are closed when the gateway stops', async () => {
    const { node, gateway, open } = await served()
    const [one, two] = [await open(), await open()]
    await one.result('subscribe', blocks)
    await gateway.close()
    expect([(await one.closed).code, (await two.closed).code]).toEqual([1001, 1001])
    await eventually('no connection', () => node.sockets.connections === 0)
  })

  it('are counted', async () => {
    const { gateway, open } = await served()
    await open()
    expect((await ask(gateway.ports.rest, '/metrics')).text).toMatch(/^didledger_websocket_connections 1$/m)
  })
})
