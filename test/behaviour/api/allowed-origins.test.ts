import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLog, systemEnv } from '../../../src/base/runtime/process-env.js'
import type { Log } from '../../../src/base/runtime/env.js'
import { loadSpec } from '../../../src/program/cli/load-spec.js'
import { serve, type Servers } from '../../../src/node/serving/serve-node.js'
import type { Node } from '../../../src/node/node.js'
import { startNode } from '../../../src/node/start-node.js'
import { type Answer, ask } from '../../support/client/api.js'
import { WsClient } from '../../support/client/ws.js'
import { configOf } from '../../support/builders/config.js'

/** Pages of a development server use a devnet that was told their origin; every other page is refused, with the flag in words. */

const own = 'http://localhost:5173'
const second = 'https://app.example'

interface Served {
  readonly node: Node
  readonly servers: Servers
  readonly warnings: unknown[]
}

async function served(name: 'devnet' | 'pow', allowedOrigins: readonly string[]): Promise<Served> {
  const warnings: unknown[] = []
  const log: Log = { ...silentLog, warn: (fields, message) => void warnings.push({ ...fields, message }) }
  const tuning = { node: { portBase: 0 }, devnet: { allowedOrigins } }
  const node = await startNode({ spec: loadSpec(name), tuning, env: systemEnv(log) })
  return { node, servers: await serve(node, { log, tuning }), warnings }
}

let open: Served
let shut: Served
let other: Served

beforeAll(async () => {
  open = await served('devnet', [own, second])
  shut = await served('devnet', [])
  other = await served('pow', [own])
})
afterAll(async () => {
  for (const { node, servers } of [open, shut, other]) {
    await servers.close()
    await node.close()
  }
})

/** Headers that a browser sends with the request of a page at an origin. */
const page = (origin: string) => ({
  origin,
  referer: `${origin}/`,
  'sec-fetch-site': 'same-site',
  'sec-fetch-mode': 'cors',
})
const json = { 'content-type': 'application/json' }

const ports = (at: Served) => [
  ['REST', at.servers.ports.rest, '/rpc'] as const,
  ['JSON-RPC', at.servers.ports.rpc, '/'] as const,
]

function rpc(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  method = 'dev_mine',
): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} })
  return ask(port, path, { method: 'POST', headers: { ...json, ...headers }, body })
}

function preflight(port: number, path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
  return ask(port, path, { method: 'OPTIONS', headers: { ...asked, ...headers } })
}

/** Whether a browser lets a page send what its preflight asked for, and read the answer. */
function allows({ status, headers }: Answer, origin: string): boolean {
  const from = headers['access-control-allow-origin']
  return (
    status === 204 && (from === '*' || from === origin) && headers['access-control-allow-headers'] === 'content-type'
  )
}

describe('a page of an allowed origin', () => {
  it.each([own, second])('makes blocks and asks the faucet over both ports: %s', async (origin) => {
    for (const [name, port, path] of ports(open)) {
      expect(allows(await preflight(port, path, page(origin)), origin), name).toBe(true)
      const mined = await rpc(port, path, page(origin))
      expect(mined.body, name).toMatchObject({ result: [expect.stringMatching(/^[0-9a-f]{64}$/)] })
      expect(mined.headers['access-control-allow-origin']).toBe('*')
      for (const method of ['dev_accounts', 'dev_snapshot', 'getblockcount']) {
        expect((await rpc(port, path, page(origin), method)).body).not.toHaveProperty('error')
      }
    }
  })

  it('makes blocks and hears of them over both WebSockets', async () => {
    for (const url of [`ws://localhost:${open.servers.ports.rest}/ws`, `ws://127.0.0.1:${open.servers.ports.ws}`]) {
      const client = await WsClient.open(url, { headers: { origin: own } })
      await client.result('subscribe', { topics: ['block'] })
      await client.result('dev_mine', {})
      await client.until(() => client.events.length === 1)
      await client.close()
    }
  })

  it('reads what other sites may not, and a cache keeps no answer for another origin', async () => {
    const { rest } = open.servers.ports
    const answer = await ask(rest, '/metrics', { headers: page(own) })
    expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': own, vary: 'Origin' } })
    expect(allows(await preflight(rest, '/metrics', page(own)), own)).toBe(true)
    expect((await ask(rest, '/metrics', { headers: page('http://localhost:5174') })).status).toBe(403)
  })

  it('may come from a public address, where browsers ask for that in the preflight', async () => {
    const asked = { 'access-control-request-private-network': 'true' }
    const headersFor = async (origin: string) =>
      (await preflight(open.servers.ports.rest, '/rpc', { ...page(origin), ...asked })).headers
    expect(await headersFor(second)).toMatchObject({ 'access-control-allow-private-network': 'true' })
    expect(await headersFor('https://evil.example')).not.toHaveProperty('access-control-allow-private-network')
    expect((await preflight(open.servers.ports.rest, '/rpc', page(own))).headers).not.toHaveProperty(
      'access-control-allow-private-network',
    )
  })

  it('is still refused under a Host that was pointed here, by a GET of restart, and what needs the token', async () => {
    const { rest } = open.servers.ports
    const rebound = await rpc(rest, '/rpc', { ...page(own), host: 'evil.example' })
    expect(rebound.body).toMatchObject({
      error: { code: -32010, data: expect.stringContaining('Host is evil.example') },
    })
    expect((await ask(rest, '/metrics', { headers: { ...page(own), host: 'evil.example' } })).status).toBe(403)
    expect((await ask(rest, '/api/v1/restart', { headers: page(own) })).status).toBe(403)
    expect((await rpc(rest, '/rpc', page(own), 'togglemining')).body).toMatchObject({ error: { code: -32010 } })
    const text = await rpc(rest, '/rpc', { ...page(own), 'content-type': 'text/plain' })
    expect(text.body).toMatchObject({ error: { code: -32010 } })
  })
})

/** Origins that are none of the allowed ones, however similar. */
const strangers = [
  'http://localhost:5174',
  'http://localhost',
  'http://localhost:51733',
  'http://localhost:517',
  'https://localhost:5173',
  'http://127.0.0.1:5173',
  'http://evil.localhost:5173',
  'http://localhost.evil.example:5173',
  'http://notlocalhost:5173',
  'http://sub.app.example',
  'https://app.example.evil.example',
  'https://app.example:8443',
  'http://app.example',
]
/** Texts that are no origin of a page over HTTP, and so nothing that the owner could allow. */
const nothings = [
  'null',
  '*',
  'HTTP://LOCALHOST:5173',
  'http://Localhost:5173',
  'http://localhost:5173/',
  'http://localhost:5173, https://app.example',
  'https://app.example:443',
  'file://',
  'chrome-extension://abcdef',
  'http://$(reboot).example',
  `http://${'a'.repeat(300)}.example`,
]

describe('a page of another origin', () => {
  it.each([...strangers, ...nothings])('is refused: %s', async (origin) => {
    for (const [name, port, path] of ports(open)) {
      const { body } = await rpc(port, path, page(origin))
      expect(body, name).toMatchObject({
        error: { code: -32010, data: expect.stringContaining('a page of another site') },
      })
    }
    const client = await WsClient.open(`ws://127.0.0.1:${open.servers.ports.rest}/ws`, { headers: { origin } })
    expect(await client.call('dev_mine', {})).toMatchObject({ error: { code: -32010 } })
    expect(await client.call('getblockcount', {})).toHaveProperty('result')
    await client.close()
  })

  it.each(strangers)('is told the flag that lets it in: %s', async (origin) => {
    const flag = `--allow-origin ${origin}`
    const { body } = await rpc(shut.servers.ports.rpc, '/', page(origin))
    expect(body).toMatchObject({ error: { data: expect.stringContaining(`start the devnet with ${flag} to let it`) } })
    const metrics = await ask(shut.servers.ports.rest, '/metrics', { headers: page(origin) })
    expect(metrics).toMatchObject({ status: 403, body: { Result: expect.stringContaining(flag) } })
  })

  it.each(nothings)('is told no flag where none would help: %s', async (origin) => {
    expect((await rpc(shut.servers.ports.rpc, '/', page(origin))).text).not.toContain('--allow-origin')
  })

  it('is told no flag under a Host that was pointed here', async () => {
    const { text } = await rpc(shut.servers.ports.rpc, '/', { ...page(own), host: 'evil.example' })
    expect(text).toMatch(/Host is evil\.example/)
    expect(text).not.toContain('--allow-origin')
  })

  it('is in the log once, whatever port it came to, and only once it was refused; of very many the first 16 are', async () => {
    const at = await served('devnet', [])
    const { rest, rpc: rpcPort, ws } = at.servers.ports
    try {
      const client = await WsClient.open(ws, { headers: { origin: own } } as never)
      await client.result('getblockcount', {})
      expect(at.warnings).toEqual([])
      await client.call('dev_mine', {})
      await client.call('dev_mine', {})
      await client.close()
      await rpc(rpcPort, '/', page(own))
      await ask(rest, '/metrics', { headers: page(own) })
      const message = `a page of another site was refused; --allow-origin ${own} lets it use this devnet`
      expect(at.warnings).toEqual([{ origin: own, message }])
      for (let port = 1; port <= 40; port++) await rpc(rpcPort, '/', page(`http://localhost:${port}`))
      expect(at.warnings).toHaveLength(16)
    } finally {
      await at.servers.close()
      await at.node.close()
    }
  })
})

describe('a node of another network', () => {
  it('lets in no page, whatever it is told, and names no flag', async () => {
    for (const [, port, path] of ports(other)) {
      const { body, text } = await rpc(port, path, page(own), 'togglemining')
      expect(body).toMatchObject({ error: { code: -32010, data: expect.stringContaining('a page of another site') } })
      expect(text).not.toContain('--allow-origin')
    }
    const metrics = await ask(other.servers.ports.rest, '/metrics', { headers: page(own) })
    expect(metrics.status).toBe(403)
    expect(metrics.headers).not.toHaveProperty('access-control-allow-origin')
    expect(other.warnings).toEqual([])
  })
})

describe('the option', () => {
  const read = (allowOrigin: unknown, command: 'devnet' | 'start' = 'devnet') =>
    configOf(JSON.stringify({ devnet: { allowOrigin } }), { command }).tuning.devnet?.allowedOrigins

  it.each([
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://localhost:80', 'http://localhost'],
    ['https://app.example:443', 'https://app.example'],
    ['https://app.example:80', 'https://app.example:80'],
    ['HTTPS://App.Example', 'https://app.example'],
    ['http://[::1]:5173', 'http://[::1]:5173'],
    ['http://127.0.0.1:5173', 'http://127.0.0.1:5173'],
    ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
  ])('takes %s as browsers send it: %s', (given, sent) => {
    expect(read([given])).toEqual([sent])
  })

  it.each([
    'null',
    '*',
    'http://*',
    'http://*.example',
    'http://localhost:5173/',
    'http://localhost:5173/app',
    'http://localhost:5173?x',
    'http://localhost:5173#x',
    'http://user@localhost:5173',
    'http://localhost:65536',
    'localhost:5173',
    'ws://localhost:5173',
    'file:///app',
    'chrome-extension://abcdef',
    'http://a b',
    '',
  ])('refuses %j in words', (given) => {
    expect(() => read([given])).toThrow(
      /devnet\.allowOrigin is not a list of at most 16 different origins such as http:\/\/localhost:5173: http or https/,
    )
  })

  it('is refused where no devnet runs', () => {
    expect(() => read([own], 'start')).toThrow(/devnet\.allowOrigin/)
  })
})
