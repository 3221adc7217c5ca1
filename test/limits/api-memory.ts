import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { vi } from 'vitest'
import { type Holder, SharedBytes } from '../../src/api/answer-gate.js'
import { apiLimits } from '../../src/api/api-limits.js'
import { BodyBudget } from '../../src/api/body-budget.js'
import { boundUnread, ConnectionShares } from '../../src/api/http-connections.js'
import { SharedSource } from '../../src/api/shared-source.js'
import { RequestRate } from '../../src/api/ws/rate.js'
import { rest } from '../support/fakes/manual-time.js'
import { everyDoor, limit } from './limit.js'

const each = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

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
function admitting(addresses: readonly string[]): string | undefined {
  const shares = new ConnectionShares({ limits: apiLimits, exempt: () => false })
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
  const taken = each(count, (i) => counted.take(share(i), false, 1000))
  const last = wait === 0 ? true : counted.take(share(0), false, 1000 + wait)
  return taken.includes(false) || !last ? 'request-rate' : undefined
}

const mib = 1024 * 1024
const holder: Holder = { share: 'one', slow: false, evict: () => {} }

/** Answers that wait for room, of which none is refused. */
async function waiting(count: number): Promise<string | undefined> {
  const bytes = new SharedBytes(1, apiLimits)
  const end = new AbortController()
  await bytes.take(1, holder, end.signal)
  const outcomes = each(count, () => bytes.take(1, holder, end.signal).then(String, (error: Error) => error.message))
  const refused = await Promise.race([...outcomes, rest().then(() => undefined)])
  end.abort(new Error('the test is over'))
  await Promise.all(outcomes)
  return refused
}

export const apiMemoryRows = [
  limit({
    name: 'api/api-limits.apiLimits.allBodies',
    unit: 'bytes',
    value: 128 * mib,
    // Large ones beside the room of small ones.
    feed: (n) => bodies([...each(6, () => 15 * mib), n - 32 * mib - 90 * mib]),
    refusal: 'busy: too many large requests',
  }),
  limit({
    name: 'api/api-limits.apiLimits.smallBodies',
    unit: 'bytes',
    value: 32 * mib,
    feed: (n) => bodies([...each(511, () => 64 * 1024), 32 * 1024, n - 511 * 64 * 1024 - 32 * 1024]),
    refusal: 'busy: too many large requests',
  }),
  limit({
    name: 'api/api-limits.apiLimits.smallBody',
    unit: 'bytes',
    value: 64 * 1024,
    // All room of large ones is taken.
    feed: (n) => bodies([...each(6, () => 16 * mib), n]),
    refusal: 'busy: too many large requests',
  }),
  limit({
    name: 'api/api-limits.apiLimits.bodyRate',
    unit: 'bytes/s',
    value: 32 * 1024,
    // A slower one gives way.
    beyond: 32 * 1024 - 1,
    feed: (n) => slowBody(n * 10, 10_000),
    refusal: 'the body gives way',
  }),
  limit({
    name: 'api/api-limits.apiLimits.bodyGrace',
    unit: 'ms',
    value: 2_000,
    feed: (n) => slowBody(1, n - 1),
    refusal: 'the body gives way',
  }),
  limit({
    name: 'api/api-limits.apiLimits.connections',
    unit: 'count',
    value: 1000,
    feed: (n) => admitting(each(n, (i) => `1.${Math.floor(i / 200)}.${i % 200}.1`)),
    refusal: 'a connection is closed',
  }),
  limit({
    name: 'api/api-limits.apiLimits.connectionsPerAddress',
    unit: 'count',
    value: 64,
    feed: everyDoor(
      (n) => admitting(each(n, () => '1.1.1.1')),
      (n) => admitting(each(n, (i) => `2001:db8::${i + 1}`)),
    ),
    refusal: 'a connection is closed',
  }),
  limit({
    name: 'api/api-limits.apiLimits.unread',
    unit: 'bytes',
    value: 64 * mib,
    feed: (n) => unread([30 * mib, n - 30 * mib]),
    refusal: 'a connection is closed',
  }),
  limit({
    name: 'api/api-limits.apiLimits.answersWaiting',
    unit: 'count',
    value: 64,
    feed: waiting,
    refusal: 'too many large answers are being made',
  }),
  limit({
    name: 'api/api-limits.apiLimits.rateRequests',
    unit: 'count',
    value: 12_000,
    feed: (n) => rate(() => '1.1.1.1', n),
    refusal: 'request-rate',
  }),
  limit({
    name: 'api/api-limits.apiLimits.rateWindow',
    unit: 'ms',
    value: 60_000,
    // The next window begins after so many milliseconds, and not sooner.
    beyond: 59_999,
    feed: (n) => rate(() => '1.1.1.1', 12_000, n),
    refusal: 'request-rate',
  }),
  limit({
    name: 'api/ws/rate.mostAddresses',
    unit: 'count',
    value: 10_000,
    feed: (n) => rate((i) => `address ${i}`, n),
    refusal: 'request-rate',
  }),
  limit({
    name: 'api/shared-source.maxWaiting',
    unit: 'count',
    value: 512,
    feed: async (n) => {
      const source = new SharedSource({ resolve: () => Promise.reject(new Error('nothing asks')) })
      const never = () => new Promise<never>(() => {})
      const asked = each(32 + n, () => source.ask(never).catch((error: Error) => error.message))
      return Promise.race([...asked, rest().then(() => undefined)])
    },
    refusal: 'too many requests wait for the node',
  }),
]
