import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ApiContext } from '../../../src/answers/api/api-context.js'
import { AnswerAdmission } from '../../../src/answers/api/streams/admission.js'
import { apiLimits, type ApiLimits } from '../../../src/answers/api/api-limits.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { SharedAnswers } from '../../../src/answers/api/streams/shared-answer.js'
import { LogEvents } from '../../../src/answers/api/ws/log-events.js'
import { WebSockets } from '../../../src/answers/api/ws/web-sockets.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { craft, craftBlock, genesisCoin } from '../../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { WsClient } from '../../support/client/ws.js'
import { idleDevnet } from '../../support/fakes/stubs.js'
import { eventually } from '../../support/process/patience.js'

/** One client after the other that asks and never reads, for every kind of answer; beside them others get theirs. */

/** Outputs of a transaction whose block, as text, is more than the system takes into its buffers. */
const outputs = 40_000
/** Characters of a state, and of documents found. */
const characters = 8_000_000

let test: TestChain
let hash: string
beforeAll(async () => {
  test = await TestChain.open({ maturity: 1, ...withoutValidators })
  await test.mine(2)
  const many = Array.from({ length: outputs }, () => ({ to: 12, value: 1000n }))
  const wide = craft(test.spec, [genesisCoin(test.chain)], [...many, { to: 10, value: 99_000_000_000n }], [10])
  const block = craftBlock(test.chain, { transactions: [wide] })
  await test.accept(block)
  hash = block.hash
})
afterAll(() => test.close())

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Room for one answer of each kind at a time, less than what the clients that do not read ask for. */
const narrow: ApiLimits = {
  ...apiLimits,
  answers: apiLimits.answerPlace,
  searches: 34 * 1024 * 1024,
  largeTransactions: 32 * 1024 * 1024,
  unreadAnswers: 1024 * 1024 * 1024,
}

async function served(limits: ApiLimits = narrow, changes: Partial<ApiContext> = {}): Promise<ApiServer> {
  const { chain, mempool, clock } = test
  const base = contextOf(test)
  const text = 'x'.repeat(characters)
  base.resolver.queryJson = async ({ limit }, options) => {
    const length = limit === 1 ? 1 : characters
    await options?.admit?.(length)
    return JSON.stringify(text.slice(0, length))
  }
  const devnet = { ...idleDevnet, dumpState: async () => text }
  const sharedAnswers = new SharedAnswers(new AnswerAdmission(limits))
  const context: ApiContext = { ...base, devnet, limits, sharedAnswers, ...changes }
  const log = await EventLog.open({ chain, mempool, clock })
  const sockets = new WebSockets(context, new LogEvents(log))
  const server = await serve(context, { sockets })
  closing.push(
    () => server.close(),
    () => sockets.close(),
  )
  return server
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
const post = (body: string) =>
  `POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
let id = 0
const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: ++id, method, params })
const getblock = (verbosity: number) => call('getblock', { blockhash: hash, verbosity })
/** Each with another condition, so that none shares the answer of another. */
const query = (limit = 100) => call('query', { query: `{a:{$ne:${++id}}}`, limit })

/** Requests over HTTP, by the kind of their answer. */
const kinds: Readonly<Record<string, () => string>> = {
  'a block of REST': () => get('/api/v1/block/details/height/3'),
  'transactions of REST': () => get('/api/v1/block/transactions/height/3'),
  'a result of JSON-RPC': () => post(JSON.stringify(getblock(2))),
  'the bytes of a block': () => post(JSON.stringify(getblock(0))),
  'a batch of JSON-RPC': () => post(JSON.stringify([getblock(2), getblock(1), getblock(2)])),
  'a search': () => post(JSON.stringify(query())),
  'a state': () => post(JSON.stringify(call('dev_dumpState', {}))),
  'metrics, again and again': () => get('/metrics').repeat(apiLimits.pipelined),
  'the description of the interface, again and again': () => get('/openapi.json').repeat(apiLimits.pipelined),
}

/** A connection on which a request is written, and nothing read. */
async function deaf(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  closing.push(() => socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  socket.on('error', () => {})
  socket.write(text)
  return socket
}

/** A WebSocket on which a result is asked for, and nothing read. */
async function deafWebSocket(port: number, message: object): Promise<void> {
  const client = await WsClient.open(`ws://127.0.0.1:${port}/ws`)
  closing.push(() => client.ws.terminate())
  ;(Reflect.get(client.ws, '_socket') as Socket).pause()
  client.ws.send(JSON.stringify(message))
}

async function rpc(port: number, message: object): Promise<{ result?: unknown; error?: unknown }> {
  const answer = (await askJson(port, '/rpc', message)).body as { result?: unknown; error?: unknown }
  expect(answer.error).toBeUndefined()
  return answer
}

/** A short answer of each kind that takes room, and of one that takes none. */
async function expectShortAnswers(port: number): Promise<void> {
  expect((await ask(port, '/api/v1/block/details/height/1')).body).toMatchObject({ Error: 0 })
  const short = call('getblock', { blockhash: test.chain.genesis.hash, verbosity: 2 })
  expect(await rpc(port, [short, query(1)])).toMatchObject([{ result: { height: 0 } }, { result: 'x' }])
  expect((await ask(port, '/metrics')).status).toBe(200)
}

/** A long answer of each kind, whole. */
async function expectLongAnswers(port: number): Promise<void> {
  expect((await ask(port, '/api/v1/block/details/height/3')).body).toMatchObject({ Error: 0 })
  expect(await rpc(port, [getblock(2), getblock(0)])).toMatchObject([
    { result: { hash } },
    { result: expect.any(String) },
  ])
  expect((await rpc(port, query())).result).toHaveLength(characters)
  expect((await rpc(port, call('dev_dumpState', {}))).result).toHaveLength(characters)
  const client = await WsClient.open(`ws://127.0.0.1:${port}/ws`)
  closing.push(() => client.ws.terminate())
  expect(await client.result('getblock', { blockhash: hash, verbosity: 2 })).toMatchObject({ hash })
}

/** Waits until nothing is written to clients that do not read. */
async function settled(): Promise<void> {
  let before = process.resourceUsage().userCPUTime
  let quiet = 0
  // A busy machine can keep the server from working for a moment.
  await eventually('the server waits for its clients', async () => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    const now = process.resourceUsage().userCPUTime
    quiet = now - before < 100_000 ? quiet + 1 : 0
    before = now
    return quiet === 2
  })
}

describe('clients that never read', () => {
  it.each(Object.keys(kinds))('keep nobody from an answer: %s', async (kind) => {
    const { port } = await served()
    for (let i = 0; i < 3; i++) await deaf(port, kinds[kind]?.() ?? '')
    await settled()
    await expectShortAnswers(port)
  })

  it('keep nobody from an answer: results over WebSocket', async () => {
    const { port } = await served()
    for (let i = 0; i < 3; i++) await deafWebSocket(port, i === 0 ? query() : getblock(i))
    await settled()
    await expectShortAnswers(port)
  })

  it('keep nobody from a long answer of any kind, with answers of every kind', async () => {
    const { port } = await served()
    for (const text of Object.values(kinds)) await deaf(port, text())
    await deafWebSocket(port, getblock(2))
    await settled()
    await expectLongAnswers(port)
  })

  it('make way where what they leave unread is too much, those of the address with most first', async () => {
    const { port } = await served({ ...narrow, unreadAnswers: 40 * 1024 * 1024, answerGrace: 500, answerLag: 200 })
    const sockets = await Promise.all(Array.from({ length: 6 }, () => deaf(port, kinds['a search']?.() ?? '')))
    await settled()
    await expectShortAnswers(port)
    expect((await rpc(port, query())).result).toHaveLength(characters)
    const ended = sockets.filter(({ destroyed, readable }) => destroyed || !readable)
    expect(ended.length).toBeLessThan(6)
  })

  it('keep nobody from sending a large request, with large ones whose answers they leave', async () => {
    const limits = { ...narrow, allBodies: 5_000_000, smallBodies: 100_000, bodyGrace: 50 }
    const { port } = await served(limits)
    const padded = { ...getblock(2), padding: 'x'.repeat(1_200_000) }
    for (let i = 0; i < 2; i++) await deaf(port, post(JSON.stringify([{ ...padded, id: i }, getblock(2)])))
    await settled()
    // On a busy machine the clients may not have filled their connections yet.
    await eventually('a large request is taken', async () => {
      const { body } = await askJson(port, '/rpc', { ...padded, ...call('getblockcount', {}) })
      return (body as { result?: number }).result === 4
    })
  })

  it('keep nobody from sending a message over WebSocket, with messages that wait for their turn', async () => {
    const { port } = await served({ ...narrow, wsHeld: 4_000_000 })
    const clients = await Promise.all(Array.from({ length: 2 }, () => WsClient.open(`ws://127.0.0.1:${port}/ws`)))
    const padding = 'x'.repeat(900_000)
    for (const { ws } of clients) {
      closing.push(() => ws.terminate())
      ;(Reflect.get(ws, '_socket') as Socket).pause()
      ws.send(JSON.stringify(getblock(2)))
      for (let i = 0; i < 4; i++) ws.send(JSON.stringify({ ...getblock(2), padding }))
    }
    await settled()
    const client = await WsClient.open(`ws://127.0.0.1:${port}/ws`)
    closing.push(() => client.ws.terminate())
    for (let i = 0; i < 3; i++) {
      client.ws.send(JSON.stringify({ ...call('getblockcount', {}), id: 'large', padding }))
      await client.until(() => client.told.length > i)
    }
    expect(client.told).toMatchObject(Array(3).fill({ id: 'large', result: 4 }))
  })
})
