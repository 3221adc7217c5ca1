import { EventEmitter, once, setMaxListeners } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { vi } from 'vitest'
import { WebSocket } from 'ws'
import { type Holder, SharedBytes } from '../../src/answers/api/streams/admission.js'
import { apiLimits } from '../../src/answers/api/api-limits.js'
import { BodyBudget } from '../../src/answers/api/http/body-budget.js'
import { HeightGate } from '../../src/answers/api/http/height-gate.js'
import { boundUnread, ConnectionShares } from '../../src/answers/api/http/connections.js'
import { BoundedSource } from '../../src/answers/api/servers/bounded-source.js'
import { amountOf } from '../../src/answers/api/results/inputs-amount.js'
import { PassedOn } from '../../src/answers/api/http/passed-on.js'
import { RequestRate } from '../../src/answers/api/http/request-rate.js'
import { LogEvents } from '../../src/answers/api/ws/log-events.js'
import { WebSockets } from '../../src/answers/api/ws/web-sockets.js'
import { WsConnection } from '../../src/answers/api/ws/ws-connection.js'
import { EventLog } from '../../src/ledger/events/event-log.js'
import type { ProgramHash } from '../../src/base/primitives/address.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { TestChain } from '../support/builders/chain.js'
import { sizedTransaction } from '../support/builders/pool-entries.js'
import { contextOf } from '../support/client/api.js'
import { rest } from '../support/fakes/manual-time.js'
import { namedChain, nodeOfChain } from '../support/fakes/named-chain.js'
import { heightChain } from '../support/fakes/height-chain.js'
import { each, everyDoor, failureOf, limit, mib } from './limit.js'

/** A connection that only has an address, and does nothing. */
class QuietSocket extends EventEmitter {
  destroyed = false
  writableLength = 0

  constructor(readonly remoteAddress: string) {
    super()
  }

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

/** Admits connections of these addresses; a refusal where one of them has to go. */
function admitting(
  addresses: readonly string[],
  shares = new ConnectionShares({ limits: apiLimits, exempt: () => false }),
): string | undefined {
  const sockets = addresses.map((address) => new QuietSocket(address))
  const admitted = sockets.map((socket) => shares.admit(socket as unknown as Socket))
  return admitted.includes(false) || sockets.some(({ destroyed }) => destroyed) ? 'a connection is closed' : undefined
}

/** Connections with these unread bytes at a server, after a look at them. */
function unread(bytes: readonly number[]): string | undefined {
  vi.useFakeTimers()
  try {
    const server = new EventEmitter()
    boundUnread(server as never, apiLimits.unread)
    const sockets = bytes.map((count, i) => Object.assign(new QuietSocket(`1.1.1.${i}`), { writableLength: count }))
    for (const socket of sockets) server.emit('connection', socket)
    vi.advanceTimersByTime(1000)
    server.emit('close')
    return sockets.some(({ destroyed }) => destroyed) ? 'a connection is closed' : undefined
  } finally {
    vi.useRealTimers()
  }
}

/** Takes so many bytes for bodies of these sizes. */
function bodies(sizes: readonly number[]): void {
  const budget = new BodyBudget(apiLimits)
  for (const size of sizes) budget.begin().grow(size)
}

/** Whether a body of these bytes, after a time, gives its room to another. */
function slowBody(bytes: number, milliseconds: number): string | undefined {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const body = new BodyBudget(apiLimits).begin()
    body.evict = () => {}
    body.grow(bytes)
    vi.advanceTimersByTime(milliseconds)
    return body.isSlow(apiLimits) ? 'the body gives way' : undefined
  } finally {
    vi.useRealTimers()
  }
}

/** Requests of one address, or as many addresses, by a clock. */
function rate(share: (i: number) => string, count: number, wait = 0): string | undefined {
  const counted = new RequestRate(apiLimits)
  const taken = each(count, (i) => !counted.take(share(i), 1000).exceeded)
  const last = wait === 0 ? true : !counted.take(share(0), 1000 + wait).exceeded
  return taken.includes(false) || !last ? 'request-rate' : undefined
}

const holder: Holder = { share: 'one', slow: false, evict: () => {} }

/** Answers that wait for room, of which none is refused. */
async function waiting(count: number): Promise<string | undefined> {
  const bytes = new SharedBytes(1, apiLimits)
  const end = new AbortController()
  setMaxListeners(0, end.signal)
  await bytes.take(1, holder, end.signal)
  const outcomes = each(count, () => bytes.take(1, holder, end.signal).then(String, (error: Error) => error.message))
  const refused = await Promise.race([...outcomes, rest().then(() => undefined)])
  end.abort(new Error('the test is over'))
  await Promise.all(outcomes)
  return refused
}

/** Requests of one client that wait for a height, the last of them with a body of so many bytes. */
async function waitingForHeight(count: number, held = 0): Promise<string | undefined> {
  const { chain, rise } = heightChain()
  const gate = new HeightGate(chain, apiLimits)
  const client = () => ({ share: 'one', signal: new AbortController().signal })
  const outcomes = each(count, (i) => failureOf(gate.wait(1, client, i === count - 1 ? held : 0) ?? rest()))
  const refused = await Promise.race([...outcomes, rest().then(() => undefined)])
  rise(1)
  await Promise.all(outcomes)
  return refused
}

/** Transactions of as many clients that a follower passes on to a node that does not answer. */
async function passingOn(count: number): Promise<string | undefined> {
  const server = createServer(nodeOfChain(namedChain.genesis, () => {})).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const passed = new PassedOn(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, namedChain)
  const outcomes = each(count, (i) => {
    const client = { share: String(i), signal: new AbortController().signal }
    return failureOf(passed.call('sendrawtransaction', {}, client, 'repeatable'))
  })
  const refused = await Promise.race([...outcomes, rest().then(() => undefined)])
  server.closeAllConnections()
  server.close()
  await Promise.all(outcomes)
  return refused
}

/** Admits WebSockets of as many addresses; a refusal where one of them has to go. */
async function admittingWebSockets(addresses: readonly string[]): Promise<string | undefined> {
  const test = await TestChain.open()
  const { chain, mempool, clock } = test
  const webSockets = new WebSockets(contextOf(test), new LogEvents(await EventLog.open({ chain, mempool, clock })))
  try {
    return admitting(addresses, webSockets.sharesOf('127.0.0.1'))
  } finally {
    await webSockets.close()
    await test.close()
  }
}

/** A WebSocket beside others that hold so many bytes together; `come` has its client send something. */
function beside(held: number, come: (ws: EventEmitter, socket: EventEmitter) => void): Promise<string | undefined> {
  const socket = Object.assign(new EventEmitter(), { end: () => {}, cork: () => {}, writableNeedDrain: false })
  return new Promise((resolve) => {
    const ws = Object.assign(new EventEmitter(), {
      readyState: WebSocket.OPEN,
      bufferedAmount: 0,
      send: (bytes: Buffer) => resolve(bytes.toString() === 'answered' ? undefined : bytes.toString()),
      close: (code: number, reason: Buffer) => resolve(`closed with ${code}: ${reason.toString()}`),
    })
    const shared = {
      limits: apiLimits,
      held: { bytes: held },
      rate: { take: () => true },
      core: {
        handle: (_body: Buffer, _caller: object, refusal?: Error) => Promise.resolve(refusal?.message ?? 'answered'),
      },
      events: { of: () => ({ size: 0, begin: () => {}, close: () => {} }) },
      makeRoom: () => false,
    }
    new WsConnection(ws as never, socket as never, { share: 'one', local: true, access: {} as never }, shared as never)
    come(ws, socket)
    // What is not answered by now is taken.
    void rest().then(() => resolve(undefined))
  })
}

/** Asks for the amount of inputs that transactions of these sizes created. */
async function amounts(sizes: readonly number[]): Promise<void> {
  const output = { assetId: zeroHash, value: 1n, outputLock: 0, programHash: new Uint8Array(21) as ProgramHash }
  const all = sizes.map((size, i) => sizedTransaction(i, size, [output]))
  const reader = {
    chain: { database: { get: () => undefined, load: async () => {}, settle: <T>(work: () => T) => work() } },
    transactionBytes: (txid: Uint8Array) => ({ bytes: all[txid[0] as number]?.bytes }),
  }
  const sink = { due: false, reserve: () => Promise.resolve(() => {}) }
  const inputs = all.map((_, i) => ({ txid: new Uint8Array(32).fill(i), index: 0 }))
  await amountOf(reader as never, inputs, sink as never)
}

export const apiMemoryRows = [
  limit({
    name: 'answers/api/api-limits.apiLimits.allBodies',
    unit: 'bytes',
    value: 128 * mib,
    // Large ones beside the room of small ones.
    feed: (n) => bodies([...each(6, () => 15 * mib), n - 32 * mib - 90 * mib]),
    refusal: 'busy: too many large requests',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.smallBodies',
    unit: 'bytes',
    value: 32 * mib,
    feed: (n) => bodies([...each(511, () => 64 * 1024), 32 * 1024, n - 511 * 64 * 1024 - 32 * 1024]),
    refusal: 'busy: too many large requests',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.smallBody',
    unit: 'bytes',
    value: 64 * 1024,
    // All room of large ones is taken.
    feed: (n) => bodies([...each(6, () => 16 * mib), n]),
    refusal: 'busy: too many large requests',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.bodyRate',
    unit: 'bytes/s',
    value: 32 * 1024,
    // A slower one gives way.
    beyond: 32 * 1024 - 1,
    feed: (n) => slowBody(n * 10, 10_000),
    refusal: 'the body gives way',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.bodyGrace',
    unit: 'ms',
    value: 2_000,
    feed: (n) => slowBody(1, n - 1),
    refusal: 'the body gives way',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.connections',
    unit: 'count',
    value: 1000,
    feed: (n) => admitting(each(n, (i) => `1.${Math.floor(i / 200)}.${i % 200}.1`)),
    refusal: 'a connection is closed',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.connectionsPerAddress',
    unit: 'count',
    value: 64,
    feed: everyDoor(
      (n) => admitting(each(n, () => '1.1.1.1')),
      (n) => admitting(each(n, (i) => `2001:db8::${i + 1}`)),
    ),
    refusal: 'a connection is closed',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.unread',
    unit: 'bytes',
    value: 64 * mib,
    feed: (n) => unread([30 * mib, n - 30 * mib]),
    refusal: 'a connection is closed',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.wsConnections',
    unit: 'count',
    value: 2000,
    feed: (n) => admittingWebSockets(each(n, (i) => `1.${Math.floor(i / 200)}.${i % 200}.1`)),
    refusal: 'a connection is closed',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.wsHeld',
    unit: 'bytes',
    value: 128 * mib,
    // The rest of a long message, and one that is whole.
    feed: everyDoor(
      (n) => beside(n - 1, (_, socket) => socket.emit('data', Buffer.alloc(64 * 1024 + 1))),
      (n) => beside(n, (ws) => ws.emit('message', Buffer.from('{}'), false)),
    ),
    refusal: /closed with 1013: too many large messages.*\n.*too many large messages/,
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.amountTransactions',
    unit: 'bytes',
    value: 16 * mib,
    feed: (n) => amounts([...each(20, () => 800_000), n - 16_000_000]),
    refusal: 'have more than 16777216 bytes',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.answersWaiting',
    unit: 'count',
    value: 64,
    feed: waiting,
    refusal: 'too many large answers are being made',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.heightWaiting',
    unit: 'count',
    value: 1024,
    feed: waitingForHeight,
    refusal: 'not yet at 1',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.heightBody',
    unit: 'bytes',
    value: 8 * 1024,
    feed: (n) => waitingForHeight(1, n),
    refusal: 'not yet at 1',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.rateRequests',
    unit: 'count',
    value: 12_000,
    feed: (n) => rate(() => '1.1.1.1', n),
    refusal: 'request-rate',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.rateWindow',
    unit: 'ms',
    value: 60_000,
    // The next window begins after so many milliseconds, and not sooner.
    beyond: 59_999,
    feed: (n) => rate(() => '1.1.1.1', 12_000, n),
    refusal: 'request-rate',
  }),
  limit({
    name: 'answers/api/http/passed-on.atOnce',
    unit: 'count',
    value: 64,
    feed: passingOn,
    refusal: 'too many transactions are being passed on',
  }),
  limit({
    name: 'answers/api/servers/bounded-source.maxWaiting',
    unit: 'count',
    value: 512,
    feed: async (n) => {
      const source = new BoundedSource({ resolve: () => Promise.reject(new Error('nothing asks')) })
      const never = () => new Promise<never>(() => {})
      const asked = each(32 + n, () => source.ask(never).catch((error: Error) => error.message))
      return Promise.race([...asked, rest().then(() => undefined)])
    },
    refusal: 'too many requests to the node wait',
  }),
]
