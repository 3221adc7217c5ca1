import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { accessDefaults } from '../../../src/answers/api/http/access-options.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import type { HttpPort } from '../../../src/answers/api/http/http-port.js'
import { openMetricsPort } from '../../../src/answers/api/servers/metrics-server.js'
import { plainRoutes } from '../../../src/answers/api/paths/plain-routes.js'
import { parseMetrics } from '../../support/assert/prometheus.js'
import { TestChain } from '../../support/builders/chain.js'
import { type Answer, ask, askJson, contextOf, serve } from '../../support/client/api.js'

/** The metrics are for programs and for pages of the node itself, on whichever port they are. */

let node: TestChain
let rest: ApiServer
let apart: HttpPort

beforeEach(async () => {
  node = await TestChain.open()
  const access = { ...accessDefaults, hostNames: ['node.example'] }
  rest = await serve(contextOf(node, { access }))
  apart = await openMetricsPort(contextOf(node, { access }), { hosts: ['127.0.0.1'], port: 0 })
})
afterEach(async () => {
  await Promise.all([rest.close(), apart.close()])
  await node.close()
})

const corsOf = ({ headers }: Answer) => Object.keys(headers).filter((name) => name.startsWith('access-control-'))

/** Headers that a browser sends for a page of another site. */
const foreign: readonly (readonly [string, (port: number) => Record<string, string>])[] = [
  ['its origin', () => ({ origin: 'https://evil.example' })],
  ['the origin of a sandboxed frame', () => ({ origin: 'null' })],
  ['another port of this machine', () => ({ origin: 'http://127.0.0.1:1' })],
  ['Sec-Fetch-Site cross-site', () => ({ 'sec-fetch-site': 'cross-site' })],
  ['Sec-Fetch-Site same-site', () => ({ 'sec-fetch-site': 'same-site' })],
  ['a referrer', () => ({ referer: 'https://evil.example/page' })],
  [
    'the origin of its name, which it has made that of this machine',
    (port) => ({ ...rebound(port), origin: `http://evil.example:${port}` }),
  ],
  ['no origin, but its name as Host', rebound],
]

function rebound(port: number): Record<string, string> {
  return { host: `evil.example:${port}` }
}

describe.each([
  ['the REST port', () => rest.port],
  ['the port of the metrics', () => apart.port],
])('/metrics on %s', (_, portOf) => {
  it.each(foreign)('is refused to a page of another site that sends %s', async (_name, headersFor) => {
    const port = portOf()
    const answer = await ask(port, '/metrics', { headers: headersFor(port) })
    expect(answer).toMatchObject({ status: 403, body: { Error: 42003 } })
    expect(answer.text).not.toContain('didledger_')
    expect(corsOf(answer)).toEqual([])
  })

  it('is given to programs, to those who type its address, and to pages of the node', async () => {
    const port = portOf()
    const own = `http://127.0.0.1:${port}`
    const sent: readonly Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin', referer: `${own}/` },
      { origin: own },
      { host: `localhost:${port}`, origin: `http://localhost:${port}` },
      { host: 'node.example', origin: 'https://node.example', 'sec-fetch-site': 'same-origin' },
    ]
    for (const headers of sent) {
      const answer = await ask(port, '/metrics', { headers })
      expect(answer.status).toBe(200)
      expect(parseMetrics(answer.text).size).toBeGreaterThan(40)
      expect(corsOf(answer)).toEqual([])
    }
  })

  it('does not answer the preflight of a page', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'GET' }
    for (const sent of [headers, {}]) {
      const answer = await ask(portOf(), '/metrics', { method: 'OPTIONS', headers: sent })
      expect(corsOf(answer)).toEqual([])
      expect(answer.status).toBe(sent === headers ? 403 : 405)
    }
  })

  it('is counted, and found by any spelling of its path that the router takes, with the same refusal', async () => {
    for (const path of ['/metrics?x=1', '/%6detrics', '/metric%73']) {
      const port = portOf()
      expect((await ask(port, path)).status).toBe(200)
      expect((await ask(port, path, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
    }
  })
})

describe('the other paths for monitoring', () => {
  it('may be read by pages, for they tell nothing that JSON-RPC does not', async () => {
    for (const { path } of plainRoutes.filter(({ ownSite }) => ownSite !== true)) {
      const answer = await ask(rest.port, path, { headers: { origin: 'https://page.example' } })
      expect(answer.status, path).toBe(200)
      expect(answer.headers['access-control-allow-origin']).toBe('*')
    }
  })
})

describe('the port of the metrics', () => {
  it('has /metrics, and nothing else of the node', async () => {
    expect((await ask(apart.port, '/metrics')).status).toBe(200)
    const others = [
      '/',
      '/readyz',
      '/healthz',
      '/openapi.json',
      '/api/v1/block/height',
      '/1.0/identifiers/x',
      '/metrics/',
    ]
    for (const path of others) expect((await ask(apart.port, path)).status, path).toBe(404)
    expect((await askJson(apart.port, '/rpc', { method: 'getblockcount', id: 1 })).status).toBe(404)
    const head = await ask(apart.port, '/metrics', { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, text: '' })
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const answer = await ask(apart.port, '/metrics', { method })
      expect(answer).toMatchObject({ status: 405, body: { Error: 42001 } })
      expect(answer.headers['allow']).toBe('GET, HEAD')
    }
  })

  it('answers what is no HTTP in the form of the others', async () => {
    const text = await new Promise<string>((resolve) => {
      let got = ''
      const socket = connect(apart.port, '127.0.0.1', () => socket.write('nothing\r\n\r\n'))
      socket.on('data', (chunk) => (got += chunk.toString()))
      socket.on('close', () => resolve(got))
    })
    expect(text).toMatch(/^HTTP\/1\.1 400 [^]*"Error":41003/)
  })

  it('is what the REST port of the same node lacks, also in its description', async () => {
    const without = await serve(contextOf(node, { metricsApart: true }))
    expect((await ask(without.port, '/metrics')).status).toBe(404)
    expect((await ask(without.port, '/metrics', { method: 'POST' })).status).toBe(404)
    expect((await ask(without.port, '/readyz')).status).toBe(200)
    const described = async (port: number) => (await ask(port, '/openapi.json')).text.includes('"/metrics"')
    expect(await described(without.port)).toBe(false)
    expect(await described(rest.port)).toBe(true)
    await without.close()
  })

  it('that is taken is named', async () => {
    const opening = openMetricsPort(contextOf(node), { hosts: ['127.0.0.1'], port: apart.port })
    await expect(opening).rejects.toThrow(`port ${apart.port} of 127.0.0.1 is in use`)
  })
})
