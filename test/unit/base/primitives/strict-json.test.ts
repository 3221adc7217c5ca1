import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import { canonicalJson, type JsonValue, parseStrictJson } from '../../../../src/base/primitives/strict-json.js'
import { runs } from '../../../support/builders/arbitraries.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { rounds } from '../../../support/process/thorough.js'

const limits = { depth: 16, tokens: 20_000 }
const read = (text: string) => parseStrictJson(text, limits)
const code = (text: string) => codeOf(() => read(text))

/** The same value with plain objects. */
function toPlain(value: JsonValue): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, member]) => [name, toPlain(member)]))
  return Array.isArray(value) ? value.map(toPlain) : value
}

const refused = ['__proto__', 'constructor', 'prototype']
const wellFormed = fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => !text.includes('\0'))
/** Values that the strict reader takes when JSON.stringify writes them. */
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.constantFrom(null, true, false),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n)),
    wellFormed,
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(
      wellFormed.filter((name) => !refused.includes(name)),
      tie('any'),
      { maxKeys: 4, noNullPrototype: true },
    ),
  ),
})).any

describe('parseStrictJson', () => {
  it('agrees with JSON.parse on what it accepts, however it is spaced', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t', '\r\n '), (input, space) => {
        const text = JSON.stringify(input, undefined, space)
        expect(toPlain(read(text))).toEqual(JSON.parse(text))
      }),
      runs,
    )
  })

  it('refuses what JSON.parse refuses, and never throws anything but a rule error', () => {
    const piece = fc.constantFrom(...'{}[],:"\\/ \n0123456789.-+eEtruefalsn\ud800\udc00\u0000u\ufeffé'.split(''))
    const words = fc.constantFrom('"a"', '{"a":', '[1,', 'true', 'null', '"\\u00e9"', '"\\ud83d\\ude00"', ']', '}')
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, words), { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        let strict: unknown
        try {
          strict = toPlain(read(text))
        } catch (error) {
          if (!(error instanceof RuleError) || !error.code.startsWith('json-')) throw error
          return
        }
        expect(strict).toEqual(JSON.parse(text))
      }),
      { numRuns: rounds(1500, 20_000) },
    )
  })

  it('refuses every truncation of an object', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          wellFormed.filter((name) => !refused.includes(name)),
          value,
          { maxKeys: 3 },
        ),
        (input) => {
          const text = JSON.stringify(input)
          for (let length = 0; length < text.length; length++) expect(code(text.slice(0, length))).toMatch(/^json-/)
        },
      ),
      { numRuns: rounds(100, 1000) },
    )
  })

  it.each([
    '',
    ' ',
    '{',
    '}',
    '[',
    '[1,]',
    '{"a":1,}',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    "{'a':1}",
    '{"a":1}{',
    '1 2',
    '0x10',
    '1_0',
    'nul',
    'True',
    'undefined',
    'NaN',
    '"',
    '"a',
    '"\\',
    '"\\x"',
    '"\\u12"',
    '"\\u12g4"',
    '"\t"',
    '"\n"',
    '"\u0000"',
    '\ufeff{}',
    '{}\ufeff',
    '\u00a0{}',
    '/* */{}',
    '{}//',
    '[1 2]',
    '{"a" 1}',
    '{1:2}',
    '[,]',
    '\v1',
  ])('%j is no JSON', (text) => {
    expect(code(text)).toBe('json-syntax')
    expect(() => {
      JSON.parse(text)
    }).toThrow()
  })

  it.each([
    '1.0',
    '-0',
    '1e400',
    '-1e400',
    '1e+21',
    '1e21',
    '1E2',
    '01',
    '.5',
    '5.',
    '+1',
    '-',
    '1e',
    '1e5',
    '9007199254740992',
    '-9007199254740992',
    '0.10',
    '100e-1',
    '0.0000001',
    '1.7976931348623159e308',
    '12345678901234567890',
  ])('the number %s is not in canonical form', (text) => {
    expect(code(text)).toBe('json-number')
    expect(code(`[${text}]`)).toBe('json-number')
  })

  it.each([
    '0',
    '1',
    '-1',
    '9007199254740991',
    '-9007199254740991',
    '0.1',
    '-0.5',
    '1e-7',
    '1.5e-10',
    '123456.789',
    '5e-324',
    '2.2250738585072014e-308',
  ])('the number %s is', (text) => {
    expect(read(text)).toBe(Number(text))
  })

  it('counts depth from the outermost value', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(code(nested(16))).toBeUndefined()
    expect(code(nested(17))).toBe('json-depth')
    expect(code('{"a":'.repeat(16) + '1' + '}'.repeat(16))).toBeUndefined()
    expect(code('{"a":'.repeat(17) + '1' + '}'.repeat(17))).toBe('json-depth')
    expect(code('['.repeat(1_000_000))).toBe('json-depth')
  })

  it('counts names, values and opening brackets as tokens', () => {
    const count = (text: string) => {
      let tokens = 0
      while (codeOf(() => parseStrictJson(text, { depth: 16, tokens })) === 'json-tokens') tokens++
      return tokens
    }
    expect(count('1')).toBe(1)
    expect(count('[]')).toBe(1)
    expect(count('{"a":1}')).toBe(3)
    expect(count('{"a":[true,null,"x"],"b":{}}')).toBe(8)
  })

  it.each(['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '{"x":{"":1,"":2}}'])('%s names something twice', (text) => {
    expect(code(text)).toBe('json-duplicate-name')
  })

  it('takes equal names in different objects, and names that differ only after normalisation', () => {
    expect(code('{"a":{"a":1},"b":{"a":1}}')).toBeUndefined()
    expect(code('{"\\u00e9":1,"e\\u0301":2}')).toBeUndefined()
  })

  it.each(['__proto__', 'constructor', 'prototype', '\\u005f_proto__'])('the name %s is refused', (name) => {
    expect(code(`{"${name}":1}`)).toBe('json-name')
    expect(code(`["${name}"]`)).toBeUndefined()
  })

  it.each([
    '"\ud800"',
    '"\udc00x"',
    '"\\ud800"',
    '"\\udc00"',
    '"\\udc00\\udc00"',
    '"\\ud800\\ud800"',
    '"\\ud800x"',
    '"\\ud800\udc00"',
    '"\ud800\\udc00"',
    '{"\\udfff":1}',
    '"\\u0000"',
    '{"\\u0000":1}',
  ])('the string %j is refused', (text) => {
    expect(code(text)).toBe('json-text')
  })

  it('takes pairs in every spelling', () => {
    expect(read('"\\ud83d\\ude00"')).toBe('😀')
    expect(read('"😀"')).toBe('😀')
    expect(read('"\\/\\b\\f\\n\\r\\t\\"\\\\\\u001f"')).toBe('/\b\f\n\r\t"\\\u001f')
  })

  it('says where and what', () => {
    expect(() => read('{"a":1,"a":2}')).toThrow('the name "a" again at character 8')
    expect(() => read('[1, x]')).toThrow('expected a value, found "x" at character 5')
    expect(() => read('[1')).toThrow('expected a comma or ], found the end of the text at character 3')
  })
})

describe('canonicalJson', () => {
  it('is a fixed point, and keeps the value', () => {
    fc.assert(
      fc.property(value, (input) => {
        const first = read(JSON.stringify(input))
        const text = canonicalJson(first)
        expect(read(text)).toEqual(first)
        expect(canonicalJson(read(text))).toBe(text)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(input)))
      }),
      runs,
    )
  })

  it('sorts by UTF-16 code unit, integers as text, at every level', () => {
    expect(canonicalJson(read('{"b":1,"a":{"9":1,"10":2},"\\ufb33":1,"😀":2,"é":3,"B":[{"z":1,"y":2}]}'))).toBe(
      '{"B":[{"y":2,"z":1}],"a":{"10":2,"9":1},"b":1,"é":3,"😀":2,"\ufb33":1}',
    )
  })

  it('escapes what RFC 8785 escapes and nothing else', () => {
    const text = '"\\u0008\\u0009\\u000a\\u000c\\u000d\\u0001\\u001F\\"\\\\\\/\\u007f\\u2028\\u20ac<>&"'
    expect(canonicalJson(read(text))).toBe('"\\b\\t\\n\\f\\r\\u0001\\u001f\\"\\\\/\u007f\u2028€<>&"')
  })

  it('writes the example of RFC 8785', () => {
    const input =
      '{"numbers":[4.5,0.002,1e-27],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}'
    expect(canonicalJson(read(input))).toBe(
      '{"literals":[null,true,false],"numbers":[4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })
})
