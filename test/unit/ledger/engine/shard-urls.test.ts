import { Value } from '@sinclair/typebox/value'
import { describe, expect, it } from 'vitest'
import { shardUrls } from '../../../../src/ledger/engine/shard-urls.js'

const urls = (count: number) => Array.from({ length: count }, (_, i) => `postgres://db/${i}`)
const long = (length: number) => 'postgres://db/'.padEnd(length, 'a')

describe('the URLs of shards', () => {
  it.each([
    ['one', urls(1)],
    ['as many as there are slots', urls(1024)],
    ['the longest', [long(2048)]],
    ['the other name of the scheme', ['postgresql://db/a']],
  ])('are taken: %s', (_, list) => {
    expect(Value.Check(shardUrls.schema, list)).toBe(true)
  })

  it.each([
    ['none', []],
    ['more than there are slots', urls(1025)],
    ['a longer one', [long(2049)]],
    ['the same twice', ['postgres://db/a', 'postgres://db/a']],
    ['another scheme', ['mysql://db/a']],
  ])('are refused: %s', (_, list) => {
    expect(Value.Check(shardUrls.schema, list)).toBe(false)
  })

  it('are told from the hosts of one', () => {
    expect('postgres://a,b:5433/one,postgresql://c/two'.split(shardUrls.separator)).toEqual([
      'postgres://a,b:5433/one',
      'postgresql://c/two',
    ])
  })
})
