import { describe, expect, it } from 'vitest'
import { parsed } from '../../scripts/docs/constant-values.js'
import { readRows, rowFaults } from '../../scripts/docs/limit-rows.js'
import { type Limit, readLimits } from '../../scripts/docs/limit-tags.js'
import { limitTables, valueText } from '../../scripts/docs/limits-page.js'
import { repositoryFile } from '../support/assert/markdown.js'

/** Differences between the limits of a file and the rows of another. */
function faultsOf(text: string, rows: string): string[] {
  return rowFaults(limitsOf(text), readRows(parsed(new Map([['own.ts', rows]]))))
}

/** Limits of one file, and of others that it imports. */
function limitsOf(text: string, others: Readonly<Record<string, string>> = {}): Limit[] {
  return readLimits(parsed(new Map([['answers/api/own.ts', text], ...Object.entries(others)])))
}

describe('docs/limits.md', () => {
  it('has a row for a tagged constant, in the table of its room', () => {
    const body =
      '/**\n * Why so many.\n * @limit bytes: body of {@link one} request\n */\nexport const body = 16 * 1024'
    const entries = '/** @limit count: entries */\nconst entries = 0xffff'
    const tables = limitTables(limitsOf(body, { 'network/wire/own.ts': entries, 'network/own.ts': entries }))
    expect([...tables.matchAll(/^(## .+|\| `.+)$/gm)].map(([line]) => line)).toEqual([
      '## network',
      '| `entries` | 65 535 | count | entries | `network/own.ts` |',
      '## network/wire',
      '| `entries` | 65 535 | count | entries | `network/wire/own.ts` |',
      '## answers/api',
      '| `body` | 16 384 (16 KiB) | bytes | body of `one` request | `answers/api/own.ts` |',
    ])
  })

  it.each([
    ['const one = 2 ** 3 - (1 + 1) / 4', 7.5],
    ['const one = 100n', 100],
    ['const one = 2 * base\nconst base = 1_000', 2000],
    ["const one = near.size * 2\nimport { far as near } from '../../identity/did/far.js'", 12],
  ])('reads the value of %s', (text, value) => {
    const [limit] = limitsOf(`/** @limit count: all */\n${text}`, {
      'identity/did/far.ts': 'export const far = { size: 6 } as const',
    })
    expect(limit).toEqual({ file: 'answers/api/own.ts', name: 'one', value, unit: 'count', what: 'all' })
  })

  it('reads members of objects', () => {
    const text = 'const few = {\n  /** @limit ms: wait\n   * for it */\n  wait: 5,\n  other: 1,\n}'
    expect(limitsOf(text)).toEqual([
      { file: 'answers/api/own.ts', name: 'few.wait', value: 5, unit: 'ms', what: 'wait for it' },
    ])
  })

  it.each([
    ['a tag with another unit', '/** @limit miles: way */\nconst way = 1', '1: @limit: miles is no unit'],
    ['a tag without a unit', '\n/** @limit way of all */\nconst way = 1', '2: @limit: a tag is followed by <unit>'],
    [
      'a value of the node itself without a unit',
      '/** @tuning rows kept */\nconst way = 1',
      '1: @tuning: a tag is followed',
    ],
    ['what is not a number', "/** @limit bytes: name */\nconst name = 'x'", '1: @limit: name is not a number'],
    [
      'a number that is not a constant',
      '/** @limit ms: now */\nconst now = Date.now()',
      '1: @limit: now is not a number',
    ],
    ['a tag that no constant follows', 'class A {\n  /** @limit count: entries */\n  most = 1\n}', '2: no constant'],
    ['a limit without a tag', 'const few = 1\nconst maxEntries = 5', '2: maxEntries has neither'],
    ['a member without a tag', 'const fewLimits = {\n  entries: 5,\n}', '2: fewLimits.entries has neither'],
  ])('refuses %s with file and line', (_, text, refusal) => {
    expect(() => limitsOf(text)).toThrow(`src/answers/api/own.ts:${refusal}`)
  })

  it('leaves out values of the node itself', () => {
    expect(limitsOf('/** @tuning count: rows kept in memory */\nconst maxRows = 5')).toEqual([])
  })

  const bound = '/** @limit count: entries */\nconst entries = 4 * 2'

  it('takes a bound whose row has its name, unit and value', () => {
    const row = "[limit({ name: 'answers/api/own.entries', unit: 'count', value: 2 ** 3, feed, refusal: 'x' })]"
    expect(faultsOf(bound, `export const rows = ${row}`)).toEqual([])
  })

  it.each([
    ['a bound without a row', '', "src/answers/api/own.ts: entries has no row limit({ name: 'answers/api/own.entries'"],
    [
      'a row without a bound',
      "limit({ name: 'answers/api/own.other', unit: 'count', value: 8 })",
      "own.ts:1: 'answers/api/own.other' is no constant",
    ],
    [
      'another value',
      "limit({ name: 'answers/api/own.entries', unit: 'count', value: 9 })",
      'is 8 in src, 9 in the row',
    ],
    [
      'another unit',
      "limit({ name: 'answers/api/own.entries', unit: 'bytes', value: 8 })",
      'the unit count in src, bytes',
    ],
    [
      'a second row',
      "limit({ name: 'answers/api/own.entries', unit: 'count', value: 8 })\n".repeat(2),
      "own.ts:2: 'answers/api/own.entries' has two rows",
    ],
    [
      'a value that is taken from elsewhere',
      "limit({ name: 'answers/api/own.entries', unit: 'count', value: entries() })",
      'undefined in the row',
    ],
  ])('refuses %s', (_, rows, fault) => {
    expect(faultsOf(bound, rows).join('\n')).toContain(fault)
  })

  it('has every limit of the shipped specs', () => {
    const page = repositoryFile('docs/limits.md')
    const spec: { limits: object } = JSON.parse(repositoryFile('genesis/devnet.json'))
    for (const name of Object.keys(spec.limits)) expect(page).toContain(`| \`limits.${name}\` |`)
    expect(page).not.toContain('undefined')
  })

  it.each([
    [8_000_000, 'bytes', '8 000 000'],
    [1024 ** 2, 'bytes/s', '1 048 576 (1 MiB/s)'],
    [90_000, 'ms', '90 000 (90 s)'],
    [0.0625, 'part', '0.0625'],
  ])('shows %d %s as %s', (value, unit, shown) => {
    expect(valueText(value, unit)).toBe(shown)
  })
})
