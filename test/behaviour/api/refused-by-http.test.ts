import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { openDriver } from '../../../src/answers/api/servers/driver-server.js'
import { openLightServer } from '../../../src/answers/api/servers/light-server.js'
import { PageFiles } from '../../../src/answers/api/http/page-files.js'
import { LogEvents } from '../../../src/answers/api/ws/log-events.js'
import { WebSockets } from '../../../src/answers/api/ws/web-sockets.js'
import { WsServer } from '../../../src/answers/api/ws/ws-server.js'
import { HttpResolver } from '../../../src/clients/client/http-resolver.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { quietLog, TestChain } from '../../support/builders/chain.js'
import { lightOver, lightWorld } from '../../support/builders/light-world.js'
import { contextOf, serve } from '../../support/client/api.js'

/** Requests that HTTP, or the framework under the routes, refuses by itself: the fault is the client's, and the log stays empty. */

type Envelope = 'standard' | 'rpc' | 'light' | 'resolution'
type Port = 'rest' | 'rpc' | 'ws' | 'driver' | 'light'

const ports = {} as Record<Port, number>
const log = quietLog()
const folder = mkdtempSync(join(tmpdir(), 'refused-'))
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>pages</title>')
  const node = await TestChain.open()
  const events = await EventLog.open({ chain: node.chain, mempool: node.mempool, clock: node.clock })
  const context = contextOf(node, { log, pages: new PageFiles(pathToFileURL(`${folder}/`)) })
  const sockets = new WebSockets(context, new LogEvents(events))
  const hosts = ['127.0.0.1']
  const rest = await serve(context, { sockets })
  const rpc = await serve(context, { serves: 'rpc' })
  const ws = await WsServer.open(context, { port: 0, sockets })
  const source = new HttpResolver(`http://127.0.0.1:${rpc.port}/rpc`)
  const driver = await openDriver({ source, hosts, port: 0, log })
  const light = await openLightServer({ light: lightOver(lightWorld().book), hosts, port: 0, log })
  const servers = { rest, rpc, ws, driver, light }
  for (const [name, server] of Object.entries(servers)) ports[name as Port] = server.port
  closing.push(() => node.close(), ...[sockets, ...Object.values(servers)].map((one) => () => one.close()))
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
  rmSync(folder, { recursive: true })
})

/** One path of each plugin on each port, with the methods that it takes and the form of its refusals. */
const doors: readonly [Port, string, readonly string[], Envelope][] = [
  ['rest', '/', ['GET', 'HEAD', 'POST'], 'rpc'],
  ['rest', '/assets/x.js', ['GET', 'HEAD'], 'standard'],
  ['rest', '/rpc', ['POST'], 'rpc'],
  ['rest', '/ws', ['GET', 'HEAD'], 'rpc'],
  ['rest', '/api/v1/block/height', ['GET', 'HEAD'], 'standard'],
  ['rest', '/api/v1/transaction', ['POST'], 'standard'],
  ['rest', '/1.0/identifiers/did:ledger:x', ['GET', 'HEAD', 'POST'], 'resolution'],
  ['rest', '/light/1/trust', ['GET', 'HEAD'], 'light'],
  ['rest', '/healthz', ['GET', 'HEAD'], 'standard'],
  ['rest', '/readyz', ['GET', 'HEAD'], 'standard'],
  ['rest', '/metrics', ['GET', 'HEAD'], 'standard'],
  ['rest', '/openapi.json', ['GET', 'HEAD'], 'standard'],
  ['rest', '/nothing', [], 'standard'],
  ['rpc', '/', ['POST'], 'rpc'],
  ['rpc', '/eid', ['POST'], 'rpc'],
  ['ws', '/', [], 'rpc'],
  ['driver', '/healthz', ['GET', 'HEAD'], 'standard'],
  ['driver', '/1.0/identifiers/did:ledger:x', ['GET', 'HEAD', 'POST'], 'resolution'],
  ['driver', '/nothing', [], 'standard'],
  ['light', '/rpc', ['POST'], 'rpc'],
  ['light', '/1.0/identifiers/did:ledger:x', ['GET', 'HEAD', 'POST'], 'resolution'],
]

const bodies = {
  'no body': '\r\n',
  'JSON without a type': 'Content-Length: 2\r\n\r\n{}',
  JSON: 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
  'a body of no possible type': 'Content-Type: ;;;\r\nContent-Length: 2\r\n\r\n{}',
  'a chunked body': 'Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
}

interface Reply {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** The first final answer to bytes on a bare connection, which both ends then close; without its date, so that answers of two seconds may be compared. */
function send(port: number, bytes: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'))
    let text = ''
    socket.on('data', (chunk) => void (text += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => {
      const final = text.replace(/^HTTP\/1.1 100 Continue\r\n\r\n/, '').replace(/^Date: .*\r\n/gm, '')
      const end = final.indexOf('\r\n\r\n')
      resolve({ status: Number(final.slice(9, 12)), head: final.slice(0, end), body: final.slice(end + 4) })
    })
  })
}

const request = (method: string, path: string, rest = '\r\n') =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${rest}`

/** Members by which the refusals of an envelope are told from those of others. */
const members: Readonly<Record<Envelope, readonly string[]>> = {
  standard: ['Desc', 'Error', 'Result'],
  rpc: ['id', 'jsonrpc', 'error'],
  light: ['error'],
  resolution: ['didDocument', 'didResolutionMetadata', 'didDocumentMetadata'],
}

function expectRefused({ status, body }: Reply, envelope: Envelope, about: string): void {
  expect(status, about).toBeGreaterThanOrEqual(400)
  expect(status, about).toBeLessThan(500)
  expect(Object.keys(JSON.parse(body) as object), about).toEqual(members[envelope])
  expect(body, about).not.toContain('log says more')
}

describe.each(doors)('port %s, path %s', (name, path, taken, envelope) => {
  test.each(Object.entries(bodies))('takes its own methods and no other: %s', async (_, rest) => {
    for (const method of METHODS) {
      const reply = await send(ports[name], request(method, path, rest))
      const about = `${method} ${path}: ${reply.head}`
      // A preflight needs no route, and the port of WebSockets asks for the upgrade whatever the method.
      if (method === 'OPTIONS' && name !== 'ws' && path !== '/metrics') expect(reply.status, about).toBe(204)
      else if (taken.includes(method)) expect([200, 400, 404, 415, 426], about).toContain(reply.status)
      else if (method === 'HEAD') expect([404, 405, 426], about).toContain(reply.status)
      else expectRefused(reply, envelope, about)
      if (reply.status === 405) expect(reply.head, about).toMatch(/^allow: \w/im)
      if (!taken.includes(method) && method !== 'OPTIONS' && method !== 'CONNECT') {
        expect(reply.status, about).toBe(name === 'ws' ? 426 : taken.length === 0 ? 404 : 405)
      }
    }
    expect(log.errors).toEqual([])
  })

  test('a method that HTTP does not have is refused in the form of the path', async () => {
    for (const method of ['FOO', 'QUERIES', 'GETS', 'X']) {
      for (const rest of Object.values(bodies)) {
        expectRefused(await send(ports[name], request(method, path, rest)), envelope, `${method} ${path}`)
      }
    }
    expect(log.errors).toEqual([])
  })
})

/** Bytes that are no proper request; each is refused by every port, or answered like the request that it means. */
const malformed: Readonly<Record<string, string>> = {
  'no request line': 'hello\r\n\r\n',
  'a greeting of TLS': '\x16\x03\x01\x02\x00\x01\x00\x01',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a method in lower case': request('get', '/healthz'),
  'another version': 'GET /healthz HTTP/1.2\r\nHost: x\r\n\r\n',
  'no Host': 'GET /healthz HTTP/1.1\r\n\r\n',
  'a header without a colon': request('GET', '/healthz', 'bad header\r\n\r\n'),
  'NUL in a header': request('GET', '/healthz', 'a: \0\r\n\r\n'),
  'a Content-Length in letters': request('POST', '/rpc', 'Content-Length: abc\r\n\r\n{}'),
  'a negative Content-Length': request('POST', '/rpc', 'Content-Length: -1\r\n\r\n{}'),
  'two of Content-Length': request('POST', '/rpc', 'Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}'),
  'Content-Length beside chunks': request(
    'POST',
    '/rpc',
    'Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n',
  ),
  'a length of a chunk that is none': request('POST', '/rpc', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n{}'),
  'a transfer encoding without an end': request('POST', '/rpc', 'Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n'),
  'a path longer than all headers may be': request('GET', `/${'a'.repeat(100_000)}`),
  'a long segment': request('GET', `/api/v1/block/hash/${'a'.repeat(7000)}`),
  'a percent sign alone': request('GET', '/api/v1/block/hash/%zz'),
  'bytes that are no UTF-8': request('QUERY', '/%ff'),
  'bytes that are no UTF-8, of a DID': request('PROPFIND', '/1.0/identifiers/%ff'),
  'an asterisk': request('GET', '*'),
  'an asterisk by POST': request('POST', '*', 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'),
  'a tunnel': 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n',
  'a tunnel with bytes': 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n',
  'another protocol': request('QUERY', '/healthz', 'Upgrade: foo\r\n\r\n'),
  'a WebSocket by another method': request('QUERY', '/ws', 'Upgrade: websocket\r\n\r\n'),
  'an unknown expectation': request('PUT', '/healthz', 'Expect: foo\r\nContent-Length: 2\r\n\r\n{}'),
  'an expectation': request('PATCH', '/healthz', 'Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}'),
}

describe.each(['rest', 'rpc', 'ws', 'driver', 'light'] as const)(
  'port %s refuses as the fault of the client',
  (name) => {
    test.each(Object.entries(malformed))('%s', async (about, bytes) => {
      const { status, body } = await send(ports[name], bytes)
      // A port of JSON-RPC alone takes every path.
      if (about === 'an asterisk by POST' && name === 'rpc') expect(status).toBe(200)
      else expect([status >= 400, status < 500, status], about).toEqual([true, true, status])
      expect(() => JSON.parse(body.slice(0, body.search(/}(?:HTTP|$)/) + 1)) as unknown).not.toThrow()
      expect(log.errors).toEqual([])
    })

    it('also the next request of the connection is answered for itself', async () => {
      const first = 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'
      const { head, body } = await send(ports[name], first + request('QUERY', '/nothing'))
      expect(head).toMatch(/^HTTP\/1.1 4\d\d /)
      if (name !== 'ws') expect(body).toMatch(/}HTTP\/1.1 4\d\d /)
      expect(log.errors).toEqual([])
    })
  },
)

test('what is asked with scheme and host is the path behind them', async () => {
  for (const place of ['http://x', 'HTTPS://x.example:8080', 'http://[::1]:1']) {
    expect((await send(ports.rest, request('GET', `${place}/healthz`))).status).toBe(200)
    expect((await send(ports.driver, request('GET', `${place}/healthz?x=1`))).status).toBe(200)
    expect(await send(ports.rest, request('QUERY', `${place}/healthz`))).toMatchObject({ status: 405 })
    const wrong = await send(ports.rest, request('GET', `${place}/1.0/identifiers/did:ledger:x`))
    expect(wrong).toEqual(await send(ports.rest, request('GET', '/1.0/identifiers/did:ledger:x')))
    expectRefused(await send(ports.rest, request('FOO', `${place}/light/1/trust`)), 'light', place)
    expect((await send(ports.rest, request('GET', place))).body).toContain('<title>pages</title>')
  }
  expect((await send(ports.rest, request('GET', 'ftp://x/healthz'))).status).toBe(404)
})

test('a preflight for any method is answered, and for the server as a whole', async () => {
  const asking = 'Origin: http://a\r\nAccess-Control-Request-Method: QUERY\r\n\r\n'
  for (const path of ['/healthz', '*', '/nothing']) {
    expect((await send(ports.rest, request('OPTIONS', path, asking))).status).toBe(204)
    expect((await send(ports.rest, request('OPTIONS', path))).status).toBe(204)
  }
})
