import { EventEmitter, once, setMaxListeners } from 'node:events'
import { createServer, request, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BehindGateway } from '../../../src/answers/api/http/behind-gateway.js'
import { PassedOn } from '../../../src/answers/api/http/passed-on.js'
import type { AnswerClient } from '../../../src/answers/api/node-handles.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { testAddress } from '../../support/builders/spec.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { namedChain, nodeOfChain } from '../../support/fakes/named-chain.js'
import { eventually } from '../../support/process/patience.js'

/** A server that passes transactions on to another one. */

let node: TestChain
let first: ApiServer
let second: ApiServer
beforeEach(async () => {
  node = await TestChain.open()
  await node.mine(2)
  first = await serve(contextOf(node))
  second = await serve(contextOf(node, { followed: new PassedOn(`http://127.0.0.1:${first.port}`, own()) }))
})
afterEach(async () => {
  await second.close()
  await first.close()
  await node.close()
})

/** The chain of the node, and its log. */
const own = () => ({ genesis: node.chain.genesis.hash, log: node.log })

const path = '/api/v1/transaction'
const json = { 'content-type': 'application/json' }
const codeOf = (error: unknown) => (error as Partial<RuleError>).code
const call = (port: number, params: unknown, more: object = {}) =>
  askJson(port, '/rpc', { jsonrpc: '2.0', id: 1e3, method: 'sendrawtransaction', params, ...more })

it('takes a transaction of REST and of JSON-RPC', async () => {
  const [one, two] = [await node.transfer(testAddress(1), 5n), await node.transfer(testAddress(2), 5n)]
  const posted = await askJson(second.port, path, { Action: 'sendrawtransaction', data: one.toHex() })
  expect(posted).toMatchObject({ status: 200, body: { Error: 0, Result: one.txid } })
  expect(node.mempool.size).toBe(1)
  expect((await call(second.port, [two.toHex()])).body).toMatchObject({ id: 1000, error: { code: -32000 } })
})

it('passes on that a transaction takes the place of none', async () => {
  const someone = holder()
  const one = await node.transfer(testAddress(1), 5n)
  const two = await node.carry(someone.create(), someone.did, 10, 50_000n)
  await node.send(one)
  const params = { data: two.toHex(), replace: false }
  const posted = await askJson(second.port, path, { Action: 'sendrawtransaction', ...params })
  expect(posted.body).toMatchObject({ Error: 45010 })
  expect((await call(second.port, params)).body).toMatchObject({
    error: { data: expect.stringMatching(/^45010 /) as string },
  })
  expect([...node.mempool.entries()].map(({ transaction }) => transaction.txid)).toEqual([one.txid])
})

describe('a refusal', () => {
  it('is that of the other node, byte for byte', async () => {
    const { bytes } = await node.transfer(testAddress(1), 5n)
    const cut = toHex(bytes.subarray(0, -1))
    const unsigned = toHex(bytes).slice(0, -8) + '00000000'
    for (const data of ['00', 'zz', 5, undefined, cut, unsigned, node.chain.genesis.transactions[0]?.toHex()]) {
      const bodies = await Promise.all(
        [first, second].map(async ({ port }) => [
          (await askJson(port, path, { Action: 'sendrawtransaction', data })).text,
          (await askJson(port, path, { Action: 'other', data })).text,
          (await call(port, { data })).text,
          (await call(port, { data }, { id: undefined })).text,
        ]),
      )
      expect(bodies[1]).toEqual(bodies[0])
    }
  })

  it('is its own for a body that is not JSON, or too long', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await ask(second.port, path, { method: 'POST', headers, body: '{}' })).status).toBe(415)
    const body = new Uint8Array([0xff])
    expect((await ask(second.port, path, { method: 'POST', headers: json, body })).body).toMatchObject({ Error: 41003 })
  })

  it('says that the other node does not answer, and no address of it', async () => {
    const data = (await node.transfer(testAddress(1), 5n)).toHex()
    // It is known to be of this chain, so the next one may have arrived.
    await call(second.port, { data: data.slice(0, -2) + '00' })
    await first.close()
    const { status, text } = await askJson(second.port, path, { Action: 'sendrawtransaction', data })
    expect([status, text.includes(String(first.port)), text.includes('nevertheless')]).toEqual([502, false, true])
    // Another one may be there by now, so nothing is passed on before it has named its chain.
    expect((await call(second.port, { data })).body).toMatchObject({
      error: { code: -32023, data: expect.not.stringContaining('nevertheless') as string },
    })
  })

  it('is its own for what is no transaction: the other node is not asked', async () => {
    await first.close()
    const posted = await askJson(second.port, path, { Action: 'sendrawtransaction', data: '00' })
    expect(posted.body).toMatchObject({ Error: 43001 })
    expect((await call(second.port, { data: '00' })).body).toMatchObject({
      error: { data: expect.stringMatching(/^43001 /) as string },
    })
  })
})

describe('a node of another chain', () => {
  let asked: string[]
  let genesis: string
  let busy: boolean
  let other: Server
  const portOf = (server: Server | ApiServer) =>
    'port' in server ? server.port : (server.address() as AddressInfo).port
  let over: ApiServer
  beforeEach(async () => {
    asked = []
    genesis = namedChain.genesis
    const answer: RequestListener = (request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(200, { connection: 'close' }).end('{"jsonrpc":"2.0","id":1,"result":"taken"}')
    }
    busy = false
    other = createServer((request, response) => {
      if (busy && request.method === 'GET') response.writeHead(429, { connection: 'close' }).end()
      else nodeOfChain(genesis, answer)(request, response)
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    over = await serve(contextOf(node, { followed: new PassedOn(url, own()) }))
  })
  afterEach(async () => {
    await over.close()
    other.closeAllConnections()
    other.close()
  })

  it('gets nothing, until one of this chain has its place, and its owner is told once', async () => {
    const data = (await node.transfer(testAddress(1), 5n)).toHex()
    const both = expect.stringMatching(
      new RegExp(`${genesis}.* not ${node.chain.genesis.hash}; ask a node of this`),
    ) as string
    for (let i = 0; i < 2; i++) {
      expect((await call(over.port, { data })).body).toMatchObject({ error: { code: -32023, data: both } })
      const posted = await askJson(over.port, path, { Action: 'sendrawtransaction', data })
      expect(posted).toMatchObject({ status: 502, body: { Error: 45002, Result: both } })
    }
    expect(asked).toEqual([])
    expect(node.log.errors.filter(({ message }) => message.includes(genesis))).toHaveLength(1)
    genesis = node.chain.genesis.hash
    expect((await call(over.port, { data })).body).toMatchObject({ result: 'taken' })
    expect(asked).toEqual(['/rpc'])
  })

  it('gets nothing where it takes the place of one that did not answer', async () => {
    const data = (await node.transfer(testAddress(1), 5n)).toHex()
    genesis = node.chain.genesis.hash
    expect((await call(over.port, { data })).body).toMatchObject({ result: 'taken' })
    const { port } = other.address() as AddressInfo
    other.close()
    await once(other, 'close')
    expect((await call(over.port, { data })).body).toMatchObject({ error: { code: -32023 } })
    genesis = namedChain.genesis
    other.listen(port, '127.0.0.1')
    await once(other, 'listening')
    expect((await call(over.port, { data })).body).toMatchObject({
      error: { code: -32023, data: expect.stringContaining(genesis) as string },
    })
    expect(asked).toEqual(['/rpc'])
  })

  it('has the next one do what may be done once only, since nothing was sent to it', async () => {
    const urls = [other, first].map((one) => `http://127.0.0.1:${portOf(one)}`)
    const nodes = new BehindGateway(urls, own(), { height: 0, wait: () => undefined })
    const client: AnswerClient = { share: '', signal: new AbortController().signal }
    expect(await nodes.call('getblockcount', [], client, 'once')).toBe(node.reader.height + 1)
    expect(asked).toEqual([])
  })

  it('is no node that has no time to name its chain again', async () => {
    const data = (await node.transfer(testAddress(1), 5n)).toHex()
    genesis = node.chain.genesis.hash
    expect((await call(over.port, { data })).body).toMatchObject({ result: 'taken' })
    const now = performance.now()
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now + 60_000)
    busy = true
    expect((await call(over.port, { data })).body).toMatchObject({ result: 'taken' })
    later.mockRestore()
    expect(asked).toEqual(['/rpc', '/rpc'])
  })

  it.each(['', 'soon', '00'.repeat(33)])('is also what says no chain: %s', async (said) => {
    genesis = said
    const data = (await node.transfer(testAddress(1), 5n)).toHex()
    expect((await call(over.port, { data })).body).toMatchObject({
      error: { code: -32023, data: expect.stringContaining('does not say of which chain') as string },
    })
    expect(asked).toEqual([])
  })
})

describe('beside a node that hangs', () => {
  let hanging: Server
  let passed: PassedOn
  /** Answers that it owes. */
  let held = new Set<ServerResponse>()
  beforeEach(async () => {
    // Those of the test before may end later.
    const owed = (held = new Set<ServerResponse>())
    const hang = (_: unknown, response: ServerResponse) => {
      owed.add(response)
      response.once('close', () => owed.delete(response))
    }
    hanging = createServer(nodeOfChain(namedChain.genesis, hang)).listen(0, '127.0.0.1')
    await once(hanging, 'listening')
    passed = new PassedOn(`http://127.0.0.1:${(hanging.address() as AddressInfo).port}`, namedChain)
  })
  afterEach(() => {
    hanging.closeAllConnections()
    hanging.close()
  })

  function ask64(share: string, signal: AbortSignal): Promise<unknown>[] {
    setMaxListeners(0, signal)
    return Array.from({ length: 64 }, () =>
      passed.call('sendrawtransaction', {}, { share, signal }, 'repeatable').catch(codeOf),
    )
  }

  it('a client that leaves gives back what it holds', async () => {
    const leaving = new AbortController()
    const outcomes = ask64('one', leaving.signal)
    await eventually('the first requests', () => held.size === 32)
    leaving.abort(new RuleError('request-timeout', 'the client is gone'))
    const codes = await Promise.all(outcomes)
    expect(codes.filter((code) => code === 'busy')).toHaveLength(32)
    expect(codes.filter((code) => code === 'request-timeout')).toHaveLength(32)
    await eventually('no request', () => held.size === 0)
    const { signal } = new AbortController()
    void ask64('two', signal)
    await eventually('the next requests', () => held.size === 32)
  })

  it('a client leaves half of the places to others, however many it wants', async () => {
    const { signal } = new AbortController()
    void ask64('one', signal)
    await eventually('the places of one', () => held.size === 32)
    void ask64('two', signal)
    await eventually('the places of two', () => held.size === 48)
    void passed.call('sendrawtransaction', {}, { share: 'three', signal }, 'repeatable').catch(codeOf)
    await eventually('one of three', () => held.size === 49)
  })
})

it('ends what it passes on with the connection of its client', async () => {
  let closed = 0
  const asks = new EventEmitter()
  const hang = nodeOfChain(own().genesis, (_, response) => {
    response.once('close', () => closed++)
    asks.emit('request')
  })
  const hanging = createServer(hang).listen(0, '127.0.0.1')
  await once(hanging, 'listening')
  const at = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`
  const server = await serve(contextOf(node, { followed: new PassedOn(at, own()) }))
  try {
    const data = (await node.transfer(testAddress(1), 5n)).toHex()
    const bodies = [
      [path, { Action: 'sendrawtransaction', data }],
      ['/rpc', { jsonrpc: '2.0', id: 1, method: 'sendrawtransaction', params: { data } }],
    ] as const
    for (const [i, [to, body]] of bodies.entries()) {
      const asked = request({ port: server.port, host: '127.0.0.1', path: to, method: 'POST', headers: json })
      asked.on('error', () => {}).end(JSON.stringify(body))
      await once(asks, 'request')
      asked.destroy()
      await eventually('the end of it', () => closed === i + 1)
    }
  } finally {
    await server.close()
    hanging.close()
  }
})
