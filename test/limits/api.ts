import { connect } from 'node:net'
import { Type } from '@sinclair/typebox'
import { AnswerAdmission } from '../../src/answers/api/streams/admission.js'
import type { ApiContext } from '../../src/answers/api/api-context.js'
import { apiLimits } from '../../src/answers/api/api-limits.js'
import { SharedAnswers } from '../../src/answers/api/streams/shared-answer.js'
import { refuseManyValues } from '../../src/answers/api/http/large-body.js'
import { rpcMethods } from '../../src/answers/api/rpc/all-methods.js'
import { method } from '../../src/answers/api/rpc/method.js'
import { RpcCore } from '../../src/answers/api/rpc/rpc-core.js'
import { wholeText } from '../support/client/rpc.js'
import { LogEvents } from '../../src/answers/api/ws/log-events.js'
import { WsServer } from '../../src/answers/api/ws/ws-server.js'
import { EventLog } from '../../src/ledger/events/event-log.js'
import { fromUtf8 } from '../../src/base/primitives/bytes.js'
import { TestChain } from '../support/builders/chain.js'
import { testAddress } from '../support/builders/spec.js'
import { type Answer, ask, contextOf, serve } from '../support/client/api.js'
import { owner } from '../support/client/rpc.js'
import { WsClient } from '../support/client/ws.js'
import { each, everyDoor, limit, mib, onlyFor } from './limit.js'

type Context = Parameters<typeof contextOf>[1]

/** A node in memory that serves a port while `run` asks it. */
async function served<T>(run: (port: number) => Promise<T>): Promise<T> {
  const test = await TestChain.open()
  const server = await serve(contextOf(test))
  try {
    return await run(server.port)
  } finally {
    await server.close()
    await test.close()
  }
}

/** The same with a port for WebSocket. */
async function servedWs<T>(run: (client: WsClient) => Promise<T>): Promise<T> {
  const test = await TestChain.open()
  const { chain, mempool, clock } = test
  const events = await EventLog.open({ chain, mempool, clock })
  const server = await WsServer.open(contextOf(test), { events: new LogEvents(events), port: 0 })
  const client = await WsClient.open(server.port)
  try {
    return await run(client)
  } finally {
    client.ws.terminate()
    await server.close()
    await test.close()
  }
}

/** Words of an HTTP answer that is too large; undefined for any other. */
function tooLarge({ status, text }: Answer): string | undefined {
  return status === 413 || text.includes('request-too-large') || /larger|too large/i.test(text)
    ? `HTTP ${status}: ${text}`
    : undefined
}

const post = (path: string, body: string) =>
  served(async (port) => {
    const headers = { 'content-type': 'application/json' }
    return tooLarge(await ask(port, path, { method: 'POST', headers, body }))
  })

const call = (name: string, params: unknown = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params })

/** The error of a call of JSON-RPC, as `detail: message`; undefined for a result. */
async function rpc(body: string, changes: Context = {}): Promise<string | undefined> {
  const test = await TestChain.open()
  try {
    const context = contextOf(test, changes)
    return await errorOf(new RpcCore(context, rpcMethods(context), sharedAnswers()), body)
  } finally {
    await test.close()
  }
}

const sharedAnswers = () => new SharedAnswers(new AnswerAdmission(apiLimits))

async function errorOf(core: RpcCore, body: string): Promise<string | undefined> {
  const text = await wholeText(await core.handle(fromUtf8(body), owner))
  const answer = JSON.parse(text ?? 'null') as RpcText | RpcText[]
  const errors = [answer].flat().flatMap(({ error }) => (error === undefined ? [] : [error]))
  return errors[0] && `${errors[0].data}: ${errors[0].message}`
}

interface RpcText {
  readonly error?: { readonly data: string; readonly message: string }
}

/** A call whose parameters are refused, whatever comes of it otherwise. */
const parameter = (name: string, params: (n: number) => unknown) =>
  onlyFor(/: Invalid params$/, (n) => rpc(call(name, params(n))))

/** The answer to bytes on a bare connection, once it is whole or the connection ends. */
function raw(port: number, bytes: string, whole: (text: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (whole(text)) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    socket.write(bytes)
  })
}

/** A large text of JSON: a text of 128 KiB, and more. */
const largeList = (values: readonly string[]) => `["${'x'.repeat(128 * 1024)}",${values.join(',')}]`
const values = (body: string) => refuseManyValues(fromUtf8(body), apiLimits)

const inputs = (count: number) => each(count, (i) => ({ txid: '00'.repeat(32), vout: i }))
const outputs = (count: number) => each(count, () => ({ address: testAddress(1), amount: '1' }))
const raws = (ins: unknown, outs: unknown) => ({ inputs: ins, outputs: outs, locktime: 0 })

const line = 'GET /api/v1/block/height HTTP/1.1\r\nHost: x\r\n'

export const apiRows = [
  limit({
    name: 'answers/api/api-limits.apiLimits.restBody',
    unit: 'bytes',
    value: 16_000_000 + 64 * 1024,
    feed: (n) => post('/api/v1/transaction', '{"data":""}'.padEnd(n)),
    refusal: 'HTTP 413',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.rpcBody',
    unit: 'bytes',
    value: 16_000_000 + 64 * 1024,
    feed: (n) => post('/rpc', call('getblockcount').padEnd(n)),
    refusal: 'HTTP 413',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.plainBody',
    unit: 'bytes',
    value: 128 * 1024,
    feed: everyDoor(
      (n) => values(`[${'0,'.repeat(Math.floor(n / 2) - 2)}0`.padEnd(n - 1) + ']'),
      (n) => post('/api/v1/transaction', `[${'0,'.repeat(40_000)}0`.padEnd(n - 1) + ']'),
    ),
    refusal: /request-too-large[^]*HTTP 413/,
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.bodyValues',
    unit: 'count',
    value: 32_768,
    // The bracket, and a comma before each value but the first.
    feed: (n) => values(largeList(each(n - 1, () => '0'))),
    refusal: /^request-too-large: .*more than 32768 values/,
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.bodyNames',
    unit: 'count',
    value: 4096,
    feed: (n) => values(largeList([`{${each(n, (i) => `"n${i}":0`).join(',')}}`])),
    refusal: /^request-too-large: .*more than 4096 names/,
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.bodyName',
    unit: 'bytes',
    value: 128,
    feed: (n) => values(largeList([`{"${'n'.repeat(n)}":0}`])),
    refusal: /^request-too-large: .*a name of more than 128 bytes/,
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.wsMessage',
    unit: 'bytes',
    value: mib,
    feed: (n) =>
      servedWs(async (client) => {
        client.ws.send(call('getblockcount').padEnd(n))
        const closed = client.closed.then(({ code }) => `closed with ${code}`)
        return Promise.race([
          closed,
          client
            .until(() => client.told.length > 0)
            .then(
              () => undefined,
              () => closed,
            ),
        ])
      }),
    refusal: 'closed with 1009',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.wsFragments',
    unit: 'count',
    value: 1024,
    feed: (n) =>
      servedWs(async (client) => {
        const text = call('getblockcount').padEnd(n)
        const cut = text.length - n + 1
        each(n, (i) => client.ws.send(i === 0 ? text.slice(0, cut) : text.charAt(cut + i - 1), { fin: i === n - 1 }))
        const closed = client.closed.then(({ code }) => `closed with ${code}`)
        return Promise.race([
          closed,
          client
            .until(() => client.told.length > 0)
            .then(
              () => undefined,
              () => closed,
            ),
        ])
      }),
    refusal: 'closed with 1008',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.wsSubscriptions',
    unit: 'count',
    value: 16,
    feed: (n) =>
      servedWs(async (client) => {
        for (let i = 0; i < n; i++) {
          const { error } = await client.call('subscribe', { topics: ['block'] })
          if (error !== undefined) return `${error.data}: ${error.message}`
        }
        return undefined
      }),
    refusal: '16 subscriptions; end one of them first',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.identifierOptions',
    unit: 'bytes',
    value: 16 * 1024,
    feed: (n) => post('/1.0/identifiers/did:ledger:x', '{}'.padEnd(n)),
    refusal: 'HTTP 413',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.batch',
    unit: 'count',
    value: 100,
    feed: (n) => rpc(`[${each(n, () => call('getblockcount')).join(',')}]`),
    refusal: '101 requests in one batch, at most 100 are allowed: Invalid Request',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.batchAnswers',
    unit: 'bytes',
    value: 64 * mib,
    feed: async (n) => {
      const test = await TestChain.open()
      try {
        const around = '{"jsonrpc":"2.0","id":1,"result":""}'.length
        const params = Type.Object({ length: Type.Integer() })
        const run = (_: ApiContext, { length }: { length: number }) => 'x'.repeat(length)
        const long = method({ name: 'long', summary: 'A text.', params, result: Type.String(), run })
        const core = new RpcCore(contextOf(test), [long], sharedAnswers())
        const batch = `[${call('long', { length: n - around })},${call('long', { length: 1 })}]`
        const text = await wholeText(await core.handle(fromUtf8(batch), owner))
        // To parse megabytes for one error would take long.
        const end = text?.slice(-500) ?? ''
        return end.includes('"error"') ? end : undefined
      } finally {
        await test.close()
      }
    },
    refusal: 'the answers of this batch are large enough',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.listedAddresses',
    unit: 'count',
    value: 100,
    feed: parameter('listunspent', (n) => ({ addresses: each(n, () => testAddress(1)) })),
    refusal: 'addresses',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.listedInputs',
    unit: 'count',
    value: 1000,
    feed: everyDoor(
      parameter('createrawtransaction', (n) => raws(inputs(n), outputs(1))),
      parameter('createrawtransaction', (n) => raws(inputs(1), outputs(n))),
      parameter('createrawtransaction', (n) => raws(JSON.stringify(inputs(n)), outputs(1))),
      parameter('createrawtransaction', (n) => raws(inputs(1), JSON.stringify(outputs(n)))),
    ),
    refusal: /inputs[^]*outputs/,
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.listText',
    unit: 'characters',
    value: 256 * 1024,
    feed: everyDoor(
      parameter('createrawtransaction', (n) => raws(JSON.stringify(inputs(1)).padEnd(n), outputs(1))),
      parameter('createrawtransaction', (n) => raws(inputs(1), JSON.stringify(outputs(1)).padEnd(n))),
    ),
    refusal: /inputs: .*Invalid params\noutputs: /,
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.pageRows',
    unit: 'count',
    value: 100,
    feed: everyDoor(
      parameter('getaddresshistory', (n) => ({ address: testAddress(1), limit: n })),
      parameter('listblocks', (n) => ({ limit: n })),
      parameter('listdidoperations', (n) => ({ limit: n })),
    ),
    refusal: 'limit',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.listedDays',
    unit: 'count',
    value: 10_000,
    feed: onlyFor(/days from 2000-01-01 on/, (n) => {
      const to = new Date(Date.UTC(2000, 0, n)).toISOString().slice(0, 10)
      return rpc(call('listdays', { from: '2000-01-01', to }))
    }),
    refusal: 'to: 10001 days from 2000-01-01 on, at most 10000',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.poolObjects',
    unit: 'count',
    value: 10_000,
    feed: onlyFor(/only ids are listed/, (n) => {
      const mempool = { size: n, bytes: 0, entries: () => [] } as unknown as ApiContext['mempool']
      return rpc(call('getrawmempool', { state: 'all' }), { mempool })
    }),
    refusal: 'of more than 10000 only ids are listed',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.headers',
    unit: 'bytes',
    value: 16 * 1024,
    // What Node counts has to be less: the path, names and values of headers.
    feed: (n) =>
      served(async (port) => {
        const counted = '/api/v1/block/height'.length + 'Host'.length + 'x'.length + 'Long'.length
        const long = `Long: ${'x'.repeat(n - 1 - counted)}\r\nConnection: close\r\n\r\n`.replace(
          'Connection: close\r\n',
          '',
        )
        const text = await raw(port, line + long, (found) => found.includes('\r\n\r\n'))
        return text.startsWith('HTTP/1.1 200') ? undefined : text.slice(0, 12)
      }),
    refusal: 'HTTP/1.1 431',
  }),
  limit({
    name: 'answers/api/api-limits.apiLimits.pipelined',
    unit: 'count',
    value: 64,
    feed: (n) =>
      served(async (port) => {
        const countIn = (text: string) => text.split('HTTP/1.1 200').length - 1
        // One is answered, and the others wait.
        const text = await raw(port, `${line}\r\n`.repeat(n + 1), (found) => countIn(found) === n + 1)
        return countIn(text) === n + 1 ? undefined : 'the connection is closed'
      }),
    refusal: 'the connection is closed',
  }),
  limit({
    name: 'base/primitives/height.maxHeight',
    unit: 'number',
    value: 0xffffffff,
    feed: (n) =>
      served(async (port) => {
        const { text } = await ask(port, `/api/v1/block/hash/${n}`)
        return text.includes('a height is an integer') ? text : undefined
      }),
    refusal: 'a height is an integer from 0 to 4294967295',
  }),
  limit({
    name: 'answers/api/rpc/backup-methods.longestWait',
    unit: 's',
    value: 60,
    feed: parameter('backup', (n) => ({ path: '/x', seconds: n })),
    refusal: 'seconds',
  }),
  limit({
    name: 'answers/api/rpc/peer-methods.longestBan',
    unit: 's',
    value: 3650 * 24 * 60 * 60,
    feed: parameter('addban', (n) => ({ peer: '1.2.3.4', seconds: n })),
    refusal: 'seconds',
  }),
]
