import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { codingOf } from '../../../src/answers/api/http/compression.js'
import { HeaderList } from '../../../src/answers/api/http/header-list.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { TestChain } from '../../support/builders/chain.js'
import { contextOf, serve } from '../../support/client/api.js'

/** Answers of the interfaces to clients that take gzip. */

let node: TestChain
let server: ApiServer
beforeAll(async () => {
  node = await TestChain.open()
  await node.mine(3)
  server = await serve(contextOf(node))
})
afterAll(async () => {
  await server.close()
  await node.close()
})

interface Answer {
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
}

async function ask(path: string, accepted: string | undefined, body?: string): Promise<Answer> {
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
  const method = body === undefined ? 'GET' : 'POST'
  const sent = request({ host: '127.0.0.1', port: server.port, path, method, headers, agent: false })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  expect(response.statusCode).toBe(200)
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  return { headers: response.headers, bytes: Buffer.concat(parts) }
}

const call = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

it.each([
  ['rpc.discover', '/rpc', call('rpc.discover'), 7],
  ['openapi.json', '/openapi.json', undefined, 6],
  ['a block with its transactions', '/api/v1/block/details/height/1', undefined, 1.5],
  ['a batch', '/rpc', `[${Array.from({ length: 20 }, () => call('getblockbyheight', { height: 1 })).join()}]`, 4],
])('%s is the same, and so many times shorter', async (_, path, body, ratio) => {
  const plain = await ask(path, undefined, body)
  expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, undefined])
  // The second one may come from what is kept.
  for (let i = 0; i < 2; i++) {
    const coded = await ask(path, 'gzip, deflate', body)
    expect(coded.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
    expect(gunzipSync(coded.bytes).equals(plain.bytes)).toBe(true)
    expect(plain.bytes.length / coded.bytes.length).toBeGreaterThan(ratio)
  }
})

it('an answer that the client has says what the whole one says, and no length', async () => {
  const path = '/api/v1/block/details/height/1'
  const whole = await ask(path, 'gzip')
  for (const method of ['GET', 'HEAD']) {
    const headers = { 'accept-encoding': 'gzip', 'if-none-match': String(whole.headers.etag) }
    const sent = request({ host: '127.0.0.1', port: server.port, path, method, headers, agent: false }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    const { statusCode, headers: said } = response
    expect([statusCode, said.vary, said.etag]).toEqual([304, whole.headers.vary, whole.headers.etag])
    expect(said).not.toHaveProperty('content-length')
  }
})

it.each(['application/did-resolution', 'application/did', 'application/did-url-dereferencing'])(
  'results and documents of DIDs are texts: %s',
  (type) => {
    const headers = { 'accept-encoding': 'gzip' }
    expect(codingOf({ headers, method: 'GET' }, new HeaderList(['content-type', type]))).toBe('gzip')
    expect(codingOf({ headers, method: 'GET' }, new HeaderList(['content-type', `${type}x`]))).toBeUndefined()
  },
)

it('a short answer is sent as it stands', async () => {
  for (const [path, body] of [['/api/v1/block/height'], ['/rpc', call('getcurrentheight')]] as const) {
    const [plain, coded] = [await ask(path, undefined, body), await ask(path, 'gzip', body)]
    expect(coded.headers).not.toHaveProperty('content-encoding')
    expect(coded.bytes.equals(plain.bytes)).toBe(true)
  }
})

it.each(['identity;q=0', '*;q=0', 'gzip;q=0', 'br', ';=,;', 'gzip;q=9', 'x'.repeat(4000)])(
  'no client is refused for its accept-encoding: %s',
  async (accepted) => {
    const plain = await ask('/rpc', undefined, call('rpc.discover'))
    const answer = await ask('/rpc', accepted, call('rpc.discover'))
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.bytes.equals(plain.bytes)).toBe(true)
  },
)
