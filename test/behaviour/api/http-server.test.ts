import { connect, type Socket } from 'node:net'
import { request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { AnswerAdmission } from '../../../src/answers/api/streams/admission.js'
import type { ApiContext } from '../../../src/answers/api/api-context.js'
import { type ApiLimits, apiLimits } from '../../../src/answers/api/api-limits.js'
import { SharedAnswers } from '../../../src/answers/api/streams/shared-answer.js'
import type { ApiServer, ApiServerOptions } from '../../../src/answers/api/servers/node-server.js'
import { isCrossSite, isLoopback } from '../../../src/answers/api/http/origin.js'
import { RuleError, UserError } from '../../../src/base/errors/rule-error.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { TestChain } from '../../support/builders/chain.js'
import { stopwatch } from '../../support/process/patience.js'
import { provesNothing } from '../../support/fakes/stubs.js'
import { inStep } from '../../support/fakes/standing.js'

const unasked = () => Promise.reject(new Error('nothing asks'))

const opened: { close(): Promise<void> | void }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close()
})

async function start(
  limits: Partial<ApiLimits> = {},
  options: Partial<ApiServerOptions> = {},
  changes: Partial<ApiContext> = {},
): Promise<{ server: ApiServer; node: TestChain; port: number }> {
  const node = await TestChain.open()
  opened.push(node)
  const server = await serve(contextOf(node, { limits, ...changes }), options)
  opened.push(server)
  return { server, node, port: server.port }
}

/** Waits until a request gets its answer: connections that ended a moment ago may still have their places. */
async function served(port: number): Promise<void> {
  const status = () =>
    ask(port, '/api/v1/block/height').then(
      (answer) => answer.status,
      () => undefined,
    )
  await expect.poll(status).toBe(200)
}

/** Everything that comes back on one connection, from what is written at once and what is written later. */
async function talk(port: number, ...parts: (string | Buffer | number)[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
    socket.on('error', () => resolve())
  })
  for (const part of parts) {
    if (typeof part === 'number') await sleep(part)
    else if (socket.writable) socket.write(part)
  }
  await closed
  return Buffer.concat(received).toString()
}

/** The status and body of the last answer in raw bytes. */
function rawAnswer(text: string): { status: number; body: unknown } {
  const [head = '', body = ''] = text.slice(text.lastIndexOf('HTTP/1.1')).split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) }
}

const envelope = (code: number) => ({ Desc: expect.any(String), Error: code, Result: expect.stringMatching(/./) })
const rpcError = (code: number) => ({
  id: null,
  jsonrpc: '2.0',
  error: { code, message: expect.any(String), data: expect.any(String) },
})

describe('bytes that are no request', () => {
  test.each([
    ['nonsense', 'hello\r\n\r\n', 400, 41003],
    ['TLS', Buffer.from('16030100020100', 'hex'), 400, 41003],
    ['a bad version', 'GET / HTTP/9.9\r\n\r\n', 400, 41003],
    ['a bad header', 'GET /api/v1/block/height HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n', 400, 41003],
    [
      'two lengths',
      'POST /api/v1/transaction HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
      400,
      41003,
    ],
    [
      'length and chunks',
      'POST /api/v1/transaction HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      41003,
    ],
    [
      'a broken chunk',
      'POST /api/v1/transaction HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
      41003,
    ],
    ['a URL with blanks', 'GET /api/v1/a b HTTP/1.1\r\nHost: x\r\n\r\n', 400, 41003],
    [
      'headers over the limit',
      `GET /api/v1/block/height HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      41003,
    ],
    ['a path over the limit', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 41003],
  ])('%s', async (_, bytes, status, code) => {
    const { port, node } = await start()
    expect(rawAnswer(await talk(port, bytes))).toEqual({ status, body: envelope(code) })
    expect((await ask(port, '/api/v1/block/height')).status).toBe(200)
    expect(node.log.errors).toEqual([])
  })

  test('on the JSON-RPC port the answer is JSON-RPC', async () => {
    const { port } = await start({}, { serves: 'rpc' })
    expect(rawAnswer(await talk(port, 'hello\r\n\r\n'))).toEqual({ status: 400, body: rpcError(-32600) })
    const long = `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`
    expect(rawAnswer(await talk(port, long))).toEqual({ status: 431, body: rpcError(-32600) })
  })

  test('a request without Host, or that expects what nobody can give', async () => {
    const { port } = await start()
    const get = 'GET /api/v1/block/height HTTP/1.'
    expect(rawAnswer(await talk(port, `${get}1\r\n\r\n`))).toEqual({ status: 400, body: envelope(41003) })
    expect(rawAnswer(await talk(port, `${get}0\r\n\r\n`)).status).toBe(200)
    for (const hosts of [
      ['a', 'b'],
      ['localhost', 'evil.example'],
      ['a b'],
      ['a@localhost'],
      ['localhost/b'],
      ['[::1'],
      ['[fe80::1%]'],
      ['[fe80::1%a/b]'],
    ]) {
      const lines = hosts.map((host) => `Host: ${host}\r\n`).join('')
      expect(rawAnswer(await talk(port, `${get}1\r\n${lines}\r\n`)), hosts.join()).toEqual({
        status: 400,
        body: envelope(41003),
      })
    }
    for (const host of ['', 'a:', 'a:1', '[::1]:1', '[fe80::1%25eth0]:1', '[fe80::1%eth0.2]', 'ä.example'])
      expect(rawAnswer(await talk(port, `${get}1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status, host).toBe(
        200,
      )
    const expecting = `${get}1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n`
    expect(rawAnswer(await talk(port, expecting)).status).toBe(200)
  })
})

describe('a body', () => {
  const body = '{"id":1,"method":"getblockcount"}'
  const headers = { 'content-type': 'application/json' }

  test.each(['/rpc', '/api/v1/transaction', '/1.0/identifiers/did:ledger:a'])(
    'with a coding is refused: %s',
    async (path) => {
      const { port } = await start()
      for (const coding of ['gzip', 'br', 'x']) {
        const answer = await ask(port, path, {
          method: 'POST',
          body,
          headers: { ...headers, 'content-encoding': coding },
        })
        expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'identity'])
        expect(answer.text).toContain(`Content-Encoding ${coding}`)
      }
      const plain = await ask(port, path, {
        method: 'POST',
        body,
        headers: { ...headers, 'content-encoding': 'Identity' },
      })
      expect(plain.status).not.toBe(415)
    },
  )
})

describe('time', () => {
  const limits = { headersTimeout: 200, requestTimeout: 400, keepAliveTimeout: 300 }
  const head = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`

  test('headers that never end', async () => {
    const { port } = await start(limits)
    const answer = await talk(port, 'GET /api/v1/block/height HTTP/1.1\r\nHost: x\r\n')
    expect(rawAnswer(answer)).toEqual({ status: 408, body: envelope(45002) })
  })

  test('bodies that never end', async () => {
    const { port, node } = await start(limits)
    expect(rawAnswer(await talk(port, head('/api/v1/transaction'), '{'))).toEqual({
      status: 408,
      body: envelope(45002),
    })
    expect(rawAnswer(await talk(port, head('/rpc'), '{'))).toEqual({ status: 408, body: rpcError(-32005) })
    expect(node.log.errors).toEqual([])
  })

  test('bodies that stop, long before their request is over', async () => {
    const { port, node } = await start({ bodyTimeout: 200 })
    const elapsed = stopwatch()
    expect(rawAnswer(await talk(port, head('/rpc'), '{'))).toEqual({ status: 408, body: rpcError(-32005) })
    expect(elapsed()).toBeLessThan(apiLimits.requestTimeout)
    expect(node.log.errors).toEqual([])
  })

  test('connections on which nothing comes are closed without an answer', async () => {
    const { port } = await start({ socketTimeout: 200, headersTimeout: 60_000 })
    expect(await talk(port, 'GET /api/v1/block/height HTTP/1.1\r\nHost: x\r\n')).toBe('')
  })

  test('a client that leaves in the middle harms nobody', async () => {
    const { port, node } = await start()
    for (let i = 0; i < 20; i++) {
      const socket = connect(port, '127.0.0.1')
      socket.write(head(i % 2 === 0 ? '/rpc' : '/api/v1/transaction'))
      await sleep(5)
      socket.destroy()
    }
    expect((await ask(port, '/api/v1/block/height')).status).toBe(200)
    expect(node.log.errors).toEqual([])
  })

  test('connections that wait for nothing are closed', async () => {
    const { port } = await start(limits)
    const elapsed = stopwatch()
    const answer = await talk(port, 'GET /api/v1/block/height HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(answer).toContain('"Result":0')
    expect(elapsed()).toBeLessThan(5000)
  })
})

describe('a client that still sends when it is refused', () => {
  /** What comes back on a connection on which all is sent, whatever comes back, and how the connection ends. */
  async function pushed(port: number, bytes: string): Promise<{ text: string; end: string }> {
    const socket = connect(port, '127.0.0.1')
    const received: Buffer[] = []
    socket.on('data', (chunk: Buffer) => received.push(chunk))
    let end = 'in order'
    socket.once('error', ({ message }) => (end = message))
    // Not before all is written.
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(bytes)
    await closed
    return { end, text: Buffer.concat(received).toString() }
  }
  const large = (path: string, size: number) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n${' '.repeat(size)}`
  const size = 16 * 1024 * 1024

  test.each([
    ['of REST', '/api/v1/transaction', 413, envelope(41003)],
    ['of JSON-RPC', '/rpc', 413, rpcError(-32600)],
  ])('a body that is too large, %s', async (_, path, status, body) => {
    const { port, node } = await start()
    for (let i = 0; i < 5; i++) {
      const { text, end } = await pushed(port, large(path, size))
      expect([rawAnswer(text), end]).toEqual([{ status, body }, 'in order'])
    }
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...{ method: 'POST', body: ' '.repeat(size), headers: { 'content-type': 'application/json' } },
    })
    expect([answer.status, await answer.json()]).toEqual([status, body])
    expect(node.log.errors).toEqual([])
  })

  test('headers that are too long', async () => {
    const { port, node } = await start()
    for (let i = 0; i < 5; i++) {
      const { text, end } = await pushed(
        port,
        `GET /api/v1/block/height HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(size)}\r\n\r\n`,
      )
      expect([rawAnswer(text), end]).toEqual([{ status: 431, body: envelope(41003) }, 'in order'])
    }
    expect(node.log.errors).toEqual([])
  })
})

describe('amounts', () => {
  test('a connection beyond the cap takes the place of the one that is quiet for longest', async () => {
    const { port } = await start({ connections: 6 })
    const held: { readonly socket: Socket; closed: boolean }[] = []
    for (let i = 0; i < 3; i++) {
      const socket = connect(port, '127.0.0.1')
      const one = { socket, closed: false }
      socket.on('error', () => {}).once('close', () => (one.closed = true))
      await new Promise((resolve) => socket.once('connect', resolve))
      await sleep(20)
      held.push(one)
    }
    expect((await ask(port, '/api/v1/block/height')).status).toBe(200)
    await expect.poll(() => held.map(({ closed }) => closed)).toEqual([true, false, false])
    for (const { socket } of held) socket.destroy()
  })

  test('one that is at work keeps its place', async () => {
    let begun: () => void = () => {}
    const beginning = new Promise<void>((resolve) => (begun = resolve))
    const never = new Promise<never>(() => {})
    const resolver = {
      resolve: () => {
        begun()
        return never
      },
      resolveShort: () => never,
      standing: inStep(),
      answersAt: undefined,
      now: Date.now,
      queryJson: () => never,
      credentials: { resolve: unasked, list: unasked },
      proofs: provesNothing,
    }
    const { port } = await start({ connections: 2 }, {}, { resolver })
    const working = ask(port, '/rpc', {
      method: 'POST',
      body: '{"id":1,"method":"resolvedid","params":{"did":"x","all":false}}',
    }).catch(() => 'closed')
    await beginning
    await expect(ask(port, '/api/v1/block/height')).rejects.toThrow()
    expect(await Promise.race([working, Promise.resolve('working')])).toBe('working')
  })

  test('bodies beyond what all may hold are told to come back', async () => {
    const { port, node } = await start({ allBodies: 4000, smallBodies: 2500 })
    const begin = async (text: string) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(
        `POST /api/v1/transaction HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2500\r\n\r\n${text}`,
      )
      await sleep(50)
      return socket
    }
    // What is announced alone takes nothing.
    const silent = await Promise.all(Array.from({ length: 20 }, () => begin('')))
    const sent = await askJson(port, '/api/v1/transaction', { Action: 'sendrawtransaction', data: '00' })
    expect(sent.status).toBe(400)
    for (const socket of silent) socket.destroy()
    const slow = await begin(' '.repeat(2000))
    const body = { Action: 'sendrawtransaction', data: '00'.repeat(500) }
    const send = async () => {
      const { status, body: answered } = await askJson(port, '/api/v1/transaction', body)
      return [status, answered]
    }
    await expect.poll(send).toEqual([503, envelope(45002)])
    const rpc = await ask(port, '/rpc', { method: 'POST', body: `{"id":1,"x":"${'x'.repeat(1000)}"}` })
    expect([rpc.status, rpc.body]).toEqual([503, rpcError(-32005)])
    slow.destroy()
    await expect.poll(send).toEqual([400, envelope(43001)])
    for (let i = 0; i < 5; i++) expect((await send())[0]).toBe(400)
    expect(node.mempool.size).toBe(0)
  })

  test('parameters of megabytes are refused as such before they could wait for a turn', async () => {
    const limits = { ...apiLimits, answersPatience: 1 }
    const gate = new AnswerAdmission(limits)
    const { port } = await start({}, {}, { sharedAnswers: new SharedAnswers(gate) })
    const holder = { share: 'other', slow: false, evict: () => {} }
    const release = await gate.enter(holder, new AbortController().signal, limits.searches)
    opened.push({ close: release })
    const answered = async (method: string, params: unknown) =>
      (await askJson(port, '/rpc', { id: 1, method, params })).body as { error: { code: number; data: string } }
    const long = 'x'.repeat(3 * 1024 * 1024)
    for (const [method, params, data] of [
      ['resolvedid', { did: long, all: true }, /did: 1 to 256 characters/],
      ['did_resolveDID', { did: long, all: true }, /did: 1 to 256 characters/],
      ['did_resolveDID', [{ did: long }], /did: 1 to 256 characters/],
      ['query', { service: long }, /longer than 16384 bytes/],
      ['query', { credential: long }, /longer than 16384 bytes/],
      ['query', { query: `{"a":"${long}"}` }, /longer than 16384 bytes/],
    ] as const) {
      const { error } = await answered(method, params)
      expect([error.code, error.data]).toEqual([-32602, expect.stringMatching(data)])
    }
    const { error } = await answered('query', { query: `{"a":"${long.slice(0, 16_000)}"}` })
    expect(error.code).toBe(-32005)
  })

  test('large answers beyond what may wait are refused with the seconds until another try', async () => {
    const limits = { ...apiLimits, answersPatience: 1 }
    const gate = new AnswerAdmission(limits)
    const { port } = await start({}, {}, { sharedAnswers: new SharedAnswers(gate) })
    const ends = new AbortController()
    opened.push({ close: () => ends.abort() })
    const holder = { share: 'other', slow: false, evict: () => {} }
    const takeAll = (places: number, search?: number) =>
      Promise.all(Array.from({ length: places }, () => gate.enter(holder, ends.signal, search)))
    const taken = [...(await takeAll(limits.answers / limits.answerPlace)), ...(await takeAll(1, limits.searches))]

    const rest = await ask(port, '/api/v1/transactionpool')
    expect([rest.status, rest.body]).toEqual([503, envelope(45002)])
    expect(rest.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    const query = '{"id":7,"method":"query","params":{"service":"Hub"}}'
    for (const method of ['{"id":7,"method":"getrawmempool"}', query, `[${query}]`]) {
      const answer = await ask(port, '/rpc', { method: 'POST', body: method })
      expect([answer.body].flat()).toEqual([{ ...rpcError(-32005), id: 7 }])
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    }

    for (const release of taken) release()
    const served = [
      await ask(port, '/api/v1/transactionpool'),
      await ask(port, '/rpc', { method: 'POST', body: query }),
      await ask(port, '/rpc', { method: 'POST', body: '{"id":7,"method":"unknown"}' }),
    ]
    expect(served.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(served.map(({ headers }) => headers['retry-after'])).toEqual([undefined, undefined, undefined])
  })

  test('requests beyond the rate are refused in each envelope', async () => {
    const { port } = await start({ rateRequests: 3, rateSparesLoopback: false })
    for (let i = 0; i < 3; i++) expect((await ask(port, '/api/v1/block/height')).status).toBe(200)
    const rest = await ask(port, '/api/v1/block/height')
    expect([rest.status, rest.body]).toEqual([429, envelope(45002)])
    expect(Number(rest.headers['retry-after'])).toBeGreaterThan(0)
  })

  test('supervisors are answered beyond the rate', async () => {
    const { port } = await start({ rateRequests: 1, rateSparesLoopback: false })
    await ask(port, '/api/v1/block/height')
    for (const probe of ['/healthz', '/readyz']) expect((await ask(port, probe)).status).toBe(200)
    expect((await ask(port, '/api/v1/block/height')).status).toBe(429)
  })

  test('JSON-RPC too', async () => {
    const { port } = await start({ rateRequests: 1, rateSparesLoopback: false })
    const body = '{"id":1,"method":"x"}'
    expect((await ask(port, '/rpc', { method: 'POST', body })).status).toBe(200)
    const refused = await ask(port, '/rpc', { method: 'POST', body })
    expect([refused.status, refused.body]).toEqual([429, rpcError(-32005)])
  })

  test('this machine is spared', async () => {
    for (const hosts of [['127.0.0.1'], ['0.0.0.0']]) {
      const { port } = await start({ rateRequests: 1 }, { hosts })
      for (let i = 0; i < 5; i++) expect((await ask(port, '/api/v1/block/height')).status).toBe(200)
    }
  })
})

describe('restart', () => {
  test.each(['GET', 'POST'])('%s answers, then the port opens again within a second', async (method) => {
    const { port, server, node } = await start()
    const answer = await ask(port, '/api/v1/restart', { method })
    expect([answer.status, answer.text]).toEqual([200, '{"Desc":"Success","Error":0,"Result":""}'])
    const elapsed = stopwatch()
    await served(port)
    expect(elapsed()).toBeLessThan(1000)
    expect(server.port).toBe(port)
    expect(node.log.errors).toEqual([])
  })

  test('what is under way is still answered, on the connection it came by', async () => {
    let release: () => void = () => {}
    const waiting = new Promise<void>((resolve) => (release = resolve))
    const node = await TestChain.open()
    opened.push(node)
    let taken: () => void = () => {}
    const underWay = new Promise<void>((resolve) => (taken = resolve))
    const accept = async () => {
      taken()
      await waiting
      throw new RuleError('tx-known', 'after the restart')
    }
    const mempool = { ...contextOf(node).mempool, accept } as ApiContext['mempool']
    const server = await serve(contextOf(node, { mempool }))
    opened.push(server)
    const slow = askJson(server.port, '/api/v1/transaction', { Action: 'sendrawtransaction', data: '00' })
    await underWay
    await ask(server.port, '/api/v1/restart')
    await served(server.port)
    release()
    expect((await slow).body).toEqual({ Desc: expect.any(String), Error: 45011, Result: 'after the restart' })
  })

  test('many at once are one', async () => {
    const { port } = await start()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask(port, '/api/v1/restart').catch(() => undefined)),
    )
    expect(answers.some((answer) => answer?.status === 200)).toBe(true)
    await served(port)
  })

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin', { origin: 'http://example.com' }],
    ['a sandboxed page', { origin: 'null' }],
    [
      'a name that was pointed here',
      { host: 'example.com', origin: 'http://example.com', 'sec-fetch-site': 'same-origin' },
    ],
  ])('a page of %s is refused', async (_, headers: Record<string, string>) => {
    const { port } = await start()
    for (const method of ['GET', 'POST']) {
      const answer = await ask(port, '/api/v1/restart', { method, headers })
      expect([answer.status, answer.body]).toEqual([403, envelope(42003)])
    }
  })
})

describe('other sites', () => {
  test('may read, and may send JSON', async () => {
    const { port } = await start()
    const headers = { origin: 'https://example.com' }
    const read = await ask(port, '/api/v1/block/height', { headers: { ...headers, 'sec-fetch-site': 'cross-site' } })
    expect([read.status, read.headers['access-control-allow-origin']]).toEqual([200, '*'])
    for (const path of ['/api/v1/transaction', '/rpc', '/']) {
      const preflight = await ask(port, path, {
        method: 'OPTIONS',
        headers: {
          ...headers,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type',
        },
      })
      expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*'])
      expect(preflight.headers['access-control-allow-headers']).toBe('content-type')
      expect(preflight.headers['access-control-allow-methods']).toBe('GET, HEAD, POST')
    }
    const failure = await ask(port, '/api/v1/nothing', { headers })
    expect([failure.status, failure.headers['access-control-allow-origin']]).toEqual([404, '*'])
  })

  test.each([
    [{}, false],
    [{ 'sec-fetch-site': 'none', host: 'localhost:1' }, false],
    [{ 'sec-fetch-site': 'same-origin', host: '[::1]:1' }, false],
    [{ origin: 'http://localhost:1', host: 'localhost:1' }, false],
    [{ origin: 'http://localhost', host: 'localhost:80' }, false],
    [{ origin: 'https://192.168.1.2', host: '192.168.1.2' }, false],
    [{ origin: 'http://192.168.1.2:3000', host: '192.168.1.2:3000', referer: 'http://192.168.1.2:3000/x' }, false],
    [{ origin: 'http://localhost:3000', host: 'localhost:1' }, true],
    [{ origin: 'http://192.168.1.2:3000', host: '192.168.1.2:1' }, true],
    [{ referer: 'http://example.com/page', host: 'localhost:1' }, true],
    [{ 'sec-fetch-site': 'same-site', host: 'localhost:1' }, true],
    [{ origin: 'http://localhost:3000', host: '127.0.0.1:1' }, true],
    [{ 'sec-fetch-site': 'cross-site', host: 'localhost:1' }, true],
    [{ 'sec-fetch-site': 'same-origin', host: 'example.com' }, true],
    [{ 'sec-fetch-site': 'anything', host: 'localhost' }, true],
    [{ origin: 'no url', host: 'localhost' }, true],
    [{ origin: 'http://localhost' }, true],
  ])('%j: %s', (headers, crossSite) => {
    expect(isCrossSite(headers, [])).toBe(crossSite)
  })

  test.each([
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['::ffff:10.127.0.1', false],
    ['::', false],
    [undefined, false],
  ])('%s is this machine: %s', (address, loopback) => {
    expect(isLoopback(address)).toBe(loopback)
  })
})

describe('listening', () => {
  test('on both loopback addresses with one port', async () => {
    const { server } = await start()
    for (const address of server.addresses)
      expect(address).toMatch(new RegExp(`^(127\\.0\\.0\\.1|\\[::1\\]):${server.port}$`))
    expect(server.addresses[0]).toContain('127.0.0.1')
    if (server.addresses.length === 1) return
    const status = await new Promise((resolve, reject) => {
      httpRequest({ host: '::1', port: server.port, path: '/api/v1/block/height', agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(200)
  })

  test('a port that is taken, and an address that is not ours, are told to the user', async () => {
    const { port, node } = await start()
    const again = serve(contextOf(node), { port })
    await expect(again).rejects.toThrow(UserError)
    await expect(again).rejects.toThrow(`port ${port}`)
    for (const host of ['192.0.2.1', 'no host']) {
      await expect(serve(contextOf(node), { hosts: [host] })).rejects.toThrow(UserError)
    }
  })

  test('closing ends idle connections and waits for the others, but not for ever', async () => {
    const node = await TestChain.open()
    opened.push(node)
    let taken: () => void = () => {}
    const underWay = new Promise<void>((resolve) => (taken = resolve))
    const accept = () => {
      taken()
      return new Promise<never>(() => {})
    }
    const mempool = { ...contextOf(node).mempool, accept } as ApiContext['mempool']
    const server = await serve(contextOf(node, { mempool, limits: { closeGrace: 200 } }))
    const idle = connect(server.port, '127.0.0.1')
    idle.on('error', () => {})
    const stuck = askJson(server.port, '/api/v1/transaction', { Action: 'sendrawtransaction', data: '00' })
    const outcome = stuck.then(
      () => 'answered',
      () => 'closed',
    )
    await underWay
    const elapsed = stopwatch()
    await server.close()
    expect(elapsed()).toBeLessThan(2000)
    expect(await outcome).toBe('closed')
    await expect(ask(server.port, '/api/v1/block/height')).rejects.toThrow()
  })
})

describe('what nobody foresaw', () => {
  test('is 45002 without a word about it, and in the log', async () => {
    const resolve = () => Promise.reject(new Error('secret path /etc/x'))
    const nodeInfo = () => {
      throw new TypeError('another secret')
    }
    const { port, node } = await start(
      {},
      {},
      {
        resolver: {
          resolve,
          resolveShort: resolve,
          standing: inStep(),
          answersAt: undefined,
          queryJson: resolve,
          now: Date.now,
          credentials: { resolve, list: resolve },
          proofs: provesNothing,
        },
        nodeInfo,
      },
    )
    const rest = await ask(port, '/api/v1/node/state')
    expect([rest.status, rest.body]).toEqual([500, envelope(45002)])
    expect(rest.text).not.toContain('secret')
    const rpc = await ask(port, '/rpc', {
      method: 'POST',
      body: '{"id":1,"method":"resolvedid","params":{"did":"x","all":true}}',
    })
    expect(rpc.status).toBe(200)
    expect(rpc.body).toEqual({ ...rpcError(-32603), id: 1 })
    expect(rpc.text).not.toContain('secret')
    expect(node.log.errors.map(({ fields }) => fields['error'])).toEqual(['another secret', 'secret path /etc/x'])
    expect((await ask(port, '/api/v1/block/height')).status).toBe(200)
  })
})

test('a name that cannot be resolved is not called an address that does not exist', async () => {
  await expect(start({}, { hosts: ['no-such-host.invalid'] })).rejects.toThrow(
    'the name no-such-host.invalid cannot be resolved',
  )
  await expect(start({}, { hosts: ['192.0.2.1'] })).rejects.toThrow(
    'the address 192.0.2.1 does not exist on this machine',
  )
})
