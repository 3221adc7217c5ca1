import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { longestQuestion } from '../../../../../src/answers/api/http/kept-answers.js'
import { method } from '../../../../../src/answers/api/rpc/method.js'
import { plainParams } from '../../../../../src/answers/api/rpc/plain-params.js'

const any = Type.Optional(Type.Any())
const row = {
  name: 'm',
  summary: 's',
  params: Type.Object({ a: any, b: any, c: any }),
  result: Type.Any(),
  run: () => 0,
}
const plain = (json: string, listed = true) => plainParams(JSON.parse(json), method({ ...row, listed }))

describe('The text of plain parameters', () => {
  it.each([
    ['{"a":1,"b":"x"}', '{"b":"x","a":1}'],
    ['{"a":1,"b":"x"}', '[1,"x"]'],
    ['{"a":1}', '{"a":1,"other":{"a":[[]]},"__proto__":{"b":1}}'],
    ['{"a":1}', '{"a":2,"a":1.0}'],
    ['{}', 'null'],
    ['{}', '[]'],
    ['{"a":"\\u0041"}', '{"a":"A"}'],
  ])('is the same for %s and %s', (one, other) => {
    expect(plain(one)).toBe(plain(other))
    expect(plain(one)).not.toBe(undefined)
  })

  it('is another one for each different value and place', () => {
    const different = [
      ...[
        '{}',
        '{"a":1}',
        '{"b":1}',
        '{"a":"1"}',
        '{"a":true}',
        '{"a":"true"}',
        '{"a":[1]}',
        '{"a":[]}',
        '{"a":["1"]}',
      ],
      ...['{"a":"","b":""}', '{"a":" b \\"\\""}', '{"a":"\\" b \\""}', '{"a":1,"b":2}', '{"a":2,"b":1}', '{"a":[1,2]}'],
      ...['{"a":"\u0181"}', '{"a":"\u0081"}', '{"a":1.5}', '{"a":1e21}', '{"a":"A"}', '{"a":"a"}', '{"a":[true,1]}'],
    ]
    expect(new Set(different.map((json) => plain(json))).size).toBe(different.length)
  })

  it.each([
    ['objects', '{"a":{}}'],
    ['objects in a list', '{"a":[{}]}'],
    ['null', '{"a":null}'],
    ['null in a list', '[1,null]'],
    ['numbers beyond their range', '{"a":1e400}'],
    ['the same in a list', '{"a":[-1e400]}'],
    ['deep lists', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['more values than names', '[1,2,3,4]'],
  ])('does not exist for %s', (_, json) => {
    expect(plain(json)).toBe(undefined)
  })

  it('does not exist for a list where a method takes none', () => {
    expect(plain('[1]', false)).toBe(undefined)
    expect(plain('{"a":1}', false)).toBe(plain('{"a":1}'))
  })

  it('exists for texts and lists of bounded length', () => {
    const text = (length: number) => JSON.stringify({ a: 'x'.repeat(length) })
    const list = (length: number) => JSON.stringify({ a: Array.from({ length }, () => 1) })
    expect([plain(text(longestQuestion)), plain(text(longestQuestion + 1))]).toEqual([expect.any(String), undefined])
    expect([plain(list(100)), plain(list(101))]).toEqual([expect.any(String), undefined])
  })
})
