import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { fromBase64url, fromUtf8, toBase64url, utf8 } from '../../../src/base/primitives/bytes.js'
import { requireServices } from '../../../src/clients/wallet/core-members.js'
import { keysOf } from '../../../src/explorer/did/key-uses.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { lightIn } from '../../support/builders/light-scene.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'

/** Documents with services that are made to hurt readers, on a chain, and every answer about them. */

let test: TestChain
let server: ApiServer
beforeAll(async () => {
  test = await TestChain.open(oneValidator())
})
afterAll(async () => {
  await server?.close()
  await test.close()
})

const nested = (depth: number): string => (depth === 0 ? '"https://deep.example"' : `{"a":${nested(depth - 1)}}`)
const service = (id: string, endpoint: string, more = '') =>
  `{"id":"#${id}","type":"T","serviceEndpoint":${endpoint}${more}}`
/** JSON texts: an object literal would set a prototype. */
const hostile = {
  prototypes: service(
    'proto',
    '{"__defineGetter__":{"valueOf":{"polluted":"yes"}},"toString":"https://x.example","uri":"https://x.example"}',
    ',"toJSON":{"polluted":"yes"},"hasOwnProperty":1',
  ),
  list: service('list', `[${Array.from({ length: 32 }, (_, i) => `{"__lookupGetter__":{"n":${i}}}`).join(',')}]`),
  relative: service('relative', '"../elsewhere"'),
  mixed: service('mixed', '["//no-scheme.example","javascript:alert(1)","https://ok.example","not a uri"]'),
  // The document, its list of services and the service take three of the 16 levels.
  deep: service('deep', nested(13)),
}
const many = Array.from({ length: 240 }, (_, i) =>
  service(`many${i}`, `[${Array.from({ length: 12 }, (_, n) => `"https://${i}-${n}.example"`).join(',')}]`),
)

describe('services that are made to hurt readers', () => {
  const ada = holder()
  const bob = holder()
  let created: string

  beforeAll(async () => {
    created = await test.publish(ada.create({ services: Object.values(hostile) }), ada.did)
    await test.publish(bob.create({ services: many }), bob.did)
    await test.mine(2)
    server = await serve(contextOf(test))
  })

  const rpc = async (method: string, params: object) =>
    (await askJson(server.port, '/', { id: 1, method, params })).body as { result?: never; error?: { code: number } }

  it('are answered by the contract as they were published', async () => {
    const { result } = await rpc('resolvedid', { did: ada.did, all: false })
    const { transaction } = result as unknown as { transaction: { txid: string; operation: { payload: string } }[] }
    expect(transaction[0]?.txid).toBe(created)
    const text = utf8(fromBase64url(transaction[0]?.operation.payload ?? '')) ?? ''
    expect(text).toContain('"toJSON":{"polluted":"yes"}')
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('stand in the form of the W3C as data, without what is no URI', async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/1.0/identifiers/${ada.did}`)
    const text = await response.text()
    expect(text).toContain('"toJSON":{"polluted":"yes"}')
    const { didDocument } = JSON.parse(text) as {
      didDocument: { service: { id: string; serviceEndpoint: unknown }[] }
    }
    const byName = new Map(didDocument.service.map(({ id, serviceEndpoint }) => [id.split('#')[1], serviceEndpoint]))
    expect([...byName.keys()].sort()).toEqual(['deep', 'list', 'mixed', 'proto'])
    expect(byName.get('mixed')).toEqual(['javascript:alert(1)', 'https://ok.example'])
    expect(Object.keys(byName.get('proto') as object).sort()).toEqual(['__defineGetter__', 'toString', 'uri'])
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    // An address that a browser would run is no redirect.
    const { status } = await ask(server.port, `/1.0/identifiers/${ada.did}?service=mixed`)
    expect(status).toBeLessThan(500)
    const redirect = await fetch(`http://127.0.0.1:${server.port}/1.0/identifiers/${ada.did}?service=mixed`, {
      redirect: 'manual',
      headers: { accept: 'text/uri-list' },
    })
    expect(redirect.headers.get('location') ?? '').not.toMatch(/^javascript:/)
  })

  it('are proved, and read by a light resolver and by what the pages show', async () => {
    const light = lightIn({ server, book: await bookOf(test) })
    for (const one of [ada, bob]) {
      const { status, transaction = [] } = await light.resolve(one.did)
      expect([status, transaction.length]).toEqual([0, 1])
      const document = JSON.parse(utf8(fromBase64url(transaction[0]?.operation.payload ?? '')) ?? '') as never
      expect(keysOf(document).length).toBe(2)
    }
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('are searched by paths that are no prototypes', async () => {
    const total = async (query: string) => {
      const { result, error } = await rpc('query', { query, skip: 0, limit: 0 })
      return error?.code ?? (result as unknown as { total: number }).total
    }
    expect(await total('{"service":{"serviceEndpoint":"https://7-3.example"}}')).toBe(1)
    expect(await total('{"service.serviceEndpoint.uri":"https://x.example"}')).toBe(1)
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      expect(await total(`{"service.serviceEndpoint.${name}.polluted":"yes"}`)).toBe(-32602)
    }
    expect(await total(`{"service.serviceEndpoint.toString":"https://x.example"}`)).toBe(1)
    expect(await total(`{"service.serviceEndpoint.valueOf":{"$exists":true}}`)).toBe(0)
  })

  it.each([
    ['in the service', service('s', '"https://x.example"', ',"__proto__":{"polluted":"yes"}')],
    ['in an endpoint', service('s', '{"__proto__":{"polluted":"yes"}}')],
    ['in a list of endpoints', service('s', '[{"a":{"__proto__":"https://x.example"}}]')],
    ['or a constructor', service('s', '{"a":{"constructor":{"prototype":{"polluted":"yes"}}}}')],
    ['or a prototype', service('s', '"https://x.example"', ',"prototype":{}')],
    ['with its underscores escaped', service('s', '{"\\u005f_proto__":{"polluted":"yes"}}')],
  ])('are refused by pool and block with a __proto__, %s', async (_, text) => {
    const cyd = holder()
    const operation = cyd.create({ services: [service('s', '"https://x.example"')] })
    const payload = utf8(fromBase64url(operation.payload)) ?? ''
    const [own = ''] = /\{"id":"[^"]*#s"[^}]*\}/.exec(payload) ?? []
    expect(own).not.toBe('')
    const changed = { ...operation, payload: toBase64url(fromUtf8(payload.replace(own, () => text))) }
    const carried = await test.carry(changed, cyd.did)
    const accepting = test.accept(craftBlock(test.chain, { transactions: [carried] }))
    await expect(accepting).rejects.toMatchObject({ code: 'json-name' })
    await expect(test.send(carried)).rejects.toMatchObject({ code: 'json-name' })
  })

  it('are refused one level deeper, and by wallets where they are no URI', async () => {
    const cyd = holder()
    expect(() => cyd.create({ services: [service('deep', nested(14))] })).toThrow(/deep/)
    for (const text of [hostile.relative, hostile.mixed]) {
      expect(() => requireServices([JSON.parse(text)])).toThrow(/URI/)
    }
  })
})
