import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { RuleError, UserError } from '../../../src/index.js'
import type { FollowedEvent } from '../../../src/clients/client/event-place.js'
import type { WebSocketClass } from '../../../src/clients/client/event-socket.js'
import { followEvents, type FollowOptions, mostWaiting } from '../../../src/clients/client/follow-events.js'
import { NoAnswer } from '../../../src/clients/client/http.js'
import { createNode, type LedgerNode } from '../../../src/index.js'
import { devnet, type TestDevnet } from '../../../src/node/library/testing-entry.js'
import { busyness } from '../../support/process/patience.js'
import { Workbench } from '../../support/process/workbench.js'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type Events = AsyncGenerator<FollowedEvent, void, undefined>

/** Follows until the test ends. */
function follow(options: FollowOptions): Events {
  const end = new AbortController()
  closing.push(() => end.abort())
  return followEvents({ signal: end.signal, ...options })
}

async function next(events: Events): Promise<FollowedEvent> {
  const { value, done } = await events.next()
  if (done === true) throw new Error('the events ended')
  return value
}

async function some(events: Events, count: number): Promise<FollowedEvent[]> {
  const told: FollowedEvent[] = []
  while (told.length < count) told.push(await next(events))
  return told
}

const brief = (event: FollowedEvent) =>
  event.topic === 'gap'
    ? 'gap'
    : `${event.action === 'apply' ? '+' : '-'} ${event.topic} ${'height' in event ? event.height : ''}`.trim()

/** A door to a server at another port: connections go through, until it is told to let none pass. */
class Door {
  readonly sockets: Socket[] = []
  port = 0
  silent = false
  readonly #server: Server

  constructor(private readonly target: () => number) {
    this.#server = createServer((socket) => {
      this.sockets.push(socket)
      socket.on('error', () => {})
      const through = connect(this.target(), '127.0.0.1')
      through.on('error', () => socket.destroy())
      through.on('close', () => socket.destroy())
      socket.on('close', () => through.destroy())
      const silent = () => this.silent
      socket.on('data', (data) => silent() || through.write(data))
      through.on('data', (data) => silent() || socket.write(data))
    })
    closing.push(() => {
      this.cut()
      this.#server.close()
    })
  }

  async open(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
    return this
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}`
  }

  cut(): void {
    for (const socket of this.sockets.splice(0)) socket.destroy()
  }
}

const portOf = (url: string) => Number(new URL(url).port)

async function testNet(options = {}) {
  const net = await devnet(options)
  closing.push(() => net.close())
  return net
}

/** A class as pages have it: no part of a connection can be held back, and nothing ends it at once. */
function pageClass(): { readonly class: WebSocketClass; readonly made: WebSocket[]; received: number } {
  const seen = { made: [] as WebSocket[], received: 0, class: undefined as never as WebSocketClass }
  seen.class = class {
    readonly #inner: WebSocket
    constructor(url: string) {
      this.#inner = new WebSocket(url)
      this.#inner.on('error', () => {})
      this.#inner.on('message', () => seen.received++)
      seen.made.push(this.#inner)
    }
    send(text: string): void {
      this.#inner.send(text)
    }
    close(): void {
      this.#inner.close()
    }
    addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: never) => void): void {
      this.#inner.addEventListener(type as 'open', listener as () => void)
    }
  }
  return seen
}

describe('followEvents', () => {
  it('tells what happens, each block after all of its operations', async () => {
    const net = await testNet({ mining: 'manual' })
    const events = follow({ url: net.urls.ws, from: { fromHeight: 0 }, topics: ['block', 'did'] })
    expect(brief(await next(events))).toBe('+ block 0')
    const [account] = net.accounts
    if (account === undefined) throw new Error('no account')
    const { did } = await net.node.wallet.createDid({ account })
    await net.mine(2)
    const told = await some(events, 3)
    expect(told.map(brief)).toEqual(['+ did 1', '+ block 1', '+ block 2'])
    expect(told[0]).toMatchObject({ did, operation: 'create' })
    expect(told[0]).not.toHaveProperty('subscription')
  })

  it('begins with the next event by default, and says when', async () => {
    const net = await testNet()
    await net.mine(2)
    const began = deferred()
    const events = follow({ url: `${net.urls.rest.replace('http', 'ws')}/ws`, onBegin: began.resolve })
    const first = next(events)
    expect(await began.promise).toMatchObject({ height: 2, hash: net.node.chain.tip.hash })
    await net.mine()
    expect(await first).toMatchObject({ topic: 'block', height: 3 })
  })

  it('tells topics that are asked for, and no others', async () => {
    const net = await testNet()
    const began = deferred()
    const events = follow({ url: net.urls.ws, topics: ['transaction'], onBegin: began.resolve })
    const told = some(events, 2)
    await began.promise
    const [from] = net.accounts
    if (from === undefined) throw new Error('no account')
    const send = () => net.node.wallet.transfer({ from, to: from.address, amount: 1n })
    const txids = [await send(), await send()]
    expect(await told).toMatchObject(txids.map((txid) => ({ topic: 'transaction', txid })))
  })

  it('goes on after each loss with the event after the last one', async () => {
    const net = await testNet()
    const door = await new Door(() => portOf(net.urls.ws)).open()
    const lost: UserError[] = []
    const events = follow({
      url: door.url,
      topics: ['block'],
      from: { fromHeight: 1 },
      onLost: (error) => lost.push(error),
    })
    const heights: number[] = []
    for (let round = 0; round < 4; round++) {
      await net.mine(3)
      heights.push(...(await some(events, 3)).map((event) => ('height' in event ? event.height : -1)))
      door.cut()
      await net.mine(2)
      heights.push(...(await some(events, 2)).map((event) => ('height' in event ? event.height : -1)))
    }
    expect(heights).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    expect(lost).toHaveLength(4)
    expect(lost[0]).toBeInstanceOf(NoAnswer)
  })

  it('tells transactions of a short break too', async () => {
    const net = await testNet({ mining: 'manual' })
    const door = await new Door(() => portOf(net.urls.ws)).open()
    const began = deferred()
    const events = follow({ url: door.url, onBegin: began.resolve })
    const first = next(events)
    await began.promise
    const [from, other] = net.accounts
    if (from === undefined || other === undefined) throw new Error('no accounts')
    const send = () => net.node.wallet.transfer({ from, to: other.address, amount: 1n })
    const txids = [await send()]
    const told = [await first]
    door.cut()
    txids.push(await send(), await send())
    told.push(...(await some(events, 2)))
    expect(told.map((event) => ('txid' in event ? event.txid : event.topic))).toEqual(txids)
  })

  it('tells reorganisations as they are, those while there was no connection too', async () => {
    const net = await testNet()
    const door = await new Door(() => portOf(net.urls.ws)).open()
    const events = follow({ url: door.url, topics: ['block'], from: { fromHeight: 1 } })
    await net.mine(3)
    await some(events, 3)
    const reorganise = () => ask(net.urls.rpc, 'dev_reorg', { blocks: 2 })
    await reorganise()
    const both = ['- block 3', '- block 2', '+ block 2', '+ block 3']
    expect((await some(events, 4)).map(brief)).toEqual(both)
    door.cut()
    await reorganise()
    expect((await some(events, 4)).map(brief)).toEqual(both)
    const back = await net.snapshot()
    await net.mine(2)
    await some(events, 2)
    await back.restore()
    expect((await some(events, 2)).map(brief)).toEqual(['- block 5', '- block 4'])
  })

  it('throws unknown-block where the last block is gone for ever, for what was told cannot be taken back', async () => {
    const bench = new Workbench()
    closing.push(() => bench.close())
    const dataDir = bench.path('devnet')
    let node = await createNode({ network: 'devnet', dataDir, api: { portBase: 0 } })
    const door = await new Door(() => portOf(node.api?.ws ?? '')).open()
    const events = follow({ url: door.url, topics: ['block'], from: { fromHeight: 1 } })
    await node.devnet?.mine(3)
    await some(events, 3)
    await node.close()
    node = await createNode({ network: 'devnet', api: { portBase: 0 } })
    closing.push(() => node.close())
    const rejected = events.next()
    await expect(rejected).rejects.toThrow(RuleError)
    await expect(rejected).rejects.toMatchObject({
      code: 'unknown-block',
      message: expect.stringContaining('fromHeight'),
    })
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  it('goes on by block where the node was started again, and tells the gap of those who follow transactions', async () => {
    const bench = new Workbench()
    closing.push(() => bench.close())
    const dataDir = bench.path('devnet')
    const start = () => createNode({ network: 'devnet', dataDir, mining: 'manual', api: { portBase: 0 } })
    let node: LedgerNode = await start()
    closing.push(() => node.close())
    const door = await new Door(() => portOf(node.api?.ws ?? '')).open()
    const all = follow({ url: door.url, from: { fromHeight: 1 } })
    const blocks = follow({ url: door.url, from: { fromHeight: 1 }, topics: ['block'] })
    await node.devnet?.mine(2)
    await some(all, 2)
    await some(blocks, 2)
    const pending = [some(all, 1), some(blocks, 1)]
    await node.devnet?.mine(1)
    await Promise.all(pending)
    await node.close()
    node = await start()
    await node.devnet?.mine(1)
    expect((await some(all, 2)).map(brief)).toEqual(['gap', '+ block 4'])
    expect((await some(blocks, 1)).map(brief)).toEqual(['+ block 4'])
  })

  describe('of a long chain', () => {
    /** Half as much again as may wait for the reader: an event of a block has some 370 characters. */
    const blocks = 5_000
    let net: TestDevnet
    beforeAll(async () => {
      net = await devnet({ mining: 'manual' })
      await net.mine(blocks)
    })
    afterAll(() => net?.close())

    it('makes the node wait for a slow reader, and loses nothing', async () => {
      let received = 0
      class Counting extends WebSocket {
        constructor(url: string) {
          super(url)
          this.on('message', (data: Buffer) => (received += data.length))
        }
      }
      const events = follow({ url: net.urls.ws, topics: ['block'], from: { fromHeight: 1 }, WebSocket: Counting })
      const heights = [await next(events)].map((event) => ('height' in event ? event.height : -1))
      // The reader does something else for as long as the node sends.
      await expect.poll(() => received).toBeGreaterThan(mostWaiting * 0.9)
      await settled(() => received)
      expect(received).toBeLessThan(mostWaiting * 1.3)
      for await (const event of events) {
        if ('height' in event) heights.push(event.height)
        if (heights.length === blocks) break
      }
      expect(heights).toEqual(Array.from({ length: blocks }, (_, i) => i + 1))
    })

    it('drops the connection of a slow reader in a page, and makes another when it has read', async () => {
      const page = pageClass()
      const events = follow({ url: net.urls.ws, topics: ['block'], from: { fromHeight: 1 }, WebSocket: page.class })
      const heights = [await next(events)].map((event) => ('height' in event ? event.height : -1))
      await expect.poll(() => page.made[0]?.readyState).toBe(WebSocket.CLOSED)
      expect(page.made).toHaveLength(1)
      for await (const event of events) {
        if ('height' in event) heights.push(event.height)
        if (heights.length === blocks) break
      }
      expect(heights).toEqual(Array.from({ length: blocks }, (_, i) => i + 1))
      expect(page.made.length).toBeGreaterThan(1)
    })
  })

  it('makes another connection when one falls silent, and asks a quiet node before', async () => {
    const net = await testNet()
    const door = await new Door(() => portOf(net.urls.ws)).open()
    const lost: string[] = []
    const timeout = 1000 * Math.ceil(busyness())
    const events = follow({
      url: door.url,
      topics: ['block'],
      from: { fromHeight: 1 },
      timeout,
      onLost: ({ message }) => lost.push(message),
    })
    await net.mine()
    await next(events)
    // Nothing happens for much longer, and the node answers.
    const quiet = next(events)
    await new Promise((resolve) => setTimeout(resolve, 3 * timeout))
    expect([lost, door.sockets.length]).toEqual([[], 1])
    await net.mine()
    expect(brief(await quiet)).toBe('+ block 2')
    door.silent = true
    const after = next(events)
    await net.mine()
    await expect.poll(() => lost).toHaveLength(1)
    expect(lost[0]).toContain(`did not answer within ${timeout / 1000} s`)
    door.silent = false
    expect(brief(await after)).toBe('+ block 3')
  })

  it.each(['while it waits for an event', 'while it connects', 'while it waits to connect again', 'before it is read'])(
    'ends at once when its signal aborts %s',
    async (when) => {
      const net = await testNet()
      const door = await new Door(() => portOf(net.urls.ws)).open()
      door.silent = when === 'while it connects'
      const end = new AbortController()
      const began = deferred()
      const lost = deferred()
      const { signal } = end
      const events = followEvents({ url: door.url, signal, onBegin: began.resolve, onLost: lost.resolve })
      if (when === 'before it is read') end.abort()
      const pending = events.next()
      if (when === 'while it connects') await expect.poll(() => door.sockets.length).toBe(1)
      if (when === 'while it waits for an event') await began.promise
      if (when === 'while it waits to connect again') {
        await began.promise
        await net.close()
        await lost.promise
      }
      const before = performance.now()
      end.abort()
      expect(await pending).toEqual({ done: true, value: undefined })
      expect(performance.now() - before).toBeLessThan(200)
      await expect.poll(() => door.sockets.filter((socket) => !socket.destroyed)).toEqual([])
      expect(await events.next()).toEqual({ done: true, value: undefined })
    },
  )

  it('ends its connection when the loop over it ends', async () => {
    const net = await testNet()
    const door = await new Door(() => portOf(net.urls.ws)).open()
    for await (const event of followEvents({ url: door.url, from: { fromHeight: 0 } })) {
      expect(brief(event)).toBe('+ block 0')
      break
    }
    await expect.poll(() => door.sockets.every((socket) => socket.destroyed)).toBe(true)
  })

  it('throws where no node is reached at first', async () => {
    const rejected = followEvents({ url: 'ws://127.0.0.1:1' }).next()
    await expect(rejected).rejects.toThrow(NoAnswer)
    await expect(rejected).rejects.toThrow('no events from ws://127.0.0.1:1')
  })

  it('throws where the node refuses the beginning', async () => {
    const net = await testNet()
    const code = (from: FollowOptions['from']) =>
      followEvents({ url: net.urls.ws, ...(from && { from }) })
        .next()
        .then(
          () => 'told',
          (error: RuleError) => error.code,
        )
    expect(await code({ fromHeight: 7 })).toBe('unknown-block')
    expect(await code({ afterBlock: 'ab'.repeat(32) })).toBe('unknown-block')
    expect(await code({ after: 5 })).toBe('event-gone')
    expect(await code({ fromHeight: 0 })).toBe('told')
  })
})

/** A server that does as it is told. */
async function fakeNode(
  take: (request: { id: number; params: object }, socket: WebSocket, connection: number) => void,
) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  closing.push(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  let connections = 0
  server.on('connection', (socket) => {
    const connection = ++connections
    socket.on('message', (data: Buffer) => take(JSON.parse(data.toString()), socket, connection))
  })
  await once(server, 'listening')
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const hashAt = (height: number) => height.toString(16).padStart(64, '0')
const block = (height: number, number: number | null, action = 'apply') => ({
  ...{ topic: 'block', action, number, height, hash: hashAt(height), previousblockhash: hashAt(height - 1) },
  ...{ time: 1, transactions: 1 },
})
const did = (txid: string, number: number | null) => ({
  ...{
    topic: 'did',
    action: 'apply',
    number,
    did: 'did:ledger:a',
    operation: 'create',
    txid,
    height: 5,
    blockhash: 'x',
  },
})
const send = (socket: WebSocket, ...events: object[]) => {
  for (const params of events) {
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'event', params: { subscription: 1, ...params } }))
  }
}
const begin = (socket: WebSocket, number = 0) =>
  socket.send(
    JSON.stringify({ jsonrpc: '2.0', id: 1, result: { subscription: 1, number, height: 4, hash: hashAt(4) } }),
  )

describe('a connection that ends within a block', () => {
  it('is followed by the rest of it, where the node has the number', async () => {
    const asked: object[] = []
    const url = await fakeNode(({ params }, socket, connection) => {
      asked.push(params)
      begin(socket, 10)
      if (connection === 1) {
        send(socket, did('a', 11), did('b', 12))
        socket.terminate()
      } else send(socket, did('c', 13), block(5, 14))
    })
    const events = follow({ url, topics: ['did', 'block'] })
    expect((await some(events, 4)).map((event) => ('txid' in event ? event.txid : event.topic))).toEqual([
      'a',
      'b',
      'c',
      'block',
    ])
    expect(asked).toEqual([
      { topics: ['did', 'block'] },
      { topics: ['did', 'block'], after: expect.toBeOneOf([10, 11, 12]) },
    ])
  })

  it('is followed by the whole of another one, where the node has lost both: nothing of the first was told', async () => {
    const asked: object[] = []
    const url = await fakeNode(({ params }, socket, connection) => {
      asked.push(params)
      if (connection === 1) {
        begin(socket, 10)
        send(socket, did('a', 11), did('b', 12))
        setTimeout(() => socket.terminate(), 50)
      } else if ('after' in params) {
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32006, message: '', data: 'gone' } }))
      } else {
        begin(socket, 1000)
        send(socket, did('z', null), block(5, null))
      }
    })
    const events = follow({ url, topics: ['did'] })
    expect(await next(events)).toMatchObject({ txid: 'z' })
    expect(asked.slice(1)).toEqual([
      { topics: ['did', 'block'], after: 12 },
      { topics: ['did', 'block'], afterBlock: hashAt(4) },
    ])
  })
})

describe('a node that sends what it should not', () => {
  it.each([
    ['no JSON', 'nonsense', 'a message that is not JSON'],
    ['a list', '[]', 'a message that is not an object'],
    ['bytes', Buffer.from('x'), 'a message that is not text'],
    ['an answer without a position', '{"id":1,"result":{}}', 'number is not an integer'],
    [
      'a topic of its own',
      '{"method":"event","params":{"topic":"toString","action":"apply","number":1}}',
      'unknown topic',
    ],
    ['no action', '{"method":"event","params":{"topic":"block","number":1}}', 'action of a block event'],
    [
      'a number of text',
      '{"method":"event","params":{"topic":"block","action":"apply","number":"1"}}',
      'number of a block',
    ],
    [
      'a block without a hash',
      '{"method":"event","params":{"topic":"block","action":"apply","number":1,"height":1}}',
      'hash of',
    ],
    ['a refusal without words', '{"id":1,"error":{"code":1}}', 'no reason is given'],
    ['a refusal that steers a terminal', '{"id":1,"error":{"code":1,"data":"\\u001b]0;x"}}', '\\u001b]0;x'],
  ])('ends the iteration in words: %s', async (_, message, words) => {
    const url = await fakeNode((__, socket) => socket.send(message))
    const rejected = follow({ url, topics: ['block'] }).next()
    await expect(rejected).rejects.toSatisfy((error) => error instanceof UserError || error instanceof RuleError)
    await expect(rejected).rejects.toThrow(words)
  })

  it('is busy, and asked again once it was followed', async () => {
    const url = await fakeNode((_, socket, connection) => {
      if (connection === 2) {
        socket.send(JSON.stringify({ id: 1, error: { code: -32005, message: '', data: 'busy' } }))
        return
      }
      begin(socket, connection)
      send(socket, block(4 + connection, null))
      setTimeout(() => socket.close(1013, 'too slow'), 20)
    })
    expect((await some(follow({ url, topics: ['block'] }), 2)).map(brief)).toEqual(['+ block 5', '+ block 7'])
  })
})

describe('the options', () => {
  it.each<[unknown, string]>([
    [undefined, 'an object with url'],
    [{ url: 'ws://a', topic: ['did'] }, 'topic is no option of followEvents; there are url, topics'],
    [{}, 'url: not a URL of the form ws://host:port'],
    [{ url: 5 }, 'url: not a URL'],
    [{ url: 'http://127.0.0.1:20335' }, 'url: not a URL of the form ws://host:port: http://'],
    [{ url: 'ws://a', topics: 'did' }, 'topics: a list of block, transaction, did, credential'],
    [{ url: 'ws://a', topics: [] }, 'topics: a list of'],
    [{ url: 'ws://a', topics: ['dids'] }, 'topics: a list of'],
    [{ url: 'ws://a', from: 5 }, 'from: an object with fromHeight, afterBlock or after'],
    [{ url: 'ws://a', from: { height: 5 } }, 'height is no option of from'],
    [{ url: 'ws://a', from: { after: 1, fromHeight: 1 } }, 'from: only one of'],
    [{ url: 'ws://a', from: { afterBlock: 'ab' } }, 'from.afterBlock: the hash of a block'],
    [{ url: 'ws://a', from: { fromHeight: -1 } }, 'from.fromHeight: -1 is not'],
    [{ url: 'ws://a', from: { after: 1.5 } }, 'from.after: 1.5 is not'],
    [{ url: 'ws://a', timeout: 0 }, 'timeout: 0 is not'],
    [{ url: 'ws://a', signal: {} }, 'signal: an AbortSignal'],
    [{ url: 'ws://a', onBegin: 5 }, 'onBegin: a function'],
    [{ url: 'ws://a', WebSocket: 5 }, 'WebSocket: a function'],
  ])('%j are refused in words', (options, message) => {
    expect(() => followEvents(options as FollowOptions)).toThrow(UserError)
    expect(() => followEvents(options as FollowOptions)).toThrow(message)
  })
})

function deferred() {
  let resolve: (value?: unknown) => void = () => {}
  const promise = new Promise<unknown>((done) => (resolve = done))
  return { promise, resolve }
}

async function ask(url: string, method: string, params: object): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect(await response.json()).not.toHaveProperty('error')
}

/** Waits until a number stays what it is. */
async function settled(value: () => number): Promise<void> {
  for (let last = NaN; last !== value();) {
    last = value()
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}
