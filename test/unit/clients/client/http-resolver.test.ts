import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { HttpResolver } from '../../../../src/clients/client/http-resolver.js'
import { RuleError, UserError } from '../../../../src/base/errors/rule-error.js'
import { codes } from '../../../../src/node/library/codes.js'
import { contextOf, serve } from '../../../support/client/api.js'
import { TestChain } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'
import { whileCollecting } from '../../../support/assert/heap-probe.js'

const did = 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'
let servers: Server[] = []

afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  servers = []
})

/** A server that answers as told; resolves with its URL. */
function answering(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}

/** A node whose every answer is the given one; what it was asked is in `asked`. */
async function node(answer: unknown, asked: unknown[] = []): Promise<string> {
  return answering((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      asked.push(JSON.parse(body))
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
  })
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('HttpResolver', () => {
  it('answers as the resolver of the node does', async () => {
    const chain = await TestChain.open()
    const server = await serve(contextOf(chain), { serves: 'rpc' })
    try {
      const resolver = new HttpResolver(`http://127.0.0.1:${server.port}/`)
      const own = holder().did
      expect(await resolver.resolve(own)).toEqual({ did: own, status: 3 })
      expect(await failure(resolver.resolve('did:other:x'))).toMatchObject({ code: 'request-parameter' })
      const id = `${own}#degree`
      expect(await resolver.resolveCredential(id, { issuer: own })).toEqual({ id, status: 3 })
      expect(await failure(resolver.resolveCredential('#degree'))).toMatchObject({ code: 'request-parameter' })
      expect(await resolver.listCredentials(own, { skip: 1, limit: 2 })).toEqual({ did: own, credentials: [] })
    } finally {
      await server.close()
    }
  })

  it.each([
    ['text', 'hello'],
    ['no id', { status: 3 }],
    ['a status of 4', { id: did, status: 4 }],
    ['no transactions', { id: did, status: 0 }],
    ['an empty list of transactions', { id: did, status: 2, transaction: [] }],
  ])('refuses to take %s for the state of a credential', async (_, result) => {
    const resolver = new HttpResolver(await node({ id: 1, jsonrpc: '2.0', result }))
    expect(await failure(resolver.resolveCredential(`${did}#degree`))).toBeInstanceOf(UserError)
  })

  it.each([
    ['a list', []],
    ['no list', { did }],
    ['a number for an id', { did, credentials: [`${did}#a`, 5] }],
  ])('refuses to take %s for a list of credentials', async (_, result) => {
    const resolver = new HttpResolver(await node({ id: 1, jsonrpc: '2.0', result }))
    expect(await failure(resolver.listCredentials(did))).toBeInstanceOf(UserError)
  })

  it('names the greatest height that it has seen or written, where no answer may be older', async () => {
    const named: unknown[] = []
    const heights = [5, 4, 9]
    const url = await answering((request, response) => {
      named.push(request.headers['x-min-height'])
      response.setHeader('x-chain-height', heights[named.length - 1] ?? 'x')
      response.end(JSON.stringify({ id: 1, jsonrpc: '2.0', result: { did, status: 3 } }))
    })
    const resolver = new HttpResolver(url, { neverOlder: true })
    await resolver.resolve(did)
    await resolver.resolve(did)
    resolver.atLeast(7)
    await resolver.resolve(did)
    resolver.atLeast(8)
    await resolver.resolve(did)
    await new HttpResolver(url).resolve(did)
    expect(named).toEqual([undefined, '5', '7', '9', undefined])
    expect(() => new HttpResolver(url).atLeast(1)).toThrow(UserError)
    for (const height of [-1, 1.5, 2 ** 32]) expect(() => resolver.atLeast(height)).toThrow(UserError)
  })

  it('asks for the last operation unless all are wanted', async () => {
    const asked: unknown[] = []
    const resolver = new HttpResolver(await node({ id: 1, jsonrpc: '2.0', result: { did, status: 3 } }, asked))
    await resolver.resolve(did)
    await resolver.resolve(did, { all: true })
    expect(asked).toMatchObject([
      { method: 'resolvedid', params: { did, all: false } },
      { method: 'resolvedid', params: { did, all: true, skip: 0, limit: 1000 } },
    ])
  })

  it('sends conditions as text, and reads what matches', async () => {
    const asked: unknown[] = []
    const result = { total: 7, start: 2, count: 1, document: [{ id: did }] }
    const resolver = new HttpResolver(await node({ id: 1, jsonrpc: '2.0', result }, asked))
    expect(await resolver.query({ query: { id: did }, skip: 2 })).toEqual(result)
    await resolver.query({ query: '{}' })
    await resolver.query({ service: 'Home', limit: 3 })
    expect(asked).toMatchObject([
      { method: 'query', params: { query: `{"id":"${did}"}`, skip: 2 } },
      { params: { query: '{}' } },
      { params: { service: 'Home', limit: 3 } },
    ])
  })

  it.each([
    [-32602, 'request-parameter'],
    [-32001, 'resolver-behind'],
    [-32005, 'busy'],
    [-32022, 'behind-height'],
    [-32601, 'request-action'],
    [-32600, 'request-form'],
    [-32010, 'request-forbidden'],
    [-32603, 'internal'],
    [-32099, 'internal'],
  ] as const)('makes %i the rule %s', async (code, rule) => {
    const url = await node({ id: 1, jsonrpc: '2.0', error: { code, message: 'No', data: 'because' } })
    const error = await failure(new HttpResolver(url).resolve(did))
    expect(error).toBeInstanceOf(RuleError)
    expect(error).toMatchObject({ code: rule, message: 'because' })
    if (code !== -32099) expect(codes[rule].rpc).toBe(code)
  })

  it.each([
    ['no JSON', 'hello'],
    ['no object', '[]'],
    ['no result', '{"id":1}'],
    ['no status', '{"id":1,"result":{"did":"x"}}'],
    ['no transactions', '{"id":1,"result":{"did":"x","status":0}}'],
    ['not one transaction', '{"id":1,"result":{"did":"x","status":0,"transaction":[]}}'],
    [
      'a time that is none',
      '{"id":1,"result":{"did":"x","status":0,"transaction":[{"txid":"1","timestamp":"now","operation":{"header":{"operation":"create"},"payload":"","proof":{}}}]}}',
    ],
  ])('refuses an answer with %s', async (_, text) => {
    const url = await answering((_request, response) => void response.end(text))
    expect(await failure(new HttpResolver(url).resolve(did))).toBeInstanceOf(UserError)
  })

  it.each([undefined, null, 2, '1'])('refuses an answer to another question, with the id %j', async (id) => {
    const result = { did, status: 3 }
    const url = await node({ id, jsonrpc: '2.0', result })
    expect(String(await failure(new HttpResolver(url).resolve(did)))).toContain('has another id')
  })

  it.each([null, undefined])('takes the refusal of a request whose id was not read: %s', async (id) => {
    const url = await node({ id, jsonrpc: '2.0', error: { code: -32600, message: 'No' } })
    expect(await failure(new HttpResolver(url).resolve(did))).toMatchObject({ code: 'request-form' })
  })

  it('refuses the result of a query that is none', async () => {
    for (const result of [[], { total: 1 }, { total: 1, start: 0, count: 1, document: ['x'] }]) {
      const url = await node({ id: 1, result })
      expect(await failure(new HttpResolver(url).query({ service: 'A' }))).toBeInstanceOf(UserError)
    }
  })

  it('does not wait longer than it is told', async () => {
    const url = await answering(() => {})
    const error = await failure(new HttpResolver(url, { timeout: 200 }).resolve(did))
    expect(String(error)).toContain('did not answer within 0.2 s')
  })

  it('does not wait for an answer that never ends either', async () => {
    const url = await answering((_, response) => void response.write('{'))
    const asked = () => failure(new HttpResolver(url, { timeout: 200 }).resolve(did))
    expect(String(await whileCollecting(asked))).toContain('did not answer within 0.2 s')
  })

  it('refuses limits that are none', () => {
    for (const timeout of [0, -1, NaN, Infinity, 2 ** 31]) {
      expect(() => new HttpResolver('http://127.0.0.1', { timeout })).toThrow(UserError)
    }
    for (const maxAnswer of [0, -1, NaN]) {
      expect(() => new HttpResolver('http://127.0.0.1', { maxAnswer })).toThrow(UserError)
    }
  })

  it('reads no more than it is told', async () => {
    const url = await node({ id: 1, result: 'x'.repeat(5000) })
    const error = await failure(new HttpResolver(url, { maxAnswer: 1000 }).resolve(did))
    expect(String(error)).toContain('answered more than 1000 bytes')
  })

  it('follows no redirection', async () => {
    const other = await node({ id: 1, result: { did, status: 3 } })
    const url = await answering((_, response) => void response.writeHead(307, { location: other }).end())
    expect(await failure(new HttpResolver(url).resolve(did))).toBeInstanceOf(UserError)
  })

  it('names the URL where no node listens, and refuses what is none', async () => {
    const url = await answering(() => {})
    await new Promise((resolve) => servers.pop()?.close(resolve))
    expect(String(await failure(new HttpResolver(url).resolve(did)))).toBe(
      `UserError: no node listens at ${url}; is the URL right, and does the node run?`,
    )
    expect(() => new HttpResolver('ftp://example.org')).toThrow(UserError)
  })
})

it('a question whose connection closes without an answer is asked again, once', async () => {
  let asked = 0
  let answers = 1
  const server = createServer((request, response) => {
    asked++
    request.resume().once('end', () => {
      if (asked <= answers) return void request.socket.destroy()
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { did: 'did:ledger:x', credentials: [] } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const resolver = new HttpResolver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  expect(await resolver.listCredentials('did:ledger:x')).toMatchObject({ credentials: [] })
  expect(asked).toBe(2)
  ;[asked, answers] = [0, 2]
  await expect(resolver.listCredentials('did:ledger:x')).rejects.toThrow('cannot reach')
  expect(asked).toBe(2)
  server.close()
})
