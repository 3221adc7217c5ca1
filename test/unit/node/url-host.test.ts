import { expect, test } from 'vitest'
import { urlHost } from '../../../src/node/url-host.js'

test.each([
  [[], '127.0.0.1'],
  [['0.0.0.0'], '127.0.0.1'],
  [['::', '10.0.0.1'], '[::1]'],
  [['[::]'], '[::1]'],
  [['[::1]'], '[::1]'],
  [['2001:db8::1'], '[2001:db8::1]'],
  [['node.example'], 'node.example'],
])('the first of %j is %s in a URL', (hosts, host) => {
  expect(urlHost(hosts)).toBe(host)
})
