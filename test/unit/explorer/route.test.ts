import { expect, it } from 'vitest'
import { linkTo, readRoute } from '../../../src/explorer/route.js'

it.each([
  ['', '', '', {}],
  ['#/', '', '', {}],
  ['#/block/7', 'block', '7', {}],
  ['#/did/did:ledger:iX?from=a&to=b', 'did', 'did:ledger:iX', { from: 'a', to: 'b' }],
  ['#/credential/did:ledger:iX%23a%2Fb', 'credential', 'did:ledger:iX#a/b', {}],
  ['#/search/%E0%A4%A', 'search', '%E0%A4%A', {}],
  ['#/tx/ab', 'transaction', 'ab', {}],
  ['#/addr/EX', 'address', 'EX', {}],
  ['#did:ledger:iX', 'search', 'did:ledger:iX', {}],
  ['#/did%3Aledger%3AiX%23a', 'search', 'did:ledger:iX#a', {}],
  [`#/${'ab'.repeat(32)}`, 'search', 'ab'.repeat(32), {}],
  ['#EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG', 'search', 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG', {}],
  ['#/7', 'search', '7', {}],
  ['#/Ada%20L%2E', 'Ada L.', '', {}],
  ['#/7/', 'search', '7', {}],
  ['#/7/a', '7', 'a', {}],
  ['#/block/7/', 'block', '7', {}],
  [`#/tx/0x${'AB'.repeat(32)}`, 'transaction', 'ab'.repeat(32), {}],
  [`#/transaction/${'ab'.repeat(32)}`, 'transaction', 'ab'.repeat(32), {}],
  [`#/block/${'AB'.repeat(32)}`, 'block', 'ab'.repeat(32), {}],
  ['#/block/7.', 'block', '7', {}],
  ['#/block/%207%0A', 'block', '7', {}],
  ['#/block/7a.', 'block', '7a.', {}],
  ['#/address/EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG%E2%80%9D,', 'address', 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG', {}],
  [`#/tx/${'ab'.repeat(32)})`, 'transaction', 'ab'.repeat(32), {}],
  ['#/did/did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc.', 'did', 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', {}],
  ['#/did/did:ledger:shop.', 'did', 'did:ledger:shop.', {}],
  [`#/did/did:ledger:e${'x'.repeat(33)}.`, 'did', `did:ledger:e${'x'.repeat(33)}.`, {}],
  [`#/${'ab'.repeat(31)}`, 'ab'.repeat(31), '', {}],
  ['#iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', 'search', 'iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', {}],
])('reads %j', (hash, page, subject, options) => {
  const route = readRoute(hash)
  expect([route.page, route.subject, Object.fromEntries(route.options)]).toEqual([page, subject, options])
})

it('a link leads to what it was made of', () => {
  const subject = 'did:ledger:iX#a/b?c&d <e>'
  const route = readRoute(linkTo('credential', subject, { q: '{"a":"&b"}', skip: 20, none: undefined }))
  expect(route).toEqual({
    page: 'credential',
    subject,
    options: new Map([
      ['q', '{"a":"&b"}'],
      ['skip', '20'],
    ]),
  })
})

it('a link is made of any text, half of a surrogate pair too', () => {
  expect(readRoute(linkTo('search', 'a\ud800b\udc00 😀')).subject).toBe('a\ufffdb\ufffd 😀')
})
