import { expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { postgresHosts } from '../../../../src/ledger/engine/postgres-url.js'

it.each([
  ['postgres://db1/rows', [['postgres://db1/rows', 'db1']]],
  [
    'postgresql://me:word@db1:5432,db2:5433,[::1]:5434/rows?sslmode=require',
    [
      ['postgresql://me:word@db1:5432/rows?sslmode=require', 'db1:5432'],
      ['postgresql://me:word@db2:5433/rows?sslmode=require', 'db2:5433'],
      ['postgresql://me:word@[::1]:5434/rows?sslmode=require', '[::1]:5434'],
    ],
  ],
  ['postgres:///rows?host=/run/postgresql', [['postgres:///rows?host=/run/postgresql', 'the local socket']]],
])('the hosts of %s have the rest of the URL each, and names without a password', (url, hosts) => {
  expect(postgresHosts(url).map(({ url, name }) => [url, name])).toEqual(hosts)
})

it.each([
  '',
  'db1/rows',
  'mysql://me:word@db1/rows',
  'postgres://me:word@db1/rows#x',
  'postgres://me:wo rd@db1/rows',
  'postgres://me:word/word@db1/rows',
  'postgres://me:word@word@db1/rows',
  'postgres://me:word?word@db1/rows',
])('a text of another form is refused without being shown: %s', (url) => {
  expect(() => postgresHosts(url)).toThrow(UserError)
  expect(() => postgresHosts(url)).not.toThrow(/me:|wo rd/)
})
