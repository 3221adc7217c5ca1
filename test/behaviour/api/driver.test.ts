import { createServer, request as httpRequest, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openDriver } from '../../../src/answers/api/servers/driver-server.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { maxAsked, maxWaiting } from '../../../src/answers/api/servers/bounded-source.js'
import { HttpResolver } from '../../../src/clients/client/http-resolver.js'
import { RuleError, UserError } from '../../../src/base/errors/rule-error.js'
import { NoAnswer } from '../../../src/clients/client/http.js'
import type { IdentifierSource } from '../../../src/answers/identifiers/identifiers.js'
import { quietLog, TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { type Answer, ask, contextOf, serve } from '../../support/client/api.js'
import { behind } from '../../support/fakes/standing.js'

/** `didledger driver` without its process: over a node behind real JSON-RPC, and over sources that fail. */

let node: TestChain
let server: ApiServer
let joining: ApiServer
const person = holder()
const ended = holder()
const path = `/1.0/identifiers/${person.did}`
const home = { id: '#home', type: 'LinkedDomains', serviceEndpoint: 'https://ada.example/' }

beforeAll(async () => {
  node = await TestChain.open()
  await node.publish(person.create({ services: [home] }), person.did)
  await node.publish(ended.create(), ended.did)
  await node.publish(ended.deactivate(), ended.did)
  server = await serve(contextOf(node))
  joining = await serve(contextOf(node, { standing: () => behind(5, 9) }), { serves: 'rpc' })
})
afterAll(async () => {
  await server.close()
  await joining.close()
  await node.close()
})

const opened: { close(): Promise<unknown> | void }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close()
})

const nodeAt = (port: number) => new HttpResolver(`http://127.0.0.1:${port}/rpc`, { timeout: 2000 })

async function drive(source: IdentifierSource) {
  const warnings: [fields: unknown, message: string][] = []
  const log = { ...quietLog(), warn: (fields: unknown, message: string) => void warnings.push([fields, message]) }
  const driver = await openDriver({ source, hosts: ['127.0.0.1'], port: 0, log })
  opened.push(driver)
  return { driver, log, warnings }
}

/** What an answer says, without what differs from request to request. */
function said({ status, headers, text }: Answer) {
  const { location, etag, vary } = headers
  const [origin, exposed] = [headers['access-control-allow-origin'], headers['access-control-expose-headers']]
  return { status, text, type: headers['content-type'], location, etag, vary, origin, exposed }
}

it('is told by a node with which hint a DID cannot exist, and by none of others', async () => {
  const asked = nodeAt(server.port)
  const wrong = `${person.did.slice(0, -1)}${person.did.endsWith('2') ? '3' : '2'}`
  const hint = 'no key has this identifier: its checksum is wrong, so it is mistyped or made up'
  expect(await asked.resolve(wrong, { context: true })).toEqual({ did: wrong, status: 3, hint })
  expect(await asked.resolve(wrong, { all: true, context: true })).toEqual({ did: wrong, status: 3, hint })
  expect(await asked.resolve(wrong)).toEqual({ did: wrong, status: 3 })
  const { did } = holder()
  expect(await asked.resolve(did, { context: true })).toEqual({ did, status: 3 })
})

describe('a driver', () => {
  it('answers what the node itself answers', async () => {
    const { driver, log } = await drive(nodeAt(server.port))
    const targets = [
      person.did,
      encodeURIComponent(`${person.did}#primary`),
      `${person.did}?service=home`,
      `${person.did}?versionTime=2000-01-01T00:00:00Z`,
      ended.did,
      holder().did,
      'did:ledger:short',
      'did:other:x',
      `${person.did}?unknown=1`,
      'did:ledger:%',
      'did:ledger:%zz',
    ]
    const accepts = ['*/*', 'application/did', 'application/did-url-dereferencing', 'text/html']
    for (const target of targets) {
      for (const accept of accepts) {
        for (const method of ['GET', 'HEAD', 'PUT']) {
          const question = { method, headers: { accept } }
          const [own, other] = await Promise.all(
            [server.port, driver.port].map((port) => ask(port, `/1.0/identifiers/${target}`, question)),
          )
          expect(said(other as Answer)).toEqual(said(own as Answer))
          expect(said(other as Answer).origin).toBe('*')
        }
      }
    }
    const large = { headers: { x: 'x'.repeat(20_000) } }
    const [own, other] = await Promise.all([server.port, driver.port].map((port) => ask(port, path, large)))
    expect(said(other as Answer)).toEqual(said(own as Answer))
    expect(said(other as Answer)).toMatchObject({ status: 431, origin: '*' })
    expect(log.errors).toEqual([])
  })

  it('gives empty answers no type but that of what the client has', async () => {
    const { driver } = await drive(nodeAt(server.port))
    const { headers } = await ask(driver.port, path)
    const known = await ask(driver.port, path, { headers: { 'if-none-match': headers.etag as string } })
    expect([known.status, known.text, known.headers['content-type']]).toEqual([304, '', 'application/did-resolution'])
    const located = await ask(driver.port, `${path}?service=home`, { headers: { accept: 'text/uri-list' } })
    expect([located.status, located.text, located.headers['content-type']]).toEqual([303, '', undefined])
  })

  it('answers the address of a service instead of redirecting to it, where it is told to', async () => {
    const options = { source: nodeAt(server.port), hosts: ['127.0.0.1'], port: 0, log: quietLog() }
    const driver = await openDriver({ ...options, dereference: 'url' })
    opened.push(driver)
    const asked = (accept: string) => ask(driver.port, `${path}?service=home`, { headers: { accept } })
    const list = await asked('text/uri-list')
    expect([list.status, list.text, list.headers.location]).toEqual([200, `${home.serviceEndpoint}\r\n`, undefined])
    expect(list.headers['content-type']).toBe('text/uri-list')
    const result = await asked('application/did-url-dereferencing')
    expect(result).toMatchObject({ status: 200, body: { contentStream: home.serviceEndpoint } })
  })

  it('is alive, and ready with its node', async () => {
    const { driver } = await drive(nodeAt(server.port))
    for (const [asked, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
    ] as const) {
      const answer = await ask(driver.port, asked)
      expect([answer.status, answer.body, answer.headers['cache-control']]).toEqual([200, { status }, 'no-store'])
      expect((await ask(driver.port, asked, { method: 'HEAD' })).status).toBe(200)
      const refused = await ask(driver.port, asked, { method: 'POST' })
      expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD'])
    }
    for (const asked of ['/', '/rpc', '/1.0/identifiers', '/metrics']) {
      expect([asked, (await ask(driver.port, asked)).status]).toEqual([asked, 404])
    }
  })

  it('passes on that the node is catching up', async () => {
    const { driver, log } = await drive(nodeAt(joining.port))
    const answer = await ask(driver.port, path)
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
    expect(answer.text).toContain('at height 5, ')
    const ready = await ask(driver.port, '/readyz')
    expect([ready.status, ready.body]).toEqual([
      503,
      { status: 'out of step', reason: expect.stringContaining('at height 5, ') as string },
    ])
    expect(log.errors).toEqual([])
  })

  it('does not take a node for unreachable that takes no more requests for now', async () => {
    const body = {
      id: 1,
      jsonrpc: '2.0',
      error: { code: -32005, message: 'Too many requests.', data: 'more than 4 requests' },
    }
    const fake = await pretend(JSON.stringify(body))
    const { driver, log } = await drive(nodeAt((fake.address() as AddressInfo).port))
    const { status, body: said } = await ask(driver.port, '/readyz')
    expect([status, said]).toEqual([
      503,
      { status: 'busy', reason: expect.stringContaining('no more requests') as string },
    ])
    expect(log.errors).toEqual([])
  })

  it('names neither the address nor the failure of a node that is not there', async () => {
    const { driver, log, warnings } = await drive(nodeAt(1))
    const answers = await Promise.all([path, '/readyz', '/healthz'].map((asked) => ask(driver.port, asked)))
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 200])
    expect(answers[0]?.headers['retry-after']).toBe('5')
    for (const { text } of answers) expect(text).not.toContain('127.0.0.1')
    expect(answers[1]?.body).toEqual({ status: 'unreachable', reason: 'the node does not answer' })
    expect(log.errors).toEqual([])
    expect(warnings).toEqual([
      [{ error: expect.stringContaining('127.0.0.1:1') as string }, 'the node does not answer'],
    ])
  })

  it('says once that its node is away, and once that it is back', async () => {
    let away = true
    const refused = new RuleError('busy', 'more than 4 requests')
    const { driver, log, warnings } = await drive({
      resolve: async () => Promise.reject(away ? new NoAnswer('no connection') : refused),
    })
    const told = ['the node does not answer', 'the node answers again']
    for (const count of [1, 2]) {
      away = true
      for (const asked of [path, '/readyz', path, path]) expect((await ask(driver.port, asked)).status).toBe(503)
      expect(warnings).toHaveLength(2 * count - 1)
      away = false
      for (const asked of [path, '/readyz', path]) expect((await ask(driver.port, asked)).status).toBe(503)
      expect(warnings).toHaveLength(2 * count)
    }
    expect(warnings.map(([, message]) => message)).toEqual([...told, ...told])
    expect(warnings[0]?.[0]).toEqual({ error: 'no connection' })
    expect(log.errors).toEqual([])
  })

  it('takes an error of what stands before its node for an absence that passes', async () => {
    for (const [status, expected] of [
      [502, 503],
      [404, 500],
    ] as const) {
      const fake = await pretend('<h1>Bad Gateway</h1>', status)
      const { driver } = await drive(nodeAt((fake.address() as AddressInfo).port))
      expect([status, (await ask(driver.port, path)).status]).toEqual([status, expected])
    }
  })

  it('believes no node that answers about another DID, or something else', async () => {
    const answers = [
      { did: person.did, status: 0, transaction: [] },
      { did: person.did, status: 0, transaction: [{ txid: 'x' }] },
      { did: person.did, status: 7 },
      'text',
      null,
    ]
    for (const result of answers) {
      const fake = await pretend(JSON.stringify({ id: 1, jsonrpc: '2.0', result }))
      const { driver } = await drive(nodeAt((fake.address() as AddressInfo).port))
      expect([result, (await ask(driver.port, path)).status >= 400]).toEqual([result, true])
    }
  })

  it('asks the node for a bounded number at once, and refuses what is too many', async () => {
    const waiting: (() => void)[] = []
    let asked = 0
    const resolve = (did: string) => {
      asked++
      return new Promise<{ did: string; status: 3 }>((done) => waiting.push(() => done({ did, status: 3 })))
    }
    const { driver } = await drive({ resolve })
    const most = maxAsked + maxWaiting
    const answers = Array.from({ length: most + 20 }, () => ask(driver.port, path))
    const statuses: number[] = []
    const all = answers.map(async (answer) => statuses.push((await answer).status))
    await expect.poll(() => statuses).toEqual(Array.from({ length: 20 }, () => 503))
    expect(asked).toBe(maxAsked)
    while (statuses.length < most + 20) {
      for (const done of waiting.splice(0)) done()
      await nextTurn()
    }
    await Promise.all(all)
    expect(asked).toBe(most)
    expect(statuses.filter((status) => status === 404)).toHaveLength(most)
  })

  it('asks nothing for a client that left while it waited', async () => {
    const waiting: (() => void)[] = []
    const asked: string[] = []
    const resolve = (did: string) => {
      asked.push(did)
      return new Promise<{ did: string; status: 3 }>((done) => waiting.push(() => done({ did, status: 3 })))
    }
    const { driver, log } = await drive({ resolve })
    const first = Array.from({ length: maxAsked }, () => ask(driver.port, path))
    await expect.poll(() => asked.length).toBe(maxAsked)
    const leaving = httpRequest({ port: driver.port, path, agent: false }).on('error', () => {})
    leaving.end()
    const late = holder().did
    await new Promise<void>((resolve) => leaving.once('finish', resolve))
    const last = ask(driver.port, `/1.0/identifiers/${late}`)
    leaving.destroy()
    // The driver has seen the end of that connection before it answers what comes after.
    for (let i = 0; i < 5; i++) await ask(driver.port, '/healthz')
    let done = false
    const all = Promise.all([...first, last]).then(() => (done = true))
    while (!done) {
      for (const finish of waiting.splice(0)) finish()
      await nextTurn()
    }
    await all
    expect(asked.length).toBe(maxAsked + 1)
    expect(asked.at(-1)).toBe(late)
    expect(log.errors).toEqual([])
  })

  it('ends its request to the node once the client has left', async () => {
    const asked: ServerResponse[] = []
    let ended = 0
    const slow = createServer((_, response) => {
      asked.push(response)
      response.once('close', () => ended++)
    })
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
    const { port } = slow.address() as AddressInfo
    const { driver, log } = await drive(new HttpResolver(`http://127.0.0.1:${port}/`, { timeout: 60_000 }))
    // Closed before the driver, which waits for its answers.
    opened.push({ close: () => void slow.close().closeAllConnections() })
    const leaving = Array.from({ length: maxAsked }, () =>
      httpRequest({ port: driver.port, path, agent: false })
        .on('error', () => {})
        .end(),
    )
    await expect.poll(() => asked.length).toBe(maxAsked)
    const last = ask(driver.port, path)
    for (const client of leaving) client.destroy()
    await expect.poll(() => ended).toBe(maxAsked)
    await expect.poll(() => asked.length).toBe(maxAsked + 1)
    asked.at(-1)?.end(JSON.stringify({ id: 1, jsonrpc: '2.0', result: { did: person.did, status: 3 } }))
    expect((await last).status).toBe(404)
    expect(log.errors).toEqual([])
  })

  it('says what to do where its port is taken', async () => {
    const { driver } = await drive(nodeAt(server.port))
    const again = { source: nodeAt(server.port), hosts: ['127.0.0.1'], port: driver.port, log: quietLog() }
    await expect(openDriver(again)).rejects.toBeInstanceOf(UserError)
  })
})

/** A server that answers everything alike. */
async function pretend(text: string, status = 200): Promise<Server> {
  const fake = createServer((_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(text),
  )
  await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve))
  opened.push({ close: () => new Promise((resolve) => fake.close(resolve)) })
  return fake
}
