import { expect, test } from 'vitest'
import { urlHost } from '../../../src/node/url-host.js'

const both = () => ['127.0.0.1', '192.0.2.7', '::1']

test.each([
  [[], '127.0.0.1'],
  [['0.0.0.0'], '127.0.0.1'],
  [['::', '10.0.0.1'], '[::1]'],
  [['[::]'], '[::1]'],
  [['[::1]'], '[::1]'],
  [['2001:db8::1'], '[2001:db8::1]'],
  [['node.example'], 'node.example'],
])('the first of %j is %s in a URL', (hosts, host) => {
  expect(urlHost(hosts, both)).toBe(host)
})

test.each([['::'], ['[::]']])('%s is reached over IPv4 where IPv6 is switched off', (host) => {
  expect(urlHost([host], () => ['127.0.0.1', '172.17.0.2'])).toBe('127.0.0.1')
})

test('the addresses are those of this machine', () => {
  expect(['[::1]', '127.0.0.1']).toContain(urlHost(['::']))
})
