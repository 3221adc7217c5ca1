import { expect, it } from 'vitest'
import { headerToken } from '../../../../src/base/runtime/header-token.js'

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`

it.each([
  ['Bearer abc', 'abc'],
  ['bearer  abc ', 'abc'],
  [basic('any:abc'), 'abc'],
  [basic(':a:b'), 'a:b'],
  [basic('any:'), ''],
  [basic('abc'), ''],
  ['Basic !', ''],
  ['Digest abc', ''],
  ['Bearer', ''],
  ['Bearer a b', ''],
  ['', ''],
])('the token of %j is %j', (header, token) => {
  expect(headerToken(header)).toBe(token)
})
