import { EventEmitter, once } from 'node:events'
import { get, type IncomingMessage, type Server } from 'node:http'
import { Duplex } from 'node:stream'
import { vi } from 'vitest'
import { AnswerAdmission, type ReadHolder, SharedBytes } from '../../src/answers/api/streams/admission.js'
import { apiLimits } from '../../src/answers/api/api-limits.js'
import { type AnswerReader, SharedAnswers } from '../../src/answers/api/streams/shared-answer.js'
import { HeightGate } from '../../src/answers/api/http/height-gate.js'
import { inTurn, watchBodies } from '../../src/answers/api/http/connections.js'
import { lingeringClose } from '../../src/answers/api/http/lingering-close.js'
import { Listeners } from '../../src/answers/api/http/listeners.js'
import { StreamedAnswer } from '../../src/answers/api/streams/streamed-answer.js'
import { LogEvents } from '../../src/answers/api/ws/log-events.js'
import { WsServer } from '../../src/answers/api/ws/ws-server.js'
import { EventLog } from '../../src/ledger/events/event-log.js'
import { TestChain } from '../support/builders/chain.js'
import { contextOf } from '../support/client/api.js'
import { WsClient } from '../support/client/ws.js'
import { heightChain } from '../support/fakes/height-chain.js'
import { rest } from '../support/fakes/manual-time.js'
import { withPassingTime } from '../support/fakes/passing-time.js'
import { each, everyDoor, failureOf, limit, mib } from './limit.js'

/** Times of HTTP, of answers and of WebSockets. Those that Node measures are read where it keeps them. */

/** What Node's server behind a port grants, as a request finds it. */
async function granted(member: 'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout' | 'timeout'): Promise<number> {
  let server: Server | undefined
  const listeners = await Listeners.open({
    hosts: ['127.0.0.1'],
    port: 0,
    limits: apiLimits,
    handler: ({ socket }, response) => {
      server = Reflect.get(socket, 'server') as Server
      response.end()
    },
    parserAnswer: () => ({ status: 400, body: '' }),
    exempt: () => false,
  })
  try {
    await new Promise<IncomingMessage>((resolve, reject) => {
      get({ port: listeners.port, host: '127.0.0.1', agent: false }, resolve).on('error', reject)
    }).then((response) => response.resume())
    if (server === undefined) throw new TypeError('no request came')
    return server[member]
  } finally {
    await listeners.close()
  }
}

/** Whether a wait of so many milliseconds is granted. */
const waits = (member: Parameters<typeof granted>[0]) => async (n: number) => {
  const most = await granted(member)
  return n <= most ? undefined : `ended after ${most} ms`
}

/** Whether a body is waited for whose next byte comes in the last of so many milliseconds. */
function bodyWithout(milliseconds: number): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const server = new EventEmitter()
    const socket = Object.assign(new EventEmitter(), { bytesRead: 0, destroyed: false })
    let stuck = false
    watchBodies(server as never, apiLimits.bodyTimeout, () => (stuck = true))
    // Bodies are looked at each second: the request begins so that the last look is at the last millisecond.
    await pass(1000 - ((milliseconds - 1) % 1000))
    server.emit('connection', socket)
    const request = { socket, complete: false }
    inTurn(1, () => {})(request as never, Object.assign(new EventEmitter(), { req: request }) as never)
    await pass(milliseconds - 1)
    server.emit('close')
    return stuck ? 'the body is given up' : undefined
  })
}

/** Whether a client that was refused may send until the last of so many milliseconds. */
function sendingOn(milliseconds: number): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const socket = new Duplex({ read: () => {}, write: (_bytes, _encoding, done) => done() })
    lingeringClose(socket)
    await once(socket, 'finish')
    await pass(milliseconds - 1)
    return socket.destroyed ? 'the connection is closed' : undefined
  })
}

/** An answer that waits for room, which comes in the last of so many milliseconds. */
function waitingFor(milliseconds: number): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const holder = { share: 'one', slow: false, evict: () => {} }
    const { signal } = new AbortController()
    const bytes = new SharedBytes(1, apiLimits)
    const release = await bytes.take(1, holder, signal)
    const outcome = failureOf(bytes.take(1, holder, signal).then((end) => end()))
    await pass(milliseconds - 1)
    release()
    return outcome
  })
}

/** A request that waits for a height, which comes in the last of so many milliseconds. */
function waitingForHeight(milliseconds: number): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const { chain, rise } = heightChain()
    const client = { share: 'one', signal: new AbortController().signal }
    const outcome = failureOf(new HeightGate(chain, apiLimits).wait(1, () => client) ?? rest())
    await pass(milliseconds - 1)
    rise(1)
    return outcome
  })
}

/** Readers of one answer of many parts, which is made as far as it may be. */
async function reading(count: number): Promise<AnswerReader[]> {
  const part = 'x'.repeat(apiLimits.answerPart)
  const answer = new StreamedAnswer({
    key: 'answer',
    repeatable: true,
    write: async (sink) => {
      for (let i = 0; i < 40; i++) {
        sink.add(part)
        await sink.drain()
      }
    },
  })
  const sharedAnswers = new SharedAnswers(new AnswerAdmission(apiLimits))
  const readers = each(count, () => sharedAnswers.join(answer, { share: 'one', signal: new AbortController().signal }))
  await Promise.all(readers.map((reader) => reader.ready()))
  await rest()
  return readers
}

/** Takes parts of an answer that are there. */
function take(reader: AnswerReader | undefined, parts: number): void {
  for (let i = 0; i < parts; i++) reader?.shared.read(reader)
}

/** Whether readers of one answer go on together, of which one comes in the last of so many milliseconds. */
function delayedFor(milliseconds: number): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const [quick, slow] = await reading(2)
    take(quick, 8)
    await rest()
    await pass(milliseconds - 1)
    const together = quick?.shared === slow?.shared
    for (const reader of [quick, slow]) reader?.close()
    await rest()
    return together ? undefined : 'the others go on without it'
  })
}

/** Whether an answer counts as slow of which some parts are taken at first, and others at the end of a time. */
async function slowAfter(milliseconds: number, parts: { first: number; last: number }): Promise<string | undefined> {
  let now = 1_000_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  try {
    const [reader] = await reading(1)
    take(reader, parts.first)
    await rest()
    now += milliseconds
    take(reader, parts.last)
    const slow = reader?.shared.slow
    reader?.close()
    await rest()
    return slow === true ? 'it counts as slow' : undefined
  } finally {
    clock.mockRestore()
  }
}

/** Whether an unread answer keeps its room, beside one of another address, after a time in which nothing of it was read. */
async function unreadFor(milliseconds: number): Promise<string | undefined> {
  return parking({ bytes: 64 * mib, idle: milliseconds - 1, slow: false }, 1)
}

/** Keeps an unread answer, and then another one of so many bytes; a refusal where the first has to end. */
async function parking(
  first: { readonly bytes: number; readonly idle: number; readonly slow: boolean },
  bytes: number,
): Promise<string | undefined> {
  const gate = new AnswerAdmission(apiLimits)
  const { signal } = new AbortController()
  let ended: string | undefined
  const holder = (share: string, { idle, slow }: Pick<ReadHolder, 'idle' | 'slow'>): ReadHolder => {
    return { share, idle, slow, evict: () => (ended = `that of ${share} is ended`) }
  }
  const one = holder('one', first)
  await gate.reserve(first.bytes, one, signal)
  gate.park(one)
  const other = holder('other', { idle: 0, slow: false })
  await gate.reserve(bytes, other, signal)
  gate.park(other)
  return ended
}

/** Whether a client is kept that answers a ping in the last of so many milliseconds, by which pings follow each other. */
function pingedEvery(milliseconds: number): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const test = await TestChain.open()
    const { chain, mempool, clock } = test
    const server = await WsServer.open(contextOf(test), {
      events: new LogEvents(await EventLog.open({ chain, mempool, clock })),
      port: 0,
    })
    const client = await WsClient.open(server.port, { autoPong: false })
    await pass(2 * milliseconds - 1)
    const outcome = await failureOf(client.call('getblockcount'))
    client.ws.terminate()
    await server.close()
    await test.close()
    return outcome
  })
}

export const apiTimeRows = [
  limit({
    name: 'answers/api/api-limits.apiLimits.headersTimeout',
    unit: 'ms',
    value: 10_000,
    feed: waits('headersTimeout'),
    refusal: 'ended after 10000 ms',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.requestTimeout',
    unit: 'ms',
    value: 60_000,
    feed: waits('requestTimeout'),
    refusal: 'ended after 60000 ms',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.keepAliveTimeout',
    unit: 'ms',
    value: 125_000,
    feed: waits('keepAliveTimeout'),
    refusal: 'ended after 125000 ms',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.socketTimeout',
    unit: 'ms',
    value: 120_000,
    feed: waits('timeout'),
    refusal: 'ended after 120000 ms',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.bodyTimeout',
    unit: 'ms',
    value: 10_000,
    feed: bodyWithout,
    refusal: 'the body is given up',
  }),
  limit({
    name: 'answers/api/http/lingering-close.lingering',
    unit: 'ms',
    value: 5000,
    feed: sendingOn,
    refusal: 'the connection is closed',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.heightWait',
    unit: 'ms',
    value: 2000,
    feed: waitingForHeight,
    refusal: 'not yet at 1',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.answersPatience',
    unit: 'ms',
    value: 30_000,
    feed: waitingFor,
    refusal: 'too many large answers are being made',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.answerLag',
    unit: 'ms',
    value: 1000,
    feed: everyDoor(delayedFor, unreadFor),
    refusal: /the others go on without it\nthat of one is ended/,
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.answerRate',
    unit: 'bytes/s',
    value: 64 * 1024,
    // A slower one counts.
    beyond: 64 * 1024 - 1,
    feed: (n) => slowAfter((8 * 64 * 1024 * 1000) / n, { first: 0, last: 8 }),
    refusal: 'it counts as slow',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.answerGrace',
    unit: 'ms',
    value: 5000,
    feed: everyDoor(
      (n) => slowAfter(n - 1, { first: 0, last: 1 }),
      (n) => slowAfter(n - 1, { first: 8, last: 0 }),
    ),
    refusal: 'it counts as slow',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.unreadAnswers',
    unit: 'bytes',
    value: 64 * mib,
    feed: (n) => parking({ bytes: 40 * mib, idle: 0, slow: true }, n - 40 * mib),
    refusal: 'that of one is ended',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.wsPing',
    unit: 'ms',
    value: 30_000,
    feed: pingedEvery,
    refusal: 'closed with 1006',
  }),
]
