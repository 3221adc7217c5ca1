import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, test } from 'vitest'
import { Access } from '../../../../../src/answers/api/http/access.js'
import { accessDefaults, type AccessOptions } from '../../../../../src/answers/api/http/access-options.js'
import { shareOf } from '../../../../../src/answers/api/http/client-share.js'
import { hostRefusal } from '../../../../../src/answers/api/http/origin.js'
import { UserError } from '../../../../../src/base/errors/rule-error.js'
import { hex, toHex } from '../../../../../src/base/primitives/bytes.js'
import { type Answer, ask, contextOf, serve } from '../../../../support/client/api.js'
import { TestChain } from '../../../../support/builders/chain.js'

const token = hex('0123456789abcdef'.repeat(4))
const authorization = `Bearer ${toHex(token)}`
const accessOf = (options: Partial<AccessOptions> = {}) => new Access({ ...accessDefaults, ...options }, token)

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close()
})

describe('Host', () => {
  test.each([
    ['localhost', true],
    ['LOCALHOST:20334', true],
    ['localhost.:20334', true],
    ['node.localhost', true],
    ['127.0.0.1:1', true],
    ['127.9.9.9', true],
    ['[::1]:20334', true],
    ['node.example:20334', true],
    ['evil.example', false],
    ['localhost.evil.example', false],
    ['127.0.0.1.evil.example', false],
    ['192.168.1.1', false],
    ['', false],
    ['a b', false],
  ])('%s changes a node on this machine: %s', (host, allowed) => {
    expect(hostRefusal({ host }, ['node.example']) === undefined).toBe(allowed)
    const access = accessOf({ hostNames: ['Node.Example'] })
    expect(access.strangerRefusal({ headers: { host }, address: '127.0.0.1' }) === undefined).toBe(allowed)
    // The token of the owner does not make the name another.
    expect(access.controlRefusal({ headers: { host, authorization }, address: '::1' }) === undefined).toBe(allowed)
  })

  it('is not asked of those who come from elsewhere and are no browser', () => {
    const request = { headers: { host: 'any.example', authorization }, address: '192.0.2.1' }
    expect(accessOf().strangerRefusal(request)).toBeUndefined()
  })
})

test.each([
  ['münchen.example', 'xn--mnchen-3ya.example'],
  ['node.example.', 'node.example'],
  ['[2001:db8::1]', '[2001:db8::1]:80'],
  ['2001:0db8:0:0::1', '[2001:db8::1]'],
])('a configured name is the one in Host, however it is written: %s', (name, host) => {
  const request = { headers: { host }, address: '127.0.0.1' }
  expect(accessOf({ hostNames: [name] }).strangerRefusal(request)).toBeUndefined()
  expect(accessOf({ hostNames: ['other.example'] }).strangerRefusal(request)).toContain('api.hostNames')
})

test.each([
  ['[::ffff:127.0.0.1]', true],
  ['[::ffff:7f00:1]', true],
  ['[::ffff:8000:1]', false],
])('an address of IPv4 within IPv6 is this machine: %s, %s', (host, own) => {
  expect(accessOf().strangerRefusal({ headers: { host }, address: '127.0.0.1' }) === undefined).toBe(own)
})

describe('restart by GET', () => {
  it('takes the token where a page may be behind it', () => {
    const headers = { host: 'localhost:20334' }
    const page = { ...headers, origin: 'http://localhost:20334' }
    const address = '127.0.0.1'
    const access = accessOf()
    for (const method of ['GET', 'HEAD']) {
      expect(access.strangerRefusal({ method, headers, address })).toBeUndefined()
      expect(access.strangerRefusal({ method, headers: page, address })).toContain('admin.token')
      expect(access.strangerRefusal({ method, headers: { ...page, authorization }, address })).toBeUndefined()
    }
    expect(access.strangerRefusal({ method: 'POST', headers: page, address })).toBeUndefined()
  })
})

describe('shares', () => {
  test.each([
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.5', 'loopback'],
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
    ['2001:0DB8:0:1::1', '2001:db8:0:1::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::2', '0:0:0:0::/64'],
  ])('%s counts as %s', (address, share) => {
    expect(shareOf(address)).toBe(share)
  })
})

describe('behind a proxy', () => {
  const from = (address: string, headers: Record<string, string>, options: Partial<AccessOptions> = {}) =>
    accessOf({ trustedProxies: ['10.0.0.0/8', '127.0.0.1', '2001:db8::/32'], ...options }).clientAddress({
      headers,
      socket: { remoteAddress: address },
    })

  test.each([
    ['10.1.2.3', '192.0.2.1', '192.0.2.1'],
    ['10.1.2.3', '203.0.113.9, 192.0.2.1', '192.0.2.1'],
    ['10.1.2.3', '127.0.0.1, 192.0.2.1, 10.9.9.9', '192.0.2.1'],
    ['10.1.2.3', '192.0.2.1:4711', '192.0.2.1'],
    ['10.1.2.3', '[2001:db9::1]:4711', '2001:db9::1'],
    ['2001:db8::5', '2001:db9::1', '2001:db9::1'],
    ['10.1.2.3', 'nonsense', '10.1.2.3'],
    ['10.1.2.3', '192.0.2.1, nonsense', '10.1.2.3'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['10.1.2.3', '10.4.4.4', '10.4.4.4'],
    ['10.1.2.3', '10.5.5.5, 10.4.4.4', '10.5.5.5'],
    ['10.1.2.3', 'unknown, 10.4.4.4', '10.4.4.4'],
    ['192.0.2.8', '198.51.100.1', '192.0.2.8'],
  ])('%s saying %s is the client %s', (address, header, client) => {
    expect(from(address, { 'x-forwarded-for': header })).toBe(client)
  })

  it('reads the header that is configured, Forwarded too', () => {
    const forwarded = 'for=203.0.113.9;proto=http, by=10.0.0.1;For="[2001:db9::1]:4711"'
    expect(from('10.1.2.3', { forwarded }, { clientHeader: 'Forwarded' })).toBe('2001:db9::1')
    expect(from('10.1.2.3', { 'x-real-ip': '192.0.2.1' }, { clientHeader: 'X-Real-IP' })).toBe('192.0.2.1')
    expect(from('10.1.2.3', { 'x-forwarded-for': '192.0.2.1' }, { clientHeader: 'x-real-ip' })).toBe('10.1.2.3')
  })

  test.each([
    'host="a;for=203.0.113.9";for=192.0.2.1',
    'host="a,for=203.0.113.9";for=192.0.2.1',
    'for=192.0.2.1;by="a, b"',
    'host="\\";for=203.0.113.9;x=\\"";for=192.0.2.1',
    'host="a, for=192.0.2.1;host="b, for=203.0.113.9"',
    'for=192.0.2.1;host="a\\"',
  ])('Forwarded: %s is the client 192.0.2.1, whatever host the client sends', (forwarded) => {
    expect(from('10.1.2.3', { forwarded }, { clientHeader: 'forwarded' })).toBe('192.0.2.1')
  })

  it('nothing is of this machine', () => {
    const access = accessOf({ trustedProxies: ['10.0.0.1'] })
    const request = { headers: { host: 'localhost' }, address: '127.0.0.1' }
    expect(access.isLocal('127.0.0.1')).toBe(false)
    expect(access.strangerRefusal(request)).toContain('admin.token')
    expect(access.strangerRefusal({ ...request, headers: { ...request.headers, authorization } })).toBeUndefined()
  })

  test.each(['10.0.0', '10.0.0.0/33', '::/129', 'proxy.example', '10.0.0.1/x', ''])('%j is no proxy', (proxy) => {
    expect(() => accessOf({ trustedProxies: [proxy] })).toThrow(UserError)
  })

  /** A proxy as a client of node:http, which says from where its own client came. */
  async function proxyTo(port: number, client: () => string): Promise<Server> {
    const proxy = createServer((incoming, outgoing) => {
      const headers = { ...incoming.headers, 'x-forwarded-for': client() }
      const { method, url: path } = incoming
      const passed = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(outgoing)
      })
      incoming.pipe(passed)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    opened.push({ close: () => new Promise((resolve) => proxy.close(resolve)) })
    return proxy
  }

  it('each client has its own rate, and only the token restarts', async () => {
    const node = await TestChain.open()
    opened.push(node)
    const access = { trustedProxies: ['127.0.0.1'], hostNames: ['node.example'] }
    const server = await serve(contextOf(node, { adminToken: token, access, limits: { rateRequests: 2 } }))
    opened.push(server)
    let client = '192.0.2.1'
    const { port } = (await proxyTo(server.port, () => client)).address() as AddressInfo
    const height = (): Promise<Answer> => ask(port, '/api/v1/block/height')
    expect([(await height()).status, (await height()).status, (await height()).status]).toEqual([200, 200, 429])
    client = '192.0.2.2'
    expect((await height()).status).toBe(200)
    const restart = (headers: Record<string, string>) => ask(port, '/api/v1/restart', { method: 'POST', headers })
    client = '127.0.0.1'
    expect((await restart({})).status).toBe(403)
    expect((await restart({ host: 'other.example', authorization })).status).toBe(403)
    client = '192.0.2.3'
    expect((await restart({ host: 'node.example', authorization })).status).toBe(200)
  })
})
