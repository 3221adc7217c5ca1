import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { heldBytes } from '../../support/assert/heap-probe.js'
import { WebSocket } from 'ws'
import type { ApiLimits } from '../../../src/answers/api/api-limits.js'
import { LogEvents } from '../../../src/answers/api/ws/log-events.js'
import { WsServer } from '../../../src/answers/api/ws/ws-server.js'
import { noWork } from '../../../src/ledger/consensus/signature-work.js'
import { UserError } from '../../../src/base/errors/rule-error.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { stopwatch } from '../../support/process/patience.js'
import { testAddress } from '../../support/builders/spec.js'
import { provesNothing, idleDevnet } from '../../support/fakes/stubs.js'
import { WsClient } from '../../support/client/ws.js'
import { inStep } from '../../support/fakes/standing.js'

const unasked = () => Promise.reject(new Error('nothing asks'))

interface Setting {
  readonly limits?: Partial<ApiLimits>
  readonly kept?: number
  readonly context?: Parameters<typeof contextOf>[1]
  readonly validators?: boolean
}

interface Served {
  readonly test: TestChain
  readonly log: EventLog
  readonly server: WsServer
  connect(options?: Parameters<typeof WsClient.open>[1]): Promise<WsClient>
}

const cleaning: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean()
})

async function served({ limits, kept, context, validators = false }: Setting = {}): Promise<Served> {
  const test = await TestChain.open(validators ? oneValidator() : withoutValidators)
  const { chain, mempool, clock } = test
  const log = await EventLog.open({ chain, mempool, clock, ...(kept === undefined ? {} : { kept }) })
  const all = contextOf(test, { ...context, ...(limits === undefined ? {} : { limits }) })
  const server = await WsServer.open(all, { events: new LogEvents(log), port: 0 })
  cleaning.push(async () => {
    await server.close()
    await test.close()
  })
  return { test, log, server, connect: (options) => WsClient.open(server.port, options) }
}

const resolution = { did: 'x', all: false }
const subscribe = (topics: readonly string[], more = {}) => ({ topics, ...more })

/** What comes back for bytes on a bare connection, until it ends. */
function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    socket.write(bytes)
  })
}

/** A transaction with an id that fills events. */
class LargeTransaction extends Transaction {
  override get txid(): string {
    return 'x'.repeat(100_000)
  }
}

/** The socket below a WebSocket. */
const innerSocket = (ws: WsClient['ws']): Socket => Reflect.get(ws, '_socket')

/** A connection that has asked for a WebSocket and then never reads. */
async function deaf(port: number, messages: readonly object[]): Promise<{ socket: Socket }> {
  const ws = await WsClient.open(port)
  const socket = innerSocket(ws.ws)
  for (const message of messages) ws.ws.send(JSON.stringify(message))
  await ws.until(() => ws.told.length >= messages.length)
  socket.pause()
  return { socket }
}

/** A request for a WebSocket, with changes of its lines. */
function handshake(change: (lines: string[]) => string[] = (lines) => lines, first = 'GET /rpc HTTP/1.1'): string {
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  const lines = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key]
  return [first, ...change(lines), '', ''].join('\r\n')
}

describe('a request for a WebSocket', () => {
  it.each([
    ['as clients send it', handshake()],
    ['by its whole URL', handshake(undefined, 'GET http://x/rpc HTTP/1.1')],
    ['among other protocols', handshake((lines) => lines.map((one) => one.replace('websocket', 'websocket, foo/2')))],
  ])('is taken: %s', async (_, bytes) => {
    const { server } = await served()
    const socket = connect(server.port, '127.0.0.1')
    cleaning.push(async () => void socket.destroy())
    socket.write(bytes)
    const [head] = (await once(socket, 'data')) as [Buffer]
    expect(head.toString()).toMatch(/^HTTP\/1\.1 101 /)
  })

  it.each([
    ['without Host', 400, handshake((lines) => lines.slice(1))],
    ['with two of them', 400, handshake((lines) => ['Host: y', ...lines])],
    ['in HTTP/1.0', 426, handshake(undefined, 'GET /rpc HTTP/1.0')],
    ['for another path', 404, handshake(undefined, 'GET http://x/other HTTP/1.1')],
  ])('is refused: %s', async (_, status, bytes) => {
    const { server } = await served()
    expect(await raw(server.port, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })
})

describe('JSON-RPC over WebSocket', () => {
  it('answers as over HTTP: ids, batches, notifications and errors', async () => {
    const { test, connect: open } = await served()
    const http = await serve(contextOf(test))
    cleaning.push(() => http.close())
    const client = await open()
    const bodies = [
      { jsonrpc: '2.0', id: 'a', method: 'resolvedid', params: resolution },
      { id: 12, method: 'getblockcount' },
      [
        { jsonrpc: '2.0', id: 1, method: 'getbestblockhash' },
        { jsonrpc: '2.0', method: 'getblockcount' },
        { jsonrpc: '2.0', id: 2, method: 'nothing' },
        7,
      ],
      [],
      { jsonrpc: '2.0', id: 1.5, method: 'getblockcount' },
      { jsonrpc: '1.0', id: 1, method: 'getblockcount' },
      { jsonrpc: '2.0', id: 4, method: 'resolvedid', params: { did: 5 } },
      'text',
    ]
    for (const body of bodies) client.ws.send(JSON.stringify(body))
    await client.until(() => client.told.length === bodies.length)
    for (const [i, body] of bodies.entries()) {
      expect(client.told[i]).toEqual((await askJson(http.port, '/rpc', body)).body)
    }
    client.ws.send(JSON.stringify({ jsonrpc: '2.0', method: 'getblockcount' }))
    client.ws.send('{')
    await client.until(() => client.told.length > bodies.length)
    expect(client.told.slice(bodies.length)).toMatchObject([{ id: null, error: { code: -32700 } }])
  })

  it('keeps large ids exactly and takes a message in pieces', async () => {
    const { connect: open } = await served()
    const client = await open()
    const text = '{"jsonrpc":"2.0","id":123456789012345678901,"method":"getblockcount"}'
    const answer = new Promise<string>((resolve) =>
      client.ws.once('message', (data: Buffer) => resolve(data.toString())),
    )
    for (const [i, piece] of [...text].entries()) client.ws.send(piece, { fin: i === text.length - 1 })
    expect(await answer).toBe('{"id":123456789012345678901,"jsonrpc":"2.0","result":1}')
  })

  it('answers at both paths of JSON-RPC, at that of the REST port, and nowhere else', async () => {
    const { server } = await served()
    for (const path of ['/', '/rpc', '/ws', '/?x=1']) {
      const client = await WsClient.open(`ws://127.0.0.1:${server.port}${path}`)
      expect(await client.result('getblockcount')).toBe(1)
    }
    await expect(WsClient.open(`ws://127.0.0.1:${server.port}/events`)).rejects.toThrow('404')
  })

  it('tells whoever comes with plain HTTP, or asks for an upgrade wrongly, in the form of JSON-RPC', async () => {
    const { server } = await served()
    for (const method of ['GET', 'POST']) {
      const answer = await ask(server.port, '/', { method })
      expect(answer).toMatchObject({
        status: 426,
        headers: { upgrade: 'websocket' },
        body: { error: { code: -32600 } },
      })
    }
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nHost: x\r\n'
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
    const version = 'Sec-WebSocket-Version: 13\r\n'
    const wrong = [
      `GET / HTTP/1.1\r\n${upgrade}${version}\r\n`,
      `GET / HTTP/1.1\r\n${upgrade}${key}Sec-WebSocket-Version: 12\r\n\r\n`,
      `GET / HTTP/1.1\r\n${upgrade.replace('websocket', 'h2c')}${key}${version}\r\n`,
      `POST / HTTP/1.1\r\n${upgrade}${key}${version}\r\n`,
    ]
    for (const bytes of wrong) {
      const [head = '', body = ''] = (await raw(server.port, bytes)).split('\r\n\r\n')
      expect(head).toMatch(/^HTTP\/1.1 426 Upgrade Required/)
      expect(head).toContain('Sec-WebSocket-Version: 13')
      expect(JSON.parse(body)).toMatchObject({ id: null, error: { code: -32600 } })
    }
    const elsewhere = await raw(server.port, `GET /x HTTP/1.1\r\n${upgrade}${key}${version}\r\n`)
    expect(elsewhere).toMatch(/^HTTP\/1.1 404 /)
    expect(await raw(server.port, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
    const fine = await raw(server.port, `GET / HTTP/1.1\r\n${upgrade}${key}${version}\r\n\x88\x80\0\0\0\0`)
    expect(fine).toMatch(/^HTTP\/1.1 101 /)
  })

  it('lets every page read, and only its own machine or the owner do more', async () => {
    const adminToken = new Uint8Array(32).fill(7)
    const devnet = { ...idleDevnet, mine: async () => ['0'.repeat(64)] }
    const { server, connect: open } = await served({ context: { adminToken, devnet } })
    const authorization = `Bearer ${'07'.repeat(32)}`
    const program = await open()
    const owner = await open({ headers: { authorization } })
    const page = await open({ origin: 'https://example.org', headers: { authorization } })
    const local = await open({ origin: `http://127.0.0.1:${server.port}` })
    const refused = -32010
    const codes = async (client: WsClient) => [
      (await client.call('getblockcount')).error?.code,
      (await client.call('dev_mine', { blocks: 1 })).error?.code,
      (await client.call('setloglevel', { level: 'warn' })).error?.code,
    ]
    expect(await codes(program)).toEqual([undefined, undefined, refused])
    expect(await codes(local)).toEqual([undefined, undefined, refused])
    expect(await codes(page)).toEqual([undefined, refused, refused])
    // The test's log has no levels; that is what the method says once it may run.
    expect((await codes(owner)).slice(0, 2)).toEqual([undefined, undefined])
    expect((await owner.call('setloglevel', { level: 'warn' })).error?.code).not.toBe(refused)
  })

  it('answers one request after another, and reads no further while many wait', async () => {
    let most = 0
    let now = 0
    const gates: (() => void)[] = []
    const resolver = {
      resolve: async () => {
        most = Math.max(most, ++now)
        await new Promise<void>((resolve) => gates.push(resolve))
        now--
        return { did: 'x', status: 3 as const }
      },
      resolveShort: unasked,
      standing: inStep(),
      answersAt: undefined,
      now: Date.now,
      queryJson: unasked,
      credentials: { resolve: unasked, list: unasked },
      proofs: provesNothing,
    }
    const { connect: open } = await served({ limits: { wsWaiting: 4 }, context: { resolver } })
    const client = await open()
    const answers = Array.from({ length: 20 }, () => client.call('resolvedid', resolution))
    for (let i = 0; i < 20; i++) {
      await client.until(() => gates.length === 1)
      gates.shift()?.()
    }
    expect((await Promise.all(answers)).map(({ id }) => id)).toEqual(answers.map((_, i) => i + 1))
    expect(most).toBe(1)
  })

  it('a byte order mark before a message is no part of it', async () => {
    const { connect: open } = await served()
    const client = await open()
    client.ws.send('\ufeff{"id":"a","method":"getblockcount"}')
    await client.until(() => client.told.length === 1)
    expect(client.told).toEqual([{ id: 'a', jsonrpc: '2.0', result: 1 }])
  })

  it.each([
    ['a binary message', 1003, (ws: WebSocket) => ws.send(Buffer.from('{}'))],
    ['text that is not UTF-8', 1007, (ws: WebSocket) => ws.send(Buffer.of(0xff, 0xfe), { binary: false })],
    ['a message beyond the limit', 1009, (ws: WebSocket) => ws.send(`"${'x'.repeat(2000)}"`)],
    [
      'too many frames for one message',
      1008,
      (ws: WebSocket) => Array.from({ length: 20 }, (_, i) => ws.send('1', { fin: i === 19 })),
    ],
  ])('closes for %s with %i', async (_, code, send) => {
    const { connect: open, server } = await served({ limits: { wsMessage: 1000, wsFragments: 8 } })
    const client = await open()
    const other = await open()
    expect(await client.result('getblockcount')).toBe(1)
    send(client.ws)
    expect((await client.closed).code).toBe(code)
    expect(await other.result('getblockcount')).toBe(1)
    await other.until(() => server.connections === 1)
  })

  it('answers an address only so many requests in a window', async () => {
    const limits = { rateRequests: 3, rateWindow: 500, rateSparesLoopback: false }
    const { connect: open } = await served({ limits })
    const [one, other] = await Promise.all([open(), open()])
    const ask = async (client: WsClient, count = 1) => {
      const before = client.told.length
      for (let i = 0; i < count; i++) client.ws.send('{"id":"x","method":"getblockcount"}')
      await client.until(() => client.told.length >= before + count)
      return client.told.slice(before)
    }
    const refusal = { id: 'x', error: { code: -32005, data: expect.stringContaining('requests') } }
    // All at once, well within the window.
    const answered = { id: 'x', result: 1 }
    expect(await ask(other)).toMatchObject([answered])
    expect(await ask(one, 3)).toMatchObject([answered, answered, refusal])
    await expect.poll(() => ask(other), { interval: 50 }).toMatchObject([answered])
  })

  it.each([
    [16 * 1024, 'id'],
    [16 * 1024 + 1, 'close'],
  ])('refuses a message of %d bytes beyond the rate by its %s', async (size, how) => {
    const limits = { rateRequests: 1, rateWindow: 60_000, rateSparesLoopback: false }
    const { connect: open } = await served({ limits })
    const client = await open()
    const calls = (count: number) => Array.from({ length: count }, (_, i) => ({ id: i, method: 'getblockcount' }))
    await client.call('getblockcount')
    const body = JSON.stringify(calls(2))
    client.ws.send(body + ' '.repeat(size - body.length))
    if (how === 'close') return expect(await client.closed).toMatchObject({ code: 1013 })
    await client.until(() => client.told.length === 1)
    expect(client.told[0]).toMatchObject([0, 1].map((id) => ({ id, error: { code: -32005 } })))
  })

  it('speaks no compression', async () => {
    const { connect: open } = await served()
    const client = await open({ perMessageDeflate: true })
    expect(client.ws.extensions).toBe('')
  })

  it('lets a connection above the limit take the place of one that is told of nothing', async () => {
    const { server, connect: open } = await served({ limits: { wsConnections: 4 } })
    const subscriber = await open()
    await subscriber.call('subscribe', { topics: ['block'] })
    const quiet = await open()
    const next = await open()
    expect((await quiet.closed).code).toBe(1006)
    await next.until(() => server.connections === 2)
    expect(await next.result('getblockcount')).toBe(1)
    expect(await subscriber.result('getblockcount')).toBe(1)
  })

  it('bounds what all messages and answers take up together', async () => {
    const { server, connect: open } = await served({ limits: { wsHeld: 300_000, wsUncounted: 1000 } })
    const half = `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(200_000)}`
    const clients = await Promise.all([open(), open(), open()])
    for (const { ws } of clients) ws.send(half, { fin: false })
    // The reason may get lost, where the connection is cut before it is read.
    expect([1013, 1006]).toContain((await Promise.race(clients.map(({ closed }) => closed))).code)
    const left = clients.filter(({ ws }) => ws.readyState === WebSocket.OPEN)
    expect(left.length).toBeGreaterThan(0)
    await (left[0] as WsClient).until(() => server.connections === left.length)
    for (const { ws } of left) ws.send('"}', { fin: true })
    for (const client of left) await client.until(() => client.told.length === 1)
  })
})

describe('subscribe', () => {
  it('is there only over WebSocket', async () => {
    const { test } = await served()
    const http = await serve(contextOf(test))
    cleaning.push(() => http.close())
    for (const [method, params] of [
      ['subscribe', { topics: ['block'] }],
      ['unsubscribe', { subscription: 1 }],
    ] as const) {
      const { body } = await askJson(http.port, '/rpc', { jsonrpc: '2.0', id: 1, method, params })
      expect(body).toMatchObject({ error: { code: -32601, data: expect.stringContaining('only over WebSocket') } })
    }
  })

  it('tells events under the number of the subscription until it is ended', async () => {
    const { test, log, connect: open } = await served()
    const client = await open()
    const tip = { height: 0, hash: test.chain.genesis.hash }
    expect(await client.result('subscribe', subscribe(['block']))).toEqual({
      subscription: 1,
      number: log.start,
      ...tip,
    })
    expect(await client.result('subscribe', [['transaction', 'did']])).toMatchObject({ subscription: 2 })
    const transfer = await test.send(await test.transfer(testAddress(12), 5n))
    const [block] = await test.mine()
    await client.until(() => client.events.length === 2)
    expect(client.told).toContainEqual({
      jsonrpc: '2.0',
      method: 'event',
      params: expect.objectContaining({
        subscription: 2,
        number: log.start + 1,
        topic: 'transaction',
        txid: transfer.txid,
      }),
    })
    expect(client.events).toContainEqual(
      expect.objectContaining({ subscription: 1, number: log.start + 2, topic: 'block', hash: block?.hash }),
    )
    expect(await client.result('unsubscribe', { subscription: 1 })).toBe(true)
    expect(await client.result('unsubscribe', [1])).toBe(false)
    await test.mine()
    await test.send(await test.transfer(testAddress(12), 6n))
    await client.until(() => client.events.length === 3)
    expect(client.events[2]).toMatchObject({ subscription: 2, topic: 'transaction' })
  })

  it('answers before it tells the first event, in a batch too', async () => {
    const { test, connect: open } = await served()
    await test.mine(3)
    const client = await open()
    const request = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'subscribe',
      params: { topics: ['block'], fromHeight: 2 },
    })
    client.ws.send(JSON.stringify([request(1), request(2)]))
    await client.until(() => client.told.length === 5)
    expect(client.told[0]).toMatchObject([{ result: { subscription: 1 } }, { result: { subscription: 2 } }])
    expect(client.events.filter(({ subscription }) => subscription === 1)).toMatchObject([
      { height: 2, number: null },
      { height: 3, number: null },
    ])
  })

  it('tells nothing of one that ends in the batch in which it begins', async () => {
    const { test, connect: open } = await served()
    const client = await open()
    client.ws.send(
      JSON.stringify([
        { jsonrpc: '2.0', id: 1, method: 'subscribe', params: subscribe(['block'], { fromHeight: 0 }) },
        { jsonrpc: '2.0', id: 2, method: 'unsubscribe', params: [1] },
        { jsonrpc: '2.0', id: 3, method: 'subscribe', params: subscribe(['block']) },
      ]),
    )
    await client.until(() => client.told.length === 1)
    const [block] = await test.mine()
    await client.until(() => client.told.length === 2)
    expect(client.events).toMatchObject([{ subscription: 2, hash: block?.hash }])
  })

  it('goes on after a number, after a block, from a height', async () => {
    const { test, log, connect: open } = await served()
    const blocks = await test.mine(3)
    const client = await open()
    const starts = [{ after: log.start + 1 }, { afterBlock: blocks[0]?.hash.toUpperCase() }, { fromHeight: 2 }]
    for (const start of starts) await client.result('subscribe', subscribe(['block'], start))
    await client.until(() => client.events.length === 6)
    for (const subscription of [1, 2, 3]) {
      const told = client.events.filter((event) => event.subscription === subscription)
      expect(told.map((event) => 'hash' in event && event.hash)).toEqual(blocks.slice(1).map(({ hash }) => hash))
      expect(told.map(({ number }) => number)).toEqual(
        subscription === 1 ? [log.start + 2, log.start + 3] : [null, null],
      )
    }
    const [last] = await test.mine()
    await client.until(() => client.events.length === 9)
    expect(client.events.slice(6)).toMatchObject(Array(3).fill({ hash: last?.hash, number: log.last }))
  })

  it.each([
    ['no topics', { topics: [] }, -32602],
    ['topics that are missing', {}, -32602],
    ['an unknown topic', { topics: ['blocks'] }, -32602],
    ['a topic twice', { topics: ['block', 'block'] }, -32602],
    ['two beginnings', { topics: ['block'], after: 1, fromHeight: 1 }, -32602],
    ['a hash that is none', { topics: ['block'], afterBlock: 'x' }, -32602],
    ['a height that is none', { topics: ['block'], fromHeight: -1 }, -32602],
    ['a number that is none', { topics: ['block'], after: 2 ** 53 }, -32602],
    ['a number of another run', { topics: ['block'], after: 1 }, -32006],
    ['an unknown block', { topics: ['block'], afterBlock: '1'.repeat(64) }, -32004],
    ['a height above the next', { topics: ['block'], fromHeight: 2 }, -32004],
  ])('refuses %s', async (_, params, code) => {
    const { connect: open } = await served()
    const client = await open()
    expect((await client.call('subscribe', params)).error?.code).toBe(code)
    expect(await client.result('subscribe', subscribe(['block']))).toMatchObject({ subscription: 1 })
  })

  it('bounds the subscriptions of a connection', async () => {
    const { connect: open } = await served({ limits: { wsSubscriptions: 2 } })
    const client = await open()
    for (const id of [1, 2])
      expect(await client.result('subscribe', subscribe(['block']))).toMatchObject({ subscription: id })
    expect((await client.call('subscribe', subscribe(['block']))).error).toMatchObject({ code: -32005 })
    await client.result('unsubscribe', [1])
    expect(await client.result('subscribe', subscribe(['block']))).toMatchObject({ subscription: 3 })
    expect(await (await open()).result('subscribe', subscribe(['block']))).toMatchObject({ subscription: 1 })
  })

  it('makes the text of an event once for all who hear it', async () => {
    const { test, log, connect: open } = await served()
    const clients = await Promise.all(Array.from({ length: 20 }, () => open()))
    await Promise.all(clients.map((client) => client.result('subscribe', subscribe(['block']))))
    const stringify = JSON.stringify
    let made = 0
    JSON.stringify = ((value: { topic?: string }, ...rest: []) => {
      if (value?.topic === 'block') made++
      return stringify(value, ...rest)
    }) as typeof JSON.stringify
    try {
      await test.mine()
      await Promise.all(clients.map((client) => client.until(() => client.events.length === 1)))
    } finally {
      JSON.stringify = stringify
    }
    expect([made, log.last - log.start]).toEqual([1, 1])
  })
})

describe('readers that are slow or gone', () => {
  it('drops one that falls behind what is kept, while others go on', async () => {
    const { test, server, connect: open } = await served({ kept: 60, limits: { wsSendQueue: 1000 } })
    const quick = await open()
    await quick.result('subscribe', subscribe(['block']))
    const { socket } = await deaf(
      server.port,
      Array.from({ length: 16 }, (_, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'subscribe',
        params: { topics: ['transaction', 'block'] },
      })),
    )
    // What the system itself buffers is far more than the limit: so the slow one gets large events besides.
    const transaction = new LargeTransaction(await test.transfer(testAddress(30), 1000n))
    const large = { transaction, fee: 0n, arrival: 0, work: noWork }
    for (let i = 0; i < 400 && server.connections === 2; i++) {
      test.mempool.events.emit('accepted', large, [])
      await test.mine()
      await nextTurn()
    }
    // The close frame cannot reach it: after a while the connection is cut.
    await quick.until(() => server.connections === 1)
    await quick.until(() => quick.events.length === test.reader.height)
    socket.destroy()
  })

  it('cuts off a connection that answers no ping', async () => {
    const { server, connect: open } = await served({ limits: { wsPing: 200 } })
    const alive = await open()
    const { socket } = await deaf(server.port, [])
    await alive.until(() => server.connections === 2)
    await alive.until(() => server.connections === 1)
    expect(await alive.result('getblockcount')).toBe(1)
    socket.destroy()
  })

  it('lets go of one that hangs up without a word, half-way or at once', async () => {
    const { server, connect: open } = await served()
    const other = await open()
    for (const end of ['end', 'destroy', 'resetAndDestroy'] as const) {
      const { socket } = await deaf(server.port, [])
      await other.until(() => server.connections === 2)
      socket[end]()
      await other.until(() => server.connections === 1)
      socket.destroy()
    }
  })

  it('goes on after frames of any bytes', async () => {
    const { test, server, connect: open } = await served()
    const other = await open()
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.boolean(), async (bytes, message) => {
        const client = await open()
        if (message) client.ws.send(bytes, { binary: false })
        else innerSocket(client.ws).write(bytes)
        client.ws.close()
        const timer = setTimeout(() => client.ws.terminate(), 50)
        await client.closed
        clearTimeout(timer)
      }),
      { numRuns: 1000 },
    )
    await other.until(() => server.connections === 1)
    expect(await other.result('getblockcount')).toBe(1)
    expect(test.log.errors).toEqual([])
  })

  it('keeps one whose requests take long', async () => {
    let answer = () => {}
    const resolver = {
      resolve: () =>
        new Promise<{ did: string; status: 3 }>((resolve) => (answer = () => resolve({ did: 'x', status: 3 }))),
      resolveShort: unasked,
      standing: inStep(),
      answersAt: undefined,
      now: Date.now,
      queryJson: unasked,
      credentials: { resolve: unasked, list: unasked },
      proofs: provesNothing,
    }
    const { connect: open } = await served({ limits: { wsPing: 100, wsWaiting: 2 }, context: { resolver } })
    const [client, clock] = await Promise.all([open(), open()])
    let pings = 0
    clock.ws.on('ping', () => pings++)
    const answers = [client.call('resolvedid', resolution), ...[1, 2, 3].map(() => client.call('getblockcount'))]
    await clock.until(() => pings >= 5)
    answer()
    expect((await Promise.all(answers)).map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined])
  })

  it('answers pings and takes leave of those who do', async () => {
    const { server, connect: open } = await served({ limits: { wsPing: 100 } })
    const client = await open()
    let pings = 0
    client.ws.on('ping', () => pings++)
    await client.until(() => pings >= 3)
    const pong = new Promise((resolve) => client.ws.once('pong', resolve))
    client.ws.ping()
    await pong
    await client.close()
    const other = await open()
    await other.until(() => server.connections === 1)
  })
})

describe('the server', () => {
  it('says that its port is taken, and how to take another', async () => {
    const { test, log, server } = await served()
    const again = WsServer.open(contextOf(test), { events: new LogEvents(log), port: server.port })
    await expect(again).rejects.toThrow(UserError)
    await expect(again).rejects.toThrow('--port-base')
  })

  it('takes leave with 1001, and does not wait for who does not answer', async () => {
    const { test, log } = await served()
    const server = await WsServer.open(contextOf(test, { limits: { closeGrace: 300 } }), {
      events: new LogEvents(log),
      port: 0,
    })
    const polite = await WsClient.open(server.port)
    await polite.result('subscribe', subscribe(['block']))
    const { socket } = await deaf(server.port, [])
    const elapsed = stopwatch()
    await server.close()
    expect(elapsed()).toBeLessThan(3000)
    expect(await polite.closed).toEqual({ code: 1001, reason: 'the node is stopping' })
    expect(log.events.listenerCount('appended')).toBe(1)
    await expect.poll(() => server.connections).toBe(0)
    socket.destroy()
  })

  it('keeps its memory over ten thousand messages', async () => {
    const { test, server, connect: open } = await served()
    const client = await open()
    const ask10k = async () => {
      for (let i = 0; i < 100; i++) {
        await Promise.all(Array.from({ length: 100 }, () => client.call('resolvedid', resolution)))
      }
    }
    await ask10k()
    const before = heldBytes()
    await ask10k()
    expect(heldBytes() - before).toBeLessThan(1_000_000)
    await client.close()
    await test.mine()
    const last = await open()
    await last.until(() => server.connections === 1)
  })
})
