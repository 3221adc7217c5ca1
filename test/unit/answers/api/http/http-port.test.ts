import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { apiLimits } from '../../../../../src/answers/api/api-limits.js'
import { Access } from '../../../../../src/answers/api/http/access.js'
import { accessDefaults } from '../../../../../src/answers/api/http/access-options.js'
import { HttpPort, type HttpPortOptions } from '../../../../../src/answers/api/http/http-port.js'
import type { PathRow, RefusalForm } from '../../../../../src/answers/api/http/path-row.js'
import { RuleError } from '../../../../../src/base/errors/rule-error.js'
import { quietLog } from '../../../../support/builders/chain.js'

const opened: HttpPort[] = []
afterEach(async () => {
  for (const port of opened.splice(0)) await port.close()
})

/** Refuses with a name of the form and the code. */
const formOf =
  (name: string): RefusalForm =>
  ({ code }) => ({ status: code === 'request-path' ? 404 : 400, headers: { form: name }, body: code })

const row = (path: string, rest: Partial<PathRow> = {}): PathRow => ({
  path,
  methods: ['GET'],
  form: formOf(path),
  run: ({ method, segments }) => ({ body: `${method} ${Object.values(segments).join()}` }),
  ...rest,
})

async function serve(rows: readonly PathRow[], options: Partial<HttpPortOptions> = {}) {
  const limits = { ...apiLimits, ...options.limits }
  const log = quietLog()
  const access = new Access(accessDefaults, undefined)
  const place = { hosts: ['127.0.0.1'], port: 0, elsewhere: formOf('elsewhere') }
  const port = await HttpPort.open({ ...place, rows, access, log, ...options, limits })
  opened.push(port)
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port.port}${path}`, init)
    const { status, headers } = response
    return { status, headers, text: await response.text(), form: headers.get('form') }
  }
  return { ask, log, port: port.port }
}

describe('a port of rows', () => {
  it('answers the path and method of a row, HEAD as GET', async () => {
    const { ask } = await serve([row('/a/:b'), row('/a/:b', { methods: ['POST'], run: () => ({ status: 204 }) })])
    expect(await ask('/a/x%2fy')).toMatchObject({ status: 200, text: 'GET x/y' })
    const head = await ask('/a/x', { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '6'])
    expect((await ask('/a/x', { method: 'POST' })).status).toBe(204)
  })

  it('refuses other paths and methods in the form of the path', async () => {
    const { ask } = await serve([row('/a/:b'), row('/a/:b', { methods: ['POST'] }), row('/c/*', { methods: [] })])
    expect(await ask('/A/x')).toMatchObject({ status: 404, form: 'elsewhere', text: 'request-path' })
    expect(await ask('/c/x/y')).toMatchObject({ status: 404, form: '/c/*', text: 'request-path' })
    const other = await ask('/a/x', { method: 'PUT' })
    expect([other.form, other.text, other.headers.get('allow')]).toEqual(['/a/:b', 'request-method', 'GET, HEAD, POST'])
  })

  it('names the methods of a path to OPTIONS, and none of a path where nothing is', async () => {
    const { ask } = await serve([row('/a/:b'), row('/c', { methods: ['POST'] })])
    const allowOf = async (path: string) => (await ask(path, { method: 'OPTIONS' })).headers.get('allow')
    expect(await Promise.all(['/a/x', '/c', '/d'].map(allowOf))).toEqual(['GET, HEAD', 'POST', null])
  })

  it('knows the path of a URL that cannot be decoded, or is encoded where it need not be', async () => {
    const { ask } = await serve([row('/a/:b')])
    expect(await ask('/a/%ff')).toMatchObject({ form: '/a/:b', text: 'request-parameter' })
    expect(await ask('/%61/x')).toMatchObject({ status: 200, text: 'GET x' })
    expect(await ask('/%61/x', { method: 'PUT' })).toMatchObject({ form: '/a/:b', text: 'request-method' })
  })

  it('lets pages of every origin read, but what is for its own site', async () => {
    const { ask } = await serve([row('/all'), row('/own', { ownSite: true })])
    const allowed = (headers: Headers) => headers.get('access-control-allow-origin')
    for (const path of ['/all', '/none']) expect(allowed((await ask(path)).headers)).toBe('*')
    expect(allowed((await ask('/own')).headers)).toBe(null)
    const wanted = { 'access-control-request-headers': 'x-a', origin: 'http://a.example' }
    const preflight = await ask('/all', { method: 'OPTIONS', headers: wanted })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, 'x-a'])
    expect(await ask('/own', { method: 'OPTIONS', headers: wanted })).toMatchObject({ text: 'request-forbidden' })
    expect(await ask('/own', { method: 'OPTIONS' })).toMatchObject({ text: 'request-method' })
  })

  it('reads a body up to its bound, and closes the connection of one byte more', async () => {
    const echo = row('/', { methods: ['POST'], body: 10, run: ({ body }) => ({ body: `${body?.length}` }) })
    const { ask } = await serve([echo])
    const post = (length: number) => ask('/', { method: 'POST', body: 'x'.repeat(length) })
    expect(await post(10)).toMatchObject({ status: 200, text: '10' })
    const refused = await post(11)
    expect([refused.text, refused.headers.get('connection')]).toEqual(['request-too-large', 'close'])
  })

  it('refuses before the body is read, and gives what is kept before it runs', async () => {
    let runs = 0
    const kept = row('/', {
      methods: ['POST'],
      body: 10,
      refuse: ({ headers }) => {
        if (headers['x-no'] !== undefined) throw new RuleError('request-forbidden', 'no')
      },
      kept: ({ body }) => (body?.length === 3 ? { body: 'kept' } : undefined),
      run: () => ({ body: `${++runs}` }),
    })
    const { ask, port } = await serve([kept])
    expect((await ask('/', { method: 'POST', body: 'abc' })).text).toBe('kept')
    expect((await ask('/', { method: 'POST', body: 'abcd' })).text).toBe('1')
    const socket = connect(port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nX-No: 1\r\nContent-Length: 5\r\n\r\n')
    const [answer] = (await new Promise((resolve) => socket.once('data', (data) => resolve([data.toString()])))) as [
      string,
    ]
    expect(answer).toContain('request-forbidden')
    socket.destroy()
    expect(runs).toBe(1)
  })

  it('answers what goes wrong in a row with its form, and logs it', async () => {
    const broken = row('/', { run: () => Promise.reject(new Error('broken')) })
    const odd = row('/odd', { run: () => ({ headers: { 'x-a': 'a\nb' } }) })
    const { ask, log } = await serve([broken, odd])
    expect(await ask('/')).toMatchObject({ form: '/', text: 'internal' })
    expect(await ask('/odd')).toMatchObject({ form: '/odd', text: 'internal' })
    expect(log.errors).toHaveLength(2)
  })

  it('says what is left of the rate of an address, and refuses beyond it', async () => {
    const { ask } = await serve([row('/')], { limits: { ...apiLimits, rateRequests: 2, rateSparesLoopback: false } })
    const left = (headers: Headers) => headers.get('x-ratelimit-remaining')
    expect([left((await ask('/')).headers), left((await ask('/')).headers)]).toEqual(['1', '0'])
    const refused = await ask('/')
    expect([refused.text, refused.headers.get('retry-after')]).toEqual(['request-rate', '60'])
  })
})
