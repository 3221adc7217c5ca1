import fc from 'fast-check'
import JSON5 from 'json5'
import { describe, expect, it } from 'vitest'
import { compileCondition } from '../../../../src/identity/did-query/compile.js'
import { conditionLimits, readCondition } from '../../../../src/identity/did-query/condition.js'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import type { JsonValue } from '../../../../src/base/primitives/strict-json.js'
import { processorTime } from '../../../support/process/patience.js'
import { rounds } from '../../../support/process/thorough.js'
import { document } from '../../../support/builders/query-documents.js'

/** What a condition is refused with. */
function refusalOf(condition: unknown): string {
  try {
    compileCondition(condition as string)
  } catch (error) {
    if (error instanceof RuleError && error.code === 'query-invalid') return error.message
    throw error
  }
  return 'taken'
}

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const many = (members: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: members }, (_, i) => [`m${i}`, i])))
const long = (bytes: number) => JSON.stringify({ a: 'x'.repeat(bytes - '{"a":""}'.length) })

/** The condition and the part of the refusal that says what and where; the neighbour that is taken. */
const rows: readonly (readonly [what: string, condition: unknown, refusal: RegExp, neighbour: unknown])[] = [
  ['no text', '', /JSON5.*end of input/, '{}'],
  ['a broken text', '{"a":1', /JSON5.*1:7/, '{"a":1}'],
  ['more than one value', '{} {}', /JSON5/, '{}'],
  ['an array', '[]', /not an object/, '{}'],
  ['a scalar', '1', /not an object/, '{a:1}'],
  ['too many bytes', long(16 * 1024 + 1), /16384 bytes/, long(16 * 1024)],
  ['too many bytes of other letters', JSON.stringify({ a: 'ä'.repeat(8 * 1024) }), /16384 bytes/, '{a:"ä"}'],
  ['too many bytes in an object', { a: 'x'.repeat(16 * 1024) }, /16384 bytes/, { a: 'x'.repeat(16 * 1024 - 8) }],
  ['too deep', nested(17), /16 levels/, nested(16)],
  [
    'too deep in arrays',
    `{"a":${'['.repeat(16)}${']'.repeat(16)}}`,
    /16 levels/,
    `{"a":${'['.repeat(15)}${']'.repeat(15)}}`,
  ],
  ['too many values', many(256), /256 values/, many(255)],
  ['an infinite number', '{a:{$gt:Infinity}}', /a\.\$gt: .*finite/, '{a:{$gt:0x10}}'],
  ['no number', '{a:[1,NaN]}', /a\[1\]: .*finite/, '{a:[1,.5]}'],
  ['a number beyond all doubles', '{a:1e999}', /finite/, '{a:1e99}'],
  ['a name twice', '{"a":1,"a":2}', /"a" stands twice/, '{"a":1,"A":2}'],
  ['a name twice in different spellings', `{a:1,'\\u0061':2}`, /"a" stands twice/, `{a:{b:1},b:2}`],
  ['a name twice by an escape without quotes', '{a:1,\\u0061:2}', /"a" stands twice/, '{\\u0061:1}'],
  [
    'a name twice behind an object',
    '{a:{x:"}"},b:[{a:1},{a:2}],a:3}',
    /"a" stands twice/,
    '{a:{x:":"},b:[{a:1},{a:2}]}',
  ],
  ['a name twice behind a comment', '{a/* : */:1,// a:2\n a:2}', /"a" stands twice/, '{a/* : */:1,// a:2\n b:2}'],
  ['an operator twice', '{a:{$gt:1,$gt:2}}', /"\$gt" stands twice/, '{a:{$gt:1,$lt:2}}'],
  ['__proto__ in a path', '{"__proto__":1}', /__proto__ cannot/, '{"proto":1}'],
  ['__proto__ without quotes', '{__proto__:{a:1}}', /__proto__ cannot/, '{_proto:{a:1}}'],
  ['constructor in a path', '{"a.constructor.b":1}', /constructor cannot/, '{"a.constructors.b":1}'],
  ['prototype in a path', '{"a.prototype":1}', /prototype cannot/, '{"a.Prototype":1}'],
  ['an empty name', '{"a..b":1}', /empty name/, '{"a.b":1}'],
  ['an empty key', '{"":1}', /empty name/, '{"x":1}'],
  [
    'a path of too many names',
    { [Array(33).fill('a').join('.')]: 1 },
    /32 names/,
    { [Array(32).fill('a').join('.')]: 1 },
  ],
  ['operators beside members', '{a:{$gt:1,b:2}}', /a: the operator "\$gt" stands beside the member "b"/, '{a:{$gt:1}}'],
  [
    'operators beside members at the top',
    '{b:2,$or:[{a:1}]}',
    /"\$or" stands beside the member "b"/,
    '{$and:[{b:2},{$or:[{a:1}]}]}',
  ],
  ['$where', '{$where:"1"}', /\$where: only \$and/, '{$and:[{}]}'],
  ['$where at a path', '{a:{$where:"1"}}', /a\.\$where: "\$where" is not an operator/, '{a:{$eq:"1"}}'],
  ['$expr', '{$expr:{$gt:["$a","$b"]}}', /\$expr/, '{a:{$gt:1}}'],
  ['$function', '{a:{$function:{body:"1"}}}', /"\$function" is not an operator/, '{a:{$not:{body:"1"}}}'],
  ['an unknown operator', '{a:{$near:1}}', /"\$near" is not an operator; there are \$and/, '{a:{$ne:1}}'],
  ['an operator that needs a path', '{$exists:true}', /no path/, '{a:{$exists:true}}'],
  ['$not at the top', '{$not:{a:1}}', /no path/, '{$nor:[{a:1}]}'],
  ['$and of nothing', '{$and:[]}', /one condition or more/, '{$and:[{}]}'],
  ['$or of no conditions', '{$or:[1]}', /\$or\[0\]: an object/, '{$or:[{a:1}]}'],
  ['$nor of no array', '{a:{$nor:{b:1}}}', /a\.\$nor: an array/, '{a:{$nor:[{b:1}]}}'],
  ['$not of a scalar', '{a:{$not:1}}', /an object is needed/, '{a:{$not:{$eq:1}}}'],
  ['$elemMatch of a scalar', '{a:{$elemMatch:1}}', /an object is needed/, '{a:{$elemMatch:{$eq:1}}}'],
  ['$all of a scalar', '{a:{$all:1}}', /an array is needed/, '{a:{$all:[1]}}'],
  ['$all with another operator', '{a:{$all:[{$gt:1}]}}', /\$all\[0\]\.\$gt/, '{a:{$all:[{$elemMatch:{$gt:1}}]}}'],
  ['$in of a scalar', '{a:{$in:1}}', /an array is needed/, '{a:{$in:[1]}}'],
  [
    '$nin with an operator',
    '{a:{$nin:[1,{$gt:1}]}}',
    /a\.\$nin\[1\]\.\$gt: no operator can stand/,
    '{a:{$nin:[{gt:1}]}}',
  ],
  ['$eq with an operator', '{a:{$eq:{b:[{$gt:1}]}}}', /a\.\$eq\.b\[0\]\.\$gt: no operator/, '{a:{$eq:{b:[{gt:1}]}}}'],
  ['$gt of a boolean', '{a:{$gt:true}}', /number or a string/, '{a:{$gt:"true"}}'],
  ['$lte of null', '{a:{$lte:null}}', /number or a string/, '{a:{$lte:0}}'],
  ['$exists of a number', '{a:{$exists:1}}', /true or false/, '{a:{$exists:true}}'],
  ['$type of no type', '{a:{$type:"int"}}', /a type is one of string, number/, '{a:{$type:"number"}}'],
  ['$type of nothing', '{a:{$type:[]}}', /a type is needed/, '{a:{$type:["null"]}}'],
  ['$size below 0', '{a:{$size:-1}}', /count of elements/, '{a:{$size:0}}'],
  ['$size of a fraction', '{a:{$size:1.5}}', /count of elements/, '{a:{$size:1}}'],
  ['$mod by 0', '{a:{$mod:[0,1]}}', /the divisor not 0/, '{a:{$mod:[2,1]}}'],
  ['$mod of one number', '{a:{$mod:[2]}}', /two integers/, '{a:{$mod:[2,0]}}'],
  ['$regex of a number', '{a:{$regex:1}}', /a string is needed/, '{a:{$regex:"1"}}'],
  ['$regex with a metacharacter', '{a:{$regex:"^(x+)+$"}}', /\( cannot stand/, '{a:{$regex:"^x$"}}'],
  ['$regex with a class', '{a:{$regex:"\\\\d"}}', /cannot stand/, '{a:{$regex:"\\\\."}}'],
  ['$regex with \\ behind it', '{a:{$regex:"a\\\\"}}', /cannot stand/, '{a:{$regex:"a\\\\\\\\"}}'],
  ['$regex with ( behind an escaped \\', '{a:{$regex:"\\\\\\\\("}}', /\( cannot stand/, '{a:{$regex:"\\\\\\\\\\\\("}}'],
  ['$regex with $ in the middle', '{a:{$regex:"a$$"}}', /\$ cannot stand/, '{a:{$regex:"a\\\\$$"}}'],
  ['$regex with ^ in the middle', '{a:{$regex:"a^"}}', /\^ cannot stand/, '{a:{$regex:"^a"}}'],
  [
    '$options other than i',
    '{a:{$regex:"a",$options:"im"}}',
    /the letters i, s and u/,
    '{a:{$regex:"a",$options:"iu"}}',
  ],
  ['$options of no text', '{a:{$regex:"a",$options:null}}', /the letters i, s and u/, '{a:{$regex:"a",$options:""}}'],
  ['$options alone', '{a:{$options:"i"}}', /beside \$regex/, '{a:{$options:"i",$regex:"a"}}'],
  ['a value without JSON form', { a: undefined }, /a: there is no JSON form of this undefined/, { a: null }],
  ['a date', { a: new Date(0) }, /no JSON form/, { a: new Date(0).toISOString() }],
  ['an expression', { a: /x/ }, /no JSON form/, { a: 'x' }],
  ['a function', { a: { $where: () => true } }, /no JSON form/, { a: true }],
  ['a big integer', { a: 1n }, /no JSON form/, { a: 1 }],
]

describe('a condition', () => {
  it.each(rows)('is refused for %s, and says what and where', (_, condition, refusal, neighbour) => {
    expect(refusalOf(condition)).toMatch(refusal)
    expect(refusalOf(neighbour)).toBe('taken')
  })

  it('that contains itself is too deep', () => {
    const condition: Record<string, unknown> = {}
    condition['a'] = condition
    expect(refusalOf(condition)).toMatch(/16 levels/)
  })

  it('has none of the powers of what it names', () => {
    const { matches } = compileCondition({ id: { $eq: JSON.parse('{"__proto__":{"x":1}}') as object } })
    expect(matches(document())).toBe(false)
    expect(({} as Record<string, unknown>)['x']).toBe(undefined)
    for (const name of ['toString', 'hasOwnProperty', 'valueOf']) {
      expect(compileCondition({ [name]: { $exists: true } }).matches(document())).toBe(false)
    }
  })

  it('is copied: what becomes of the object later changes nothing', () => {
    const condition = { expires: { $exists: true } }
    const { matches } = compileCondition(condition)
    condition.expires.$exists = false
    expect(matches(document())).toBe(true)
  })

  it('is answered at once, whatever the text is', () => {
    const hostile = [
      '{'.repeat(16_000),
      '['.repeat(16_000),
      '{a:'.repeat(5_000),
      `{"a":${'['.repeat(8_000)}${']'.repeat(8_000)}}`,
      `{a:'${'\\\n'.repeat(8_000)}'}`,
      `{a:"${'\\"'.repeat(8_000)}`,
      `/*${'*'.repeat(16_000)}`,
      `{a:1${' '.repeat(16_000)}}`,
      `{a:1,${'//\n'.repeat(5_000)}}`,
      '-'.repeat(16_000),
      `{a:${'9'.repeat(16_000)}}`,
      `{${'a:1,'.repeat(4_000)}}`,
      `{"${'a.'.repeat(8_000)}":1}`,
      `{"${'\\u0061'.repeat(2_700)}":1}`,
      JSON.stringify({ a: { $regex: `^${'a'.repeat(8_000)}+` } }),
      JSON.stringify({ a: { $regex: '\\'.repeat(7_999) } }),
      JSON.stringify({ a: { $regex: '$'.repeat(16_000) } }),
      '\0'.repeat(16_000),
      '\ufeff{}',
      '{a:"\u2028"}',
      '\ud800',
    ]
    const start = processorTime()
    for (const text of hostile) expect(refusalOf(text)).toMatch(/./)
    expect(processorTime() - start).toBeLessThan(1000)
  })

  it('gives up on a document before it holds up everybody else', () => {
    const indexes: unknown = Array.from({ length: 6 }).reduce(
      (inner) => [{ 0: inner }, ...Array.from({ length: 1500 }, () => ({ 0: [1] }))],
      [1],
    )
    const all = (of: (i: number) => object) => ({ $nor: Array.from({ length: 60 }, (_, i) => of(i)) })
    const hostile: readonly (readonly [condition: object, x: unknown])[] = [
      [all(() => ({ 'x.0.0.0.0.0.0.0.0.0': -1 })), indexes],
      [all((i) => ({ [`x.y${i}`]: 1 })), Array(16_000).fill({})],
      [all((i) => ({ x: `b${i}` })), Array(16_000).fill('a')],
      [all((i) => ({ x: { $gt: i } })), Array(16_000).fill('a')],
      [all((i) => ({ x: { y: i } })), Array(16_000).fill({})],
      [all((i) => ({ x: { $elemMatch: { y: i } } })), Array(16_000).fill({})],
      [{ x: { $nin: Array.from({ length: 120 }, (_, i) => [i]) } }, Array(8000).fill([-1])],
      [{ x: Array.from({ length: 120 }, () => 'a') }, [...Array<string>(16_000).fill('b'), 'a']],
    ]
    for (const [condition, x] of hostile) {
      const { matches } = compileCondition(condition)
      const start = processorTime()
      expect(() => matches({ x })).toThrow(expect.objectContaining({ code: 'busy' }) as Error)
      expect(processorTime() - start).toBeLessThan(2000)
      // The next document has all of it again.
      expect(matches({ x: [] })).toBe(!('x' in condition && Array.isArray(condition.x)))
    }
    const few = compileCondition({ x: { $nin: ['b', 'c'] }, 'x.y': { $exists: false } })
    expect(few.matches({ x: Array(16_000).fill('a') })).toBe(true)
  })

  it('is either taken or refused with its code, whatever the bytes are', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      "'",
      '\\',
      '/',
      '*',
      '//',
      '/*',
      '\n',
      'a',
      'b',
      '$',
      '1',
      ' ',
    )
    const text = fc.oneof(
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
      fc.string(),
    )
    fc.assert(
      fc.property(text, (candidate) => {
        expect(refusalOf(candidate)).toMatch(/./)
      }),
      { numRuns: rounds(600, 5000) },
    )
  })

  it('reads as JSON5 does, unless a name stands twice', () => {
    const name = fc.constantFrom('a', '"a"', "'a'", '\\u0061', 'b', '"b:"', '"\\"{"', '$c', '"x//"')
    const gap = fc.constantFrom('', ' ', '\n', '/* : } */', '// {:\n', '\u2028')
    const scalar = fc.constantFrom('1', '.5', '+2', '0x1F', '"}"', "':'", "'\\''", 'true', 'null', '"a\\\nb"')
    const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        scalar,
        tie('object'),
        fc.array(tie('value'), { maxLength: 3 }).map((of) => `[${of.join()}]`),
      ),
      object: fc
        .array(fc.tuple(gap, name, gap, tie('value'), gap), { maxLength: 4 })
        .map((members) => `{${members.map(([a, key, b, of, c]) => `${a}${key}${b}:${of}${c}`).join(',')}}`),
    }))
    fc.assert(
      fc.property(value, (text) => {
        const parsed: unknown = JSON5.parse(text)
        const written = [...text.replace(/"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|\/\*.*?\*\/|\/\/.*/g, '')]
        const repeated = written.filter((unit) => unit === ':').length !== membersIn(parsed)
        const refused = repeated || typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)
        if (refused) expect(() => readCondition(text)).toThrow(RuleError)
        else expect(plain(readCondition(text))).toEqual(parsed)
      }),
      { numRuns: rounds(300, 2000) },
    )
  })

  it('has limits that no reader of the code has to look up', () => {
    expect(conditionLimits).toEqual({ bytes: 16_384, depth: 16, nodes: 256 })
  })
})

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce<number>((sum, entry) => sum + membersIn(entry), own)
}

function plain(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!(value instanceof Map)) return value
  return Object.fromEntries([...value].map(([name, entry]) => [name, plain(entry)]))
}
