import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { HttpPort } from '../../../src/answers/api/http/http-port.js'
import { openDriver } from '../../../src/answers/api/servers/driver-server.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { HttpResolver } from '../../../src/clients/client/http-resolver.js'
import type { Standing } from '../../../src/answers/resolver/standing.js'
import { Resolver } from '../../../src/answers/resolver/resolver.js'
import { oneValidator, quietLog, TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { type Answer, ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { behind, inStep, pausing } from '../../support/fakes/standing.js'
import { RpcClient } from '../../support/client/rpc.js'

/** Every door through which something is said about a DID, with a node in step and out of it. */

const person = holder()
const stranger = holder()
const home = { id: '#home', type: 'LinkedDomains', serviceEndpoint: 'https://ada.example/' }
const height = 1

let node: TestChain
let server: ApiServer
let driver: HttpPort
let standing: Standing

beforeAll(async () => {
  node = await TestChain.open({ ...oneValidator(), didRoot: true })
  await node.publish(person.create({ services: [home] }), person.did)
  server = await serve(contextOf(node, { standing: () => standing }))
  const source = new HttpResolver(`http://127.0.0.1:${server.port}/rpc`)
  driver = await openDriver({ source, hosts: ['127.0.0.1'], port: 0, log: quietLog() })
})
afterAll(async () => {
  await driver.close()
  await server.close()
  await node.close()
})
beforeEach(() => (standing = inStep(height)))

const call = (method: string, params: unknown) => async () =>
  askJson(server.port, '/rpc', { jsonrpc: '2.0', id: 1, method, params })
const get = (path: string) => async () => ask(server.port, path)
const driven = (path: string) => async () => ask(driver.port, path)

type Door = readonly [string, () => Promise<Answer>]

const { did } = person
const id = `${did}#degree`
const version = { versionId: '11'.repeat(32) }

/** What they say of the DID is there; `aged` says where the age stands. */
const found: readonly Door[] = [
  ['resolvedid', call('resolvedid', { did, all: false })],
  ['resolvedid, all', call('resolvedid', { did, all: true })],
  ['resolvedid, context', call('resolvedid', { did, all: false, context: true })],
  ['resolvedid, proof', call('resolvedid', { did, all: false, proof: true })],
  ['did_resolveDID', call('did_resolveDID', { did })],
  ['did_resolveDID as SDKs ask', call('did_resolveDID', [{ did, all: true }])],
  ['did_prove', call('did_prove', { did })],
  ['identifiers', get(`/1.0/identifiers/${did}`)],
  ['identifiers, a fragment', get(`/1.0/identifiers/${did}%23home`)],
  ['identifiers, a service', get(`/1.0/identifiers/${did}?service=home`)],
  ['the driver', driven(`/1.0/identifiers/${did}`)],
  ['light/1/did', get(`/light/1/did/${did}`)],
]

/** What they say is that something is not there, or how much there is. */
const absent: readonly Door[] = [
  ['resolvedid', call('resolvedid', { did: stranger.did, all: false })],
  ['resolvedid, an identifier that no key has', call('resolvedid', { did: 'x', all: false })],
  ['resolvedid, all', call('resolvedid', { did: stranger.did, all: true })],
  ['resolvedid, context', call('resolvedid', { did: stranger.did, all: false, context: true })],
  ['resolvedid, a version', call('resolvedid', { did, all: false, ...version })],
  ['resolvedid, proof', call('resolvedid', { did: stranger.did, all: false, proof: true })],
  ['did_resolveDID', call('did_resolveDID', { did: stranger.did })],
  ['did_resolveDID as SDKs ask', call('did_resolveDID', [{ did: stranger.did }])],
  ['did_resolveCredential', call('did_resolveCredential', { id })],
  ['did_resolveCredential as SDKs ask', call('did_resolveCredential', [{ id }])],
  ['did_resolveCredential, proof', call('did_resolveCredential', { id, proof: true })],
  ['did_listCredentials', call('did_listCredentials', { did })],
  ['did_prove', call('did_prove', { did: stranger.did })],
  ['did_proveCredential', call('did_proveCredential', { id })],
  ['query', call('query', { service: 'Hub' })],
  ['query, some found', call('query', { service: 'LinkedDomains' })],
  ['query, counted', call('query', { service: 'LinkedDomains', limit: 0, context: true })],
  ['identifiers', get(`/1.0/identifiers/${stranger.did}`)],
  ['identifiers, a version', get(`/1.0/identifiers/${did}?versionId=${version.versionId}`)],
  ['identifiers, a fragment', get(`/1.0/identifiers/${did}%23nothing`)],
  ['identifiers, a service', get(`/1.0/identifiers/${did}?service=nothing`)],
  ['the driver', driven(`/1.0/identifiers/${stranger.did}`)],
  ['the driver, a fragment', driven(`/1.0/identifiers/${did}%23nothing`)],
  ['light/1/did', get(`/light/1/did/${stranger.did}`)],
  ['light/1/credential', get(`/light/1/credential/${encodeURIComponent(id)}`)],
]

function expectAnswered({ status, body }: Answer): void {
  expect(status).not.toBe(503)
  expect((body as { error?: { code?: number } } | undefined)?.error?.code).toBeUndefined()
}

function expectRefused({ status, headers, text, body }: Answer): void {
  const code = (body as { error?: { code?: number } }).error?.code
  expect(status === 503 || code === -32001, text).toBe(true)
  // What is missed is named, with height and age.
  expect(text).toMatch(/at height \d+, whose block is \d+ s old: |as of height \d+, \d+ s ago, /)
  expect(headers['retry-after'], text).toMatch(/^[1-9]\d*$/)
  const isW3c = text.includes('"error":{"type":"https://www.w3.org/ns/did#INTERNAL_ERROR"')
  if (isW3c) expect([status, headers['retry-after']]).toEqual([503, '5'])
}

const both = [...found, ...absent]

describe.each(both)('%s', (_, door) => {
  it('answers in step, without an age', async () => {
    const answer = await door()
    expectAnswered(answer)
    expect(answer.headers).not.toHaveProperty('x-chain-age')
    expect(answer.text).not.toContain('outOfStep')
  })

  it('refuses while the node joins', async () => {
    standing = behind(height, 9)
    expectRefused(await door())
  })

  it('answers where the owner will have it so', async () => {
    standing = behind(height, 9, { answers: 'all' })
    expectAnswered(await door())
  })
})

describe.each(found)('%s of what is there', (name, door) => {
  it('answers while the chain pauses, with height and age', async () => {
    standing = pausing(height)
    const answer = await door()
    expectAnswered(answer)
    // A proof has the time of its block in itself.
    if (name.startsWith('light')) return
    expect(answer.headers).toMatchObject({ 'x-chain-height': String(height), 'x-chain-age': '600' })
  })
})

describe.each(absent)('%s of what is not there', (_, door) => {
  it('refuses while the chain pauses', async () => {
    standing = pausing(height)
    expectRefused(await door())
  })
})

describe('the age of an answer', () => {
  it('stands in the answer with context, and in the metadata of resolution', async () => {
    standing = pausing(height)
    const { body } = await call('resolvedid', { did, all: false, context: true })()
    expect(body).toMatchObject({ result: { status: 0, outOfStep: { height, age: 600 } } })
    for (const door of [get, driven]) {
      const resolved = await door(`/1.0/identifiers/${did}`)()
      expect(resolved.body).toMatchObject({ didResolutionMetadata: { height, age: 600 } })
    }
  })

  it('says that all is answered by the will of the owner', async () => {
    standing = pausing(height, { answers: 'all' })
    for (const asked of [did, stranger.did]) {
      const { body } = await call('resolvedid', { did: asked, all: false, context: true })()
      expect(body).toMatchObject({ result: { outOfStep: { height, age: 600, always: true } } })
    }
    const counted = await call('query', { service: 'Hub', context: true })()
    expect(counted.body).toMatchObject({ result: { total: 0, outOfStep: { height, age: 600, always: true } } })
    const gone = await get(`/1.0/identifiers/${stranger.did}`)()
    expect(gone).toMatchObject({ status: 404, headers: { 'x-chain-age': '600' } })
    expect(gone.body).toMatchObject({ didResolutionMetadata: { height, age: 600 } })
  })

  it('is never left out: an asker who would not be told it is refused', async () => {
    standing = pausing(height)
    const { database, clock, chain, prover } = node
    const own = new Resolver({ database, prover, clock, tip: () => chain.tip.header, standing: () => standing })
    await expect(own.resolve(did)).rejects.toMatchObject({ code: 'resolver-behind' })
    await expect(own.resolve(did)).rejects.toThrow('context: true')
    expect(await own.resolve(did, { context: true })).toMatchObject({ status: 0, outOfStep: { height, age: 600 } })
    await own.close()
  })

  it('stands in the answer alone where the carrier has no headers, as a WebSocket', async () => {
    const rpc = new RpcClient(contextOf(node, { standing: () => pausing(height) }))
    const asked: [string, unknown][] = [
      ['resolvedid', { did, all: false }],
      ['resolvedid', { did, all: true }],
      ['did_resolveDID', [{ did }]],
      ['did_resolveCredential', { id }],
    ]
    for (const [method, params] of asked) expect(await rpc.refusal(method, params)).toMatchObject({ code: -32001 })
    const answer = await rpc.call('resolvedid', { did, all: false, context: true })
    expect(answer).toMatchObject({ status: 0, outOfStep: { height, age: 600 } })
  })

  it('is read from the headers by clients that did not ask for the context', async () => {
    const remote = new HttpResolver(`http://127.0.0.1:${server.port}/rpc`)
    expect(await remote.resolve(did)).not.toHaveProperty('outOfStep')
    standing = pausing(height)
    expect(await remote.resolve(did)).toMatchObject({ status: 0, outOfStep: { height, age: 600 } })
    expect(await remote.resolve(did, { all: true })).toMatchObject({ status: 0, outOfStep: { height, age: 600 } })
    standing = pausing(height, { answers: 'all' })
    expect(await remote.resolveCredential(id)).toMatchObject({ status: 3, outOfStep: { height, age: 600 } })
  })

  it('is not kept with an answer: the next one has its own', async () => {
    const asked = call('resolvedid', { did, all: false, context: true })
    standing = pausing(height)
    expect((await asked()).text).toContain('"age":600')
    standing = pausing(height, { age: 700 })
    expect((await asked()).text).toContain('"age":700')
    standing = inStep(height)
    expect((await asked()).text).not.toContain('outOfStep')
  })
})

describe('readiness', () => {
  it.each<[string, () => Standing, number, number]>([
    ['in step', () => inStep(height), 200, 200],
    ['a joining node', () => behind(height, 9), 503, 503],
    ['a pausing chain', () => pausing(height), 503, 503],
    ['a node that answers always', () => pausing(height, { answers: 'all' }), 503, 503],
  ])('of %s', async (_, of, ready, driverReady) => {
    standing = of()
    expect((await get('/readyz')()).status).toBe(ready)
    expect((await driven('/readyz')()).status).toBe(driverReady)
  })
})

describe('plain data of the chain', () => {
  it.each(['/api/v1/block/height', '/api/v1/block/details/height/1'])('%s is given out of step', async (path) => {
    standing = behind(height, 9)
    expect((await get(path)()).status).toBe(200)
  })
})
