import { describe, expect, test } from 'vitest'
import { refuseManyValues } from '../../../../../src/answers/api/http/large-body.js'
import { fromUtf8 } from '../../../../../src/base/primitives/bytes.js'

const limits = { plainBody: 20, bodyValues: 8, bodyNames: 3, bodyName: 5 }

function refusal(text: string): unknown {
  try {
    refuseManyValues(fromUtf8(text.padEnd(limits.plainBody + 1)), limits)
  } catch (error) {
    return error
  }
  return undefined
}

const because = (reason: string) =>
  expect.objectContaining({ code: 'request-too-large', message: expect.stringContaining(reason) })

test('a body of the plain size may hold anything', () => {
  expect(() => refuseManyValues(fromUtf8('['.repeat(limits.plainBody)), limits)).not.toThrow()
  expect(refusal('['.repeat(limits.plainBody + 1))).toEqual(because('values'))
})

describe('a larger one', () => {
  test.each([
    ['values', '[1,2,3,4,5,6,7,8]'],
    ['nested values', '[[[[[[[[]]]]]]]]'],
    ['marks in a text', '["a,b,c,d,e,f,g,h"]'],
    ['names', '{"a":1,"b":{"c":3}}'],
    ['no name, but a text that ends like one', '["a\\\\\\":","b\\":",":"]'],
    ['a text of names', '["{\\"a\\":{\\"b\\":{\\"c\\":{\\"d\\":1}}}}"]'],
    ['the longest name', '{"12345":"12345678901234567890"}'],
  ])('is taken with as many %s as the limits say', (_, text) => {
    expect(refusal(text)).toBeUndefined()
  })

  test.each([
    ['values', 'values', '[1,2,3,4,5,6,7,8,9]'],
    ['nested values', 'values', '[[[[[[[[[]]]]]]]]]'],
    ['marks in a text', 'values', '["a,b,c,d,e,f,g,h,i"]'],
    ['colons in a text', 'values', '["a:b:c:d:e:f:g:h:i:j"]'],
    ['names', 'names', '{"a":1,"b":2,"c":3,"d":4}'],
    ['nested names', 'names', '{"a":{"b":{"c":{"d":4}}}}'],
    ['names before white space', 'names', '{"a":1,"b" :2,"c"\t\r\n :3,"d"  :4}'],
    ['names that end with a backslash', 'names', '{"a\\\\":1,"b\\\\":2,"c\\\\":3,"d\\\\":4}'],
    ['bytes in a name', 'a name of', '{"123456":1, "other":2}'],
    ['bytes in a name with a quote', 'a name of', '{"12\\"34":1, "other":2}'],
    ['bytes in a name of two-byte characters', 'a name of', '{"äöü":1, "other":2}'],
  ])('is refused with more %s', (_, reason, text) => {
    expect(refusal(text)).toEqual(because(reason))
  })
})
