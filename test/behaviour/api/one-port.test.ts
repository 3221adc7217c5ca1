import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { ApiLimits } from '../../../src/answers/api/api-limits.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { LogEvents } from '../../../src/answers/api/ws/log-events.js'
import { WebSockets } from '../../../src/answers/api/ws/web-sockets.js'
import { WsServer } from '../../../src/answers/api/ws/ws-server.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { TestChain } from '../../support/builders/chain.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { WsClient } from '../../support/client/ws.js'
import { idleDevnet } from '../../support/fakes/stubs.js'

interface Setting {
  readonly limits?: Partial<ApiLimits>
  readonly context?: Parameters<typeof contextOf>[1]
}

interface Served {
  readonly test: TestChain
  readonly rest: ApiServer
  readonly own: WsServer
  readonly sockets: WebSockets
  /** Opens a WebSocket on the port of REST. */
  open(path?: string, options?: Parameters<typeof WsClient.open>[1]): Promise<WsClient>
}

const cleaning: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean()
})

async function served({ limits = {}, context: changes }: Setting = {}): Promise<Served> {
  const test = await TestChain.open()
  const { chain, mempool, clock } = test
  const events = await EventLog.open({ chain, mempool, clock })
  const context = contextOf(test, { ...changes, limits })
  const sockets = new WebSockets(context, new LogEvents(events))
  const rest = await serve(context, { sockets })
  const own = await WsServer.open(context, { port: 0, sockets })
  cleaning.push(async () => {
    await Promise.all([sockets.close(), rest.close(), own.close()])
    await test.close()
  })
  const open = (path = '/ws', options = {}) => WsClient.open(`ws://127.0.0.1:${rest.port}${path}`, options)
  return { test, rest, own, sockets, open }
}

const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n'

/** What comes back for bytes on a bare connection, until it ends or `enough`. */
function raw(port: number, bytes: string, enough: (text: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
      if (enough(text)) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

describe('WebSockets on the port of REST', () => {
  it('are taken at / and /ws, answer, and get events beside those of their own port', async () => {
    const { test, open, own, sockets } = await served()
    const clients = [await open('/'), await open('/ws'), await open('/ws?x=1'), await WsClient.open(own.port)]
    expect(sockets.connections).toBe(4)
    for (const client of clients) {
      expect(await client.result('getblockcount')).toBe(1)
      await client.result('subscribe', { topics: ['block'] })
    }
    await test.mine()
    for (const client of clients) {
      await client.until(() => client.events.length === 1)
      expect(client.events[0]).toMatchObject({ topic: 'block', action: 'apply', height: 1 })
    }
  })

  it('are not taken elsewhere: such a request is one of REST, as before', async () => {
    const { rest, open } = await served()
    await expect(open('/rpc')).rejects.toThrow('405')
    await expect(open('/wss')).rejects.toThrow('404')
    const complete = (text: string) => text.endsWith('}')
    const height = await raw(rest.port, `GET /api/v1/block/height HTTP/1.1\r\n${upgrade}${key}\r\n`, complete)
    expect(height).toMatch(/^HTTP\/1.1 200 /)
    expect(height).toContain('"Result":0')
  })

  it('leave alone requests that offer another protocol, or send a body', async () => {
    const { rest } = await served()
    const body = '{"id":1,"method":"getblockcount"}'
    const complete = (text: string) => text.endsWith('}')
    for (const protocol of ['h2c', 'websocket']) {
      const head = `POST /rpc HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\n`
      const answer = await raw(rest.port, `${head}Content-Length: ${body.length}\r\n\r\n${body}`, complete)
      expect(answer).toMatch(/^HTTP\/1.1 200 /)
      expect(answer).toContain('"result":1')
    }
    const get = 'GET /api/v1/block/height HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'
    expect(await raw(rest.port, get, complete)).toContain('"Result":0')
    expect(await raw(rest.port, 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1.1 405 /)
  })

  it('refuse what is no proper request for one', async () => {
    const { rest } = await served()
    const plain = await ask(rest.port, '/ws')
    expect(plain).toMatchObject({ status: 426, headers: { upgrade: 'websocket' }, body: { error: { code: -32600 } } })
    expect(await askJson(rest.port, '/ws', {})).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
    for (const wrong of [key.replace('13', '12'), 'Sec-WebSocket-Version: 13\r\n']) {
      const [head = '', body = ''] = (await raw(rest.port, `GET /ws HTTP/1.1\r\n${upgrade}${wrong}\r\n`)).split(
        '\r\n\r\n',
      )
      expect(head).toMatch(/^HTTP\/1.1 426 /)
      expect(head).toContain('Sec-WebSocket-Version: 13')
      expect(JSON.parse(body)).toMatchObject({ id: null, error: { code: -32600 } })
    }
  })

  it('may follow answered requests on their connection, and never one under way', async () => {
    const { rest } = await served()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const first = await new Promise<number>((resolve) => {
      httpRequest({ port: rest.port, host: '127.0.0.1', path: '/api/v1/block/height', agent }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      }).end()
    })
    expect(first).toBe(200)
    const status = await new Promise<number>((resolve) => {
      const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
      const full = { ...headers, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
      httpRequest({ port: rest.port, host: '127.0.0.1', path: '/ws', agent, headers: full })
        .on('upgrade', (response, socket) => {
          socket.destroy()
          resolve(response.statusCode ?? 0)
        })
        .end()
    })
    expect(status).toBe(101)
    // A search is not answered while its connection is still being read.
    const query = JSON.stringify({ id: 1, method: 'query', params: { query: '{a: 1}' } })
    const ahead = `POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: ${query.length}\r\n\r\n${query}`
    expect(await raw(rest.port, `${ahead}GET /ws HTTP/1.1\r\n${upgrade}${key}\r\n`)).not.toContain('101 Switching')
  })

  it('count together with those of their own port, and not as connections of REST', async () => {
    const { own, open, rest, sockets } = await served({ limits: { wsConnections: 4, connections: 4 } })
    const subscriber = await WsClient.open(own.port)
    await subscriber.call('subscribe', { topics: ['block'] })
    const quiet = await open()
    const next = await open()
    expect((await quiet.closed).code).toBe(1006)
    await next.until(() => sockets.connections === 2)
    const afterwards = await WsClient.open(own.port)
    expect((await next.closed).code).toBe(1006)
    expect(await subscriber.result('getblockcount')).toBe(1)
    expect(await afterwards.result('getblockcount')).toBe(1)
    // REST has both of its connections for this machine.
    const agent = new Agent({ keepAlive: true })
    const heights = [0, 1].map(
      () =>
        new Promise((resolve) =>
          httpRequest({ port: rest.port, host: '127.0.0.1', path: '/api/v1/block/height', agent }, (response) => {
            response.resume().on('end', () => resolve(response.statusCode))
          }).end(),
        ),
    )
    expect(await Promise.all(heights)).toEqual([200, 200])
    agent.destroy()
  })

  it('take the place of one with events when all have them', async () => {
    const { own, open } = await served({ limits: { wsConnections: 2 } })
    const subscriber = await WsClient.open(own.port)
    await subscriber.call('subscribe', { topics: ['block'] })
    const next = await open()
    expect((await subscriber.closed).code).toBe(1006)
    expect(await next.result('getblockcount')).toBe(1)
  })

  it('obey the rules of origin', async () => {
    const adminToken = new Uint8Array(32).fill(7)
    const devnet = { ...idleDevnet, mine: async () => ['0'.repeat(64)] }
    const { rest, open } = await served({ context: { adminToken, devnet } })
    const page = await open('/ws', { origin: 'https://example.org' })
    const same = await open('/ws', { origin: `http://127.0.0.1:${rest.port}` })
    expect(await page.result('getblockcount')).toBe(1)
    expect((await page.call('dev_mine', { blocks: 1 })).error?.code).toBe(-32010)
    expect((await same.call('dev_mine', { blocks: 1 })).error).toBeUndefined()
    expect((await same.call('setloglevel', { level: 'warn' })).error?.code).toBe(-32010)
  })

  it('outlive a restart of REST, and end with the node', async () => {
    const { rest, open, sockets } = await served({ limits: { closeGrace: 300 } })
    const client = await open()
    await rest.restart()
    expect(await client.result('getblockcount')).toBe(1)
    const later = await open()
    await Promise.all([rest.close(), sockets.close()])
    expect(await client.closed).toEqual({ code: 1001, reason: 'the node is stopping' })
    expect(await later.closed).toEqual({ code: 1001, reason: 'the node is stopping' })
    expect(sockets.connections).toBe(0)
  })
})
