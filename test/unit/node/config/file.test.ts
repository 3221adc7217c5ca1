import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readConfigText } from '../../../../src/node/config/file.js'
import { refusalOf } from '../../../support/builders/config.js'

const read = (text: string) => readConfigText(text, 'f', (path) => path === 'a' || path === 'b')

describe('a configuration file', () => {
  it('is JSON5, with the line of each member', () => {
    const text = `// one
      { /* { a: 1, a: 2 } */ "a": { x: 'a: {', "y": [1, { z: 1 }, { z: 2 }], },
      \\u0062: {
        x: +1, // x: 2
        'it\\'s': "\\"",
      } }`
    expect(read(text)).toEqual([
      { path: 'a.x', value: 'a: {', line: 2 },
      { path: 'a.y', value: [1, { z: 1 }, { z: 2 }], line: 2 },
      { path: 'b.x', value: 1, line: 4 },
      { path: "b.it's", value: '"', line: 5 },
    ])
    expect(read('{}')).toEqual([])
    expect(read('{ a: { "x.y": 1, x: { y: 2 } } }').map(({ path }) => path)).toEqual(['a.x.y', 'a.x'])
  })

  it.each([
    ['', /^f:1: not JSON5: invalid end of input/],
    ['{ a: { x: 1 }', /^f:1: not JSON5/],
    ['{\n a: nonsense }', /^f:2: not JSON5/],
    ['[]', /^f: a configuration is an object/],
    ['null', /^f: a configuration is an object/],
    ['{ a: [] }', /^f:1: a has to be an object/],
    ['{ a: { x: 1,\n x: 1 } }', /^f:2: a\.x stands here a second time, after line 1$/],
    ['{ a: {}, b: {},\n\n "a": {} }', /^f:3: a stands here a second time, after line 1$/],
    ["{ a: { x: 1 }, 'a.x': 2 }", /^f:1: a\.x stands here a second time/],
    ['{ a: { x: 1, \\u0078: 2 } }', /^f:1: a\.x stands here a second time/],
    ['{ a: { __proto__: 1, __proto__: 2 } }', /^f:1: a\.__proto__ stands here a second time/],
    ['{ a: { y: [ { z: 1, z: 1 } ] } }', /z" stands here a second time/],
  ])('is not %j', (text, message) => {
    expect(refusalOf(() => read(text))).toMatch(message)
  })

  it('names no text without end', () => {
    expect(refusalOf(() => read(`{ ${'a'.repeat(5000)}: 1, ${'a'.repeat(5000)}: 1 }`)).length).toBeLessThan(200)
  })

  it('is read like JSON wherever it is JSON', () => {
    const members = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true })
    fc.assert(
      fc.property(fc.record({ a: members, b: members }), fc.boolean(), (root, indented) => {
        const text = JSON.stringify(root, null, indented ? 2 : undefined)
        const parsed = JSON.parse(text) as Record<string, Record<string, unknown>>
        const expected = Object.entries(parsed).flatMap(([section, object]) =>
          Object.entries(object).map(([name, value]) => ({ path: `${section}.${name}`, value })),
        )
        expect(read(text).map(({ path, value }) => ({ path, value }))).toEqual(expected)
      }),
      { numRuns: 1000 },
    )
  })

  it('is refused or read, whatever it is', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      "'",
      '//',
      '/*',
      '*/',
      '\n',
      '\\',
      'a',
      'b',
      '1',
      ' ',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
        try {
          read(parts.join(''))
        } catch (error) {
          expect((error as { exitCode?: number }).exitCode).toBe(2)
        }
      }),
      { numRuns: 3000 },
    )
  })
})
