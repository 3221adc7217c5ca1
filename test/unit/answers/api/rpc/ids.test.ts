import fc from 'fast-check'
import { expect, test } from 'vitest'
import { numericId, numericIds } from '../../../../../src/answers/api/rpc/ids.js'

test.each([
  ['digits beyond 2^53', '{"id":9007199254740993}', '9007199254740993'],
  ['an exponent', '{"id":1e3}', '1e3'],
  ['an exponent with a sign', '{"id":1E+3}', '1E+3'],
  ['more than a double holds', '{"id":1E400}', '1E400'],
  ['minus zero', '{"id":-0}', '-0'],
  ['decimals', '{"id":1.0}', '1.0'],
  ['a negative exponent', '{"id":-1.5e-3}', '-1.5e-3'],
  ['a thousand digits', `{"id":${'7'.repeat(1000)}}`, '7'.repeat(1000)],
  ['white space', ' \n{ \t"id"\r\n :\n 7 \t} ', '7'],
  ['an id in params', '{"params":{"id":1,"x":[{"id":2}]},"id":3,"more":{"id":4}}', '3'],
  ['only an id in params', '{"params":{"id":1}}', undefined],
  ['an escaped name', '{"\\u0069d":5}', '5'],
  ['a name escaped in full, in capitals', '{"\\u0069\\u0064":5,"\\u0049d":6}', '5'],
  ['names that only end or begin alike', '{"id ":1,"xid":2,"\\"id":3,"id\\\\":4}', undefined],
  ['the last of two', '{"id":1,"id":2}', '2'],
  ['the last of two, one escaped', '{"id":1,"\\u0069d":2}', '2'],
  ['a text after a number', '{"id":1,"id":"2"}', undefined],
  ['a number after a text', '{"id":"1","id":2}', '2'],
  ['a text that looks like a member', '{"x":"\\"id\\":1,","id":2,"y":",\\"id\\":3"}', '2'],
  ['texts that end with backslashes', '{"x":"\\\\","id":2,"y":"\\\\\\"id\\":3"}', '2'],
  ['the value id', '{"x":"id","y":1}', undefined],
  ['brackets in texts', '{"x":"[{","id":2,"y":"}]"}', '2'],
  ['a list as id', '{"id":[1]}', undefined],
])('one request: %s', (_, json, id) => {
  expect(numericIds(json)).toEqual([id])
  const parsed = (JSON.parse(json) as { id?: unknown }).id
  if (typeof parsed === 'number') expect(numericId(json, parsed)).toBe(id)
})

test('the requests of a batch have an id each', () => {
  const json = '[{"id":1.0,"params":[1,2,{"id":9}]},7,"id",{"x":1},[{"id":8},{"id":8}],{"id":"x"},{"x":[],"id":-0}]'
  expect(numericIds(json)).toEqual(['1.0', undefined, undefined, undefined, undefined, undefined, '-0'])
})

test('nesting takes no stack', () => {
  const deep = '['.repeat(500_000) + ']'.repeat(500_000)
  expect(numericIds(`{"params":${deep},"id":9007199254740993}`)).toEqual(['9007199254740993'])
})

test('for every JSON it finds the number that parsing finds', () => {
  const name = fc.constantFrom('id', 'i', '"id":1', '\\', '__proto__')
  const { request } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, fc.integer(), fc.double(), fc.string(), name, tie('request'), tie('list')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    request: fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  }))
  const body = fc.oneof(request, fc.array(request, { minLength: 1, maxLength: 4 }))
  fc.assert(
    fc.property(body, fc.constantFrom(undefined, 1), (value, indent) => {
      const json = JSON.stringify(value, undefined, indent)
      const parsed: unknown = JSON.parse(json)
      const requests = (Array.isArray(parsed) ? parsed : [parsed]) as { id?: unknown }[]
      const numbers = requests.map(({ id }) => (typeof id === 'number' ? id : undefined))
      const [first] = numbers
      if (!Array.isArray(parsed) && first !== undefined) expect(Number(numericId(json, first))).toBe(first)
      expect(numericIds(json).map((id) => (id === undefined ? undefined : Number(id)))).toEqual(numbers)
    }),
    { numRuns: 1000 },
  )
})

test.each([
  ['as programs write it', '{"jsonrpc":"2.0","id":17,"method":"x"}'],
  ['with a space', '{"jsonrpc": "2.0", "id": 17, "method": "x"}'],
  ['at the end', '{"method":"x","id":17}'],
  ['beside a text that is its name', '{"method":"id","id":17}'],
  ['beside a text with a quote', '{"method":"\\"","id":17}'],
  ['with a number in its place in params', '{"params":{"id":17},"\\u0069d":17}'],
  ['with a digit more', '{"id":170}'],
  ['with decimals', '{"id":17.0}'],
  ['with an exponent', '{"id":17e0}'],
])('the id of one request: %s', (_, json) => {
  const { id } = JSON.parse(json) as { id: number }
  expect(numericId(json, id)).toBe(numericIds(json)[0])
})
