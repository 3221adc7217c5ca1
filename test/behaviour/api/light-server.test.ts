import { afterEach, describe, expect, it } from 'vitest'
import type { HttpPort } from '../../../src/answers/api/http/http-port.js'
import { openLightServer } from '../../../src/answers/api/servers/light-server.js'
import type { LightOptions } from '../../../src/clients/light/light-resolver.js'
import { quietLog } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { lightOver, lightWorld } from '../../support/builders/light-world.js'
import { ask } from '../../support/client/api.js'
import { type Json, type Lies, lightServers } from '../../support/fakes/light-server.js'

/** `didledger light` without its process: over nodes that are honest, and over some that lie. */

const { book, alice, bob, carol, kept, revoked, versions } = lightWorld({ changeAt: 9 })
const proved = { height: book.tip.height, hash: book.tip.id, time: book.tip.time, age: 0, servers: ['http://node'] }

const opened: HttpPort[] = []
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close()
})

async function open(lies: Lies = {}, options: Partial<LightOptions> = {}) {
  const warnings: Record<string, unknown>[] = []
  const log = { ...quietLog(), warn: (fields: Record<string, unknown>) => void warnings.push(fields) }
  const server = await openLightServer({ light: lightOver(book, lies, options), hosts: ['127.0.0.1'], port: 0, log })
  opened.push(server)
  const rpc = async (method: string, params: unknown, path = '/rpc') => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })
    const headers = { 'content-type': 'application/json' }
    return JSON.parse((await ask(server.port, path, { method: 'POST', body, headers })).text) as Json
  }
  const get = async (path: string, headers = {}) => ask(server.port, path, { headers })
  const identifier = async (of: string) => {
    const { status, text } = await get(`/1.0/identifiers/${of}`, { accept: 'application/did-resolution' })
    return { status, body: JSON.parse(text) as Json }
  }
  return { server, rpc, get, identifier, warnings }
}

describe('DID Resolution over a light resolver', () => {
  it('gives documents with what they are proved by', async () => {
    const { identifier, get } = await open()
    const { status, body } = await identifier(alice.did)
    expect(status).toBe(200)
    expect(body.didDocument).toMatchObject({ id: alice.did })
    const { height, hash: blockHash } = proved
    expect(body.didResolutionMetadata).toEqual({ contentType: 'application/did', height, blockHash, proved })
    expect(body.didDocumentMetadata).toMatchObject({ versionId: versions[2] })
    const first = await identifier(`${alice.did}?versionId=${versions[0]}`)
    expect(first.body.didDocumentMetadata).toMatchObject({ versionId: versions[0], nextVersionId: versions[1] })
    const plain = await get(`/1.0/identifiers/${alice.did}`, { accept: 'application/did' })
    expect(JSON.parse(plain.text)).toEqual(body.didDocument)
  })

  it('proves that there is nothing too', async () => {
    const { identifier } = await open()
    const gone = await identifier(bob.did)
    expect(gone).toMatchObject({ status: 410, body: { didResolutionMetadata: { proved } } })
    const none = await identifier(holder().did)
    expect(none.status).toBe(404)
    expect(none.body.didResolutionMetadata).toMatchObject({ error: { title: expect.any(String) }, proved })
    const expired = await identifier(carol.did)
    expect(expired.body.didDocumentMetadata).toMatchObject({ expired: true })
  })

  it('hands no proof on', async () => {
    const { identifier } = await open()
    const { status, body } = await identifier(`${alice.did}?proof=true`)
    expect(status).toBe(501)
    expect(body.didResolutionMetadata.error.detail).toContain('proofs are checked here, and not handed on')
  })

  it('names what is wrong with an answer that is not proved', async () => {
    const { identifier } = await open({ answer: ({ did }) => ({ did, status: 3 }) })
    const { status, body } = await identifier(alice.did)
    expect(status).toBe(500)
    expect(body.didDocument).toBeNull()
    expect(body.didResolutionMetadata.error.detail).toMatch(/^proof-missing: the answer came without a proof/)
  })

  it('is unavailable for the moment where no node answers', async () => {
    const { get } = await open({ response: () => new Response('', { status: 500 }) })
    const { status, headers, text } = await get(`/1.0/identifiers/${alice.did}`)
    expect([status, headers['retry-after']]).toEqual([503, '5'])
    expect(JSON.parse(text).didResolutionMetadata.error.detail).toMatch(/^unreachable: /)
  })

  it('logs once that no node answers, and once that answers are proved again', async () => {
    const lies: { response?: () => Response } = {}
    const { identifier, warnings } = await open(lies)
    for (let i = 0; i < 2; i++) {
      lies.response = () => new Response('', { status: 500 })
      for (let j = 0; j < 3; j++) expect((await identifier(alice.did)).status).toBe(503)
      delete lies.response
      for (let j = 0; j < 2; j++) expect((await identifier(alice.did)).status).toBe(200)
    }
    const [away, back] = [{ failure: 'unreachable' }, {}]
    expect(warnings).toMatchObject([away, back, away, back])
    expect(warnings).toHaveLength(4)
  })
})

describe('JSON-RPC over a light resolver', () => {
  it.each(['resolvedid', 'did_resolveDID'])('answers %s with what is proved', async (method) => {
    const { rpc } = await open()
    const { result } = await rpc(method, { did: alice.did })
    expect(result).toMatchObject({ did: alice.did, status: 0, transaction: [{ txid: versions[2] }], proved })
    const all = await rpc(method, { did: alice.did.slice('did:ledger:'.length), all: true }, '/')
    expect(all.result.transaction.map(({ txid }: Json) => txid)).toEqual([...versions].reverse())
    const first = await rpc(method, { did: alice.did, versionId: versions[0] })
    expect(first.result).toMatchObject({ status: 0, transaction: [{ txid: versions[0] }] })
  })

  it('answers did_resolveCredential', async () => {
    const { rpc } = await open()
    expect((await rpc('did_resolveCredential', { id: kept })).result).toMatchObject({ id: kept, status: 0, proved })
    expect((await rpc('did_resolveCredential', { id: revoked })).result).toMatchObject({ status: 2, proved })
    const unknown = { id: `${alice.did}#none`, issuer: bob.did }
    expect((await rpc('did_resolveCredential', unknown)).result).toMatchObject({ status: 3, proved })
  })

  it.each<[string, Lies]>([
    ['answer-transaction', { answer: ({ proof }, { did }) => ({ ...book.answer(did, { height: 3 }), proof }) }],
    ['path-root', { answer: ({ proof: { anchor } }, { did }) => withAnchor(book.answer(did, { height: 3 }), anchor) }],
    ['answer-did', { answer: () => book.answer(bob.did) }],
    ['unreachable', { response: () => new Response('', { status: 500 }) }],
  ])('names the failure %s', async (failure, lies) => {
    const { rpc } = await open(lies)
    const { result, error } = await rpc('resolvedid', { did: alice.did })
    expect(result).toBeUndefined()
    expect(error).toMatchObject({ code: -32013, data: expect.stringMatching(`^${failure}: `) })
  })

  const mistyped = alice.did.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'))
  it.each<[string, string, unknown, number, string]>([
    ['another method', 'getblockcount', {}, -32601, 'there is no method'],
    ['a part of a history', 'resolvedid', { did: alice.did, all: true, skip: 1 }, -32602, 'skip: unexpected property'],
    ['no DID', 'resolvedid', {}, -32602, 'did: missing'],
    ['a wrong identifier', 'resolvedid', { did: 'did:other:x' }, -32602, 'did: neither'],
    ['a mistyped one', 'resolvedid', { did: mistyped }, -32602, 'did: no DID can have this identifier'],
    ['that of a credential', 'did_resolveCredential', { id: `${mistyped}#x` }, -32602, 'id: no DID can have'],
    [
      'that of an issuer',
      'did_resolveCredential',
      { id: `${alice.did}#x`, issuer: mistyped },
      -32602,
      'issuer: no DID',
    ],
    [
      'a version that is none',
      'resolvedid',
      { did: alice.did, versionId: 'x' },
      -32602,
      'versionId: a version is a txid',
    ],
    [
      'all, and a version',
      'resolvedid',
      { did: alice.did, all: true, versionId: versions[0] },
      -32602,
      'versionId: only',
    ],
    ['a list', 'did_resolveDID', [{ did: alice.did }], -32602, 'params: an object is needed'],
    ['a credential’s name alone', 'did_resolveCredential', { id: '#x' }, -32602, 'id: not did:ledger'],
    ['an issuer that is none', 'did_resolveCredential', { id: kept, issuer: '' }, -32602, 'issuer: 1 to 256'],
  ])('refuses %s', async (_, method, params, code, said) => {
    const { rpc } = await open()
    expect((await rpc(method, params)).error).toMatchObject({ code, data: expect.stringContaining(said) })
  })

  it('shows a contradiction in the log once, however often it is asked', async () => {
    const { rpc, warnings } = await open()
    await rpc('resolvedid', { did: alice.did })
    const { block, confirm } = book.page(book.tip.height)
    book.pop()
    try {
      book.make({ padding: 7 })
      for (let i = 0; i < 3; i++) {
        expect((await rpc('resolvedid', { did: alice.did })).error.data).toMatch(/^fork: /)
      }
    } finally {
      book.pop()
      book.push(block, confirm)
    }
    expect(warnings.map(({ failure, evidence }) => [failure, evidence !== undefined])).toEqual([
      ['fork', true],
      ['fork', false],
      ['fork', false],
    ])
  })

  it('refuses what is no call, in its own form', async () => {
    const { server, get } = await open()
    const broken = await ask(server.port, '/rpc', { method: 'POST', body: '{' })
    expect(JSON.parse(broken.text)).toMatchObject({ error: { code: -32700 } })
    expect((await get('/rpc')).status).toBe(405)
    expect((await get('/rpc')).headers['allow']).toBe('POST')
    expect((await get('/api/v1/block/height')).status).toBe(404)
  })
})

describe('the health of a light resolver', () => {
  it('is good while answers are proved', async () => {
    const { get } = await open()
    for (const path of ['/healthz', '/readyz']) expect((await get(path)).status).toBe(200)
  })

  it('says which failure it meets, and no address', async () => {
    const { get } = await open({ answer: () => ({}) })
    expect((await get('/healthz')).status).toBe(200)
    const { status, text } = await get('/readyz')
    expect([status, JSON.parse(text)]).toEqual([503, { status: 'unproved', reason: 'proof-missing' }])
  })
})

/** An answer as of another block. */
function withAnchor(answer: Json, anchor: Json): Json {
  return { ...answer, proof: { ...answer.proof, anchor } }
}

describe('a light resolver as a service', () => {
  it('refuses the status of another block beside an earlier version', async () => {
    const older = (_: Json, asked: Json) => book.answer(asked.did, asked.height === undefined ? asked : { height: 3 })
    const { rpc, identifier } = await open({ answer: older })
    const { error } = await rpc('resolvedid', { did: alice.did, versionId: versions[0] })
    expect(error.data).toMatch(/^answer-height: /)
    const { status } = await identifier(`${alice.did}?versionId=${versions[0]}`)
    expect(status).toBe(500)
  })

  it('is not stopped by an issuer that a client names, where one node is behind', async () => {
    const behind: Lies = {
      answer: (_, asked) =>
        asked.did === undefined
          ? book.credential(asked.id, { ...asked, height: 3 })
          : book.answer(asked.did, { ...asked, height: Math.min(asked.height ?? 3, 3) }),
    }
    const fetch = lightServers({ one: { book, lies: behind }, two: { book } })
    const servers = ['http://one', 'http://two']
    const { rpc } = await open({}, { servers, fetch, maxAge: 1e9, needed: 2 })
    for (const issuer of [undefined, alice.did, bob.did, carol.did]) {
      const { result } = await rpc('did_resolveCredential', { id: kept, ...(issuer !== undefined && { issuer }) })
      expect(result).toMatchObject({ status: 0, proved: { servers } })
    }
    expect((await rpc('resolvedid', { did: alice.did })).result).toMatchObject({ status: 0 })
  })
})
