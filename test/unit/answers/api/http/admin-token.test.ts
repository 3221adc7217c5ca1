import { networkInterfaces } from 'node:os'
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Access } from '../../../../../src/answers/api/http/access.js'
import { accessDefaults } from '../../../../../src/answers/api/http/access-options.js'
import { adminRefusal } from '../../../../../src/answers/api/http/admin-token.js'
import type { ApiServer } from '../../../../../src/answers/api/servers/node-server.js'
import { hex, toHex } from '../../../../../src/base/primitives/bytes.js'
import { ask, contextOf, serve } from '../../../../support/client/api.js'
import { TestChain } from '../../../../support/builders/chain.js'

const token = hex('0123456789abcdef'.repeat(4))
const right = `Bearer ${toHex(token)}`
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`
const wrong: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['another token', `Bearer ${'f'.repeat(64)}`],
  ['the token and more', `${right}0`],
  ['half of it', right.slice(0, 40)],
  ['it in capitals', `Bearer ${toHex(token).toUpperCase()}`],
  ['the token alone', toHex(token)],
  ['another scheme', `Digest ${toHex(token)}`],
  ['the token where Basic has user and password', `Basic ${toHex(token)}`],
  ['the token as user', basic(`${toHex(token)}:`)],
  ['the token without a user', basic(toHex(token))],
  ['another password', basic(`user:${'f'.repeat(64)}`)],
  ['what ela-cli sends without a configuration', 'Basic Og=='],
  ['a scheme alone', 'Bearer'],
  ['letters of another alphabet', 'Bearer é'],
  ['a very long one', `Bearer ${'0'.repeat(10_000)}`],
  ['two tokens', `${right}, ${right}`],
]

describe('strangerRefusal', () => {
  const access = new Access(accessDefaults, token)

  test('asks those elsewhere for the token', () => {
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      expect(access.strangerRefusal({ headers: {}, address })).toBeUndefined()
    }
    for (const address of ['192.0.2.1', undefined]) {
      expect(access.strangerRefusal({ headers: {}, address })).toContain('admin.token')
      expect(access.strangerRefusal({ headers: { authorization: right }, address })).toBeUndefined()
    }
  })

  test('refuses pages of other sites, on this machine and with the token too', () => {
    const headers = { origin: 'https://example.org', host: '127.0.0.1:20336', authorization: right }
    expect(access.strangerRefusal({ headers, address: '127.0.0.1' })).toContain('another site')
  })
})

describe('elsewhereRefusal', () => {
  const proxied = new Access({ ...accessDefaults, trustedProxies: ['127.0.0.1'] }, token)

  test('lets programs of this machine pass', () => {
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      expect(new Access(accessDefaults, token).elsewhereRefusal({ headers: {}, address })).toBeUndefined()
    }
    expect(proxied.elsewhereRefusal({ headers: {}, address: '127.0.0.1' })).toBeUndefined()
  })

  test('refuses others, with the token and through a proxy of this machine too', () => {
    const access = new Access(accessDefaults, token)
    for (const address of ['192.0.2.1', '::ffff:192.0.2.1', undefined]) {
      expect(access.elsewhereRefusal({ headers: { authorization: right }, address })).toContain('on the machine')
    }
    const headers = { 'x-forwarded-for': '127.0.0.1, 192.0.2.1' }
    expect(proxied.elsewhereRefusal({ headers, address: '127.0.0.1' })).toContain('on the machine')
  })
})

describe('adminRefusal', () => {
  test('takes the token', () => {
    for (const authorization of [right, `bearer ${toHex(token)}`, `BEARER  ${toHex(token)} `]) {
      expect(adminRefusal(token, { authorization })).toBeUndefined()
    }
  })

  test('takes it as the password of any user', () => {
    for (const user of ['', 'ela', 'é', 'a b']) {
      expect(adminRefusal(token, { authorization: basic(`${user}:${toHex(token)}`) })).toBeUndefined()
    }
    expect(adminRefusal(token, { authorization: basic(`:${toHex(token)}`).replace('Basic', 'basic ') })).toBeUndefined()
  })

  test.each(wrong)('refuses %s and names the file and both forms', (_, authorization) => {
    expect(adminRefusal(token, { authorization })).toMatch(
      /admin\.token .*Authorization: Bearer <token>.*password of Basic/,
    )
  })

  test('refuses who shows none, and everybody where there is none', () => {
    expect(adminRefusal(token, {})).toMatch(/admin\.token .*Authorization: Bearer <token>.*password of Basic/)
    expect(adminRefusal(undefined, { authorization: right })).toBeDefined()
    expect(adminRefusal(undefined, { authorization: 'Bearer undefined' })).toBeDefined()
  })
})

/** An address of this machine that is not loopback; undefined where it has none. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((found) => found?.family === 'IPv4' && !found.internal)?.address

describe('over HTTP', () => {
  let node: TestChain
  let server: ApiServer
  let reached: string | undefined

  beforeAll(async () => {
    node = await TestChain.open()
    const log = { ...node.log, setLevel: (level: string) => (reached = level) }
    server = await serve(contextOf(node, { adminToken: token, log }), { hosts: ['0.0.0.0'] })
  })
  afterAll(async () => {
    await server.close()
    await node.close()
  })

  const setLevel = (headers: Record<string, string>) =>
    ask(server.port, '/rpc', {
      method: 'POST',
      headers,
      body: '{"jsonrpc":"2.0","id":7,"method":"setloglevel","params":{"level":"debug"}}',
    })
  const json = { 'content-type': 'application/json' }
  const restart = (headers: Record<string, string>, host = '127.0.0.1') =>
    new Promise<[number | undefined, unknown]>((resolve, reject) => {
      const options = { host, port: server.port, path: '/api/v1/restart', method: 'POST', headers, agent: false }
      const request = httpRequest(options, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve([response.statusCode, JSON.parse(text)]))
      })
      request.on('error', reject)
      request.end()
    })

  test('an admin method takes the token', async () => {
    reached = undefined
    const answer = await setLevel({ ...json, authorization: right })
    expect([answer.status, answer.body]).toEqual([200, { id: 7, jsonrpc: '2.0', result: 'debug' }])
    expect(reached).toBe('debug')
  })

  test.each<[string, Record<string, string>, RegExp]>([
    ['no token', json, /admin\.token/],
    ['a wrong one', { ...json, authorization: `Bearer ${'f'.repeat(64)}` }, /admin\.token .*Bearer <token>.*Basic/],
    ['what ela-cli sends', { ...json, authorization: 'Basic Og==' }, /admin\.token .*Bearer <token>.*Basic/],
    ['another content type', { 'content-type': 'text/plain', authorization: right }, /application\/json/],
    ['a page of another site', { ...json, authorization: right, 'sec-fetch-site': 'cross-site' }, /another site/],
  ])('it refuses %s', async (_, headers, reason) => {
    reached = undefined
    const answer = await setLevel(headers)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ id: 7, error: { code: -32010, data: expect.stringMatching(reason) } })
    expect(reached).toBeUndefined()
  })

  test.runIf(outside !== undefined)('REST restart takes it from elsewhere, never from a page', async () => {
    expect(await restart({}, outside)).toEqual([403, expect.objectContaining({ Error: 42003 })])
    expect(await restart({ authorization: 'Bearer 00' }, outside)).toMatchObject([403, { Error: 42003 }])
    const page = { authorization: right, 'sec-fetch-site': 'cross-site' }
    expect(await restart(page, outside)).toMatchObject([403, { Error: 42003 }])
    expect(await restart({ authorization: right }, outside)).toMatchObject([200, { Error: 0, Result: '' }])
  })
})
