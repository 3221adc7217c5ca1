import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changedMutants, drawn, roomMutants } from '../../../scripts/mutants/chosen.js'
import { mutantsOf } from '../../../scripts/mutants/points.js'
import { RelatedTests } from '../../../scripts/mutants/related.js'
import { switched } from '../../../scripts/mutants/switches.js'

const changesOf = (text: string) => mutantsOf('a.ts', text).map(({ kind, becomes }) => `${kind}: ${becomes}`)

describe('the mutants of a text', () => {
  it.each([
    ['a < b', ['comparison: a <= b', 'statement: ;']],
    ['f(a !== b)', ['comparison: f(a === b)', 'statement: ;']],
    ['const c = a + 1', ['off by one: const c = (a)']],
    ['const most = 1_000', ['off by one: const most = 1001', 'off by one: const most = 999']],
    ['const least = 0n', ['off by one: const least = 1n']],
    ['if (a) b = c', ['condition: if (true) b = c', 'condition: if (false) b = c', 'statement: if (a) ;']],
    ['const y = a && b', ['condition: const y = (a)', 'condition: const y = (b)']],
    ['const y = !a', ['negation: const y = a']],
    ['const y = Math.max(a, b)', ['bound: const y = (a)', 'bound: const y = (b)']],
    ['await this.#undo(row)', ['statement: ;']],
  ])('%s', (text, expected) => {
    expect(changesOf(text).sort()).toEqual([...expected].sort())
  })

  it.each([
    "import { a1 } from 'b'",
    'type Two = 1 | 2',
    'this.#options.log.warn({ a: 1 }, `b`)',
    'const half = 0.5',
    'const x = { 1: a }',
  ])('there is none of %s', (text) => {
    expect(changesOf(text)).toEqual([])
  })

  it.each([
    '/** @tuning count: rows of a page */\nconst most = 5',
    'const tuning = {\n  /** @tuning count: rows of a page */\n  rows: 5,\n}',
    'function* f() { if (i % 3 === 0) yield }',
    'if (yielder.over) await yielder.next()',
    "const rows = option({ ...wholeNumber(1, 100, 'rows'), default: rows })",
  ])('no test sees those of %s', (text) => {
    const mutants = mutantsOf('a.ts', text)
    expect(mutants.length).toBeGreaterThan(1)
    expect(mutants.filter(({ unseen }) => unseen === undefined)).toEqual([])
  })

  it.each(['const most = 5', 'if (i % 3 === 0) stop()', 'if (i % 3 === 0) yield 5'])(
    'tests see those of %s',
    (text) => {
      expect(mutantsOf('a.ts', text).filter(({ unseen }) => unseen !== undefined)).toEqual([])
    },
  )

  it('name the line of a change, and its text before and after', () => {
    const [first] = mutantsOf('a.ts', 'const a = b\n  const c =\n    d <\n e\n')
    expect(first).toMatchObject({ line: 3, was: 'd <', becomes: 'd <=' })
  })
})

describe('a text with switches', () => {
  const valueOf = (text: string, on: number): unknown => {
    const mutants = mutantsOf('a.ts', text).map((mutant, i) => ({ ...mutant, id: i + 1 }))
    const code = switched(text, mutants).replace(/^export /, '')
    const run = new Function('__didledgerMutant', 'log', `${code}\nreturn value`) as (...args: unknown[]) => unknown
    return run(
      (id: number) => id === on,
      () => {},
    )
  }

  it.each([
    ['let value = 3 < 4 && !false', 0, true],
    ['let value = 1\nlog(value)\nlog(value > 1)\nvalue = value + 1', 0, 2],
    ['let value = 1\nif (value > 0) value = 7\nelse value = 8', 0, 7],
  ])('%s with %i on', (text, on, expected) => {
    expect(valueOf(text, on)).toBe(expected)
  })

  it('is the original where none is on, and each mutant is what it says', () => {
    const text = 'let value = 5\nif (value > 4 || value === 9) value = Math.max(value - 1, 2)\n'
    const mutants = mutantsOf('a.ts', text)
    expect(valueOf(text, 0)).toBe(4)
    for (const [i, { start, end, replacement }] of mutants.entries()) {
      const alone = new Function(
        `${text.slice(0, start)}(${replacement})${text.slice(end)}\nreturn value`,
      ) as () => unknown
      expect({ replacement, value: valueOf(text, i + 1) }).toEqual({ replacement, value: alone() })
    }
  })
})

describe('in a repository', () => {
  let root: string
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root })
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const putTest = (path: string, name: string, from: string, body: string) => {
    const head = `import { expect, it } from 'vitest'\nimport { ${name} } from '${from}'\n`
    put(path, `${head}it('holds', () => expect(${body})\n)`)
  }
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'didledger-mutants-test-'))
    put('package.json', '{ "type": "module" }')
    put('.gitignore', 'node_modules')
    put('src/room/least.ts', 'const most = 5\nexport const least = (a: number) => a < most\n')
    put('src/room/count.ts', 'export function count(n: number) {\n  let i = 0\n  while (i < n) i++\n  return i\n}\n')
    const same = 'export const same = (a: number) => least(a) || least(a)\n'
    put('src/other/same.ts', `import { least } from '../room/least.js'\n${same}`)
    putTest(
      'test/unit/room/least.test.ts',
      'least',
      '../../../src/room/least.js',
      '[4, 5].map(least)).toEqual([true, false]',
    )
    putTest('test/unit/room/count.test.ts', 'count', '../../../src/room/count.js', 'count(3)).toBe(3')
    putTest(
      'test/behaviour/other.test.ts',
      'same',
      '../../src/other/same.js',
      '[4, 5].map(same)).toEqual([true, false]',
    )
    symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
    git('init', '-q', '-b', 'main')
    git('add', '.')
    git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-qm', 'room: begin')
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  it('the tests of a file are those that import it, its namesake first', () => {
    const tests = new RelatedTests(root)
    expect(tests.of('src/room/least.ts')).toEqual(['test/unit/room/least.test.ts', 'test/behaviour/other.test.ts'])
    expect(tests.of('src/other/same.ts')).toEqual(['test/behaviour/other.test.ts'])
  })

  it('as many mutants of a room are drawn as asked for, the same ones of each seed', () => {
    const room = roomMutants(root, 'room')
    expect(new Set(room.map(({ file }) => file))).toEqual(new Set(['src/room/count.ts', 'src/room/least.ts']))
    expect([drawn(room, 4, 7), drawn(room, 400, 7).length]).toEqual([drawn(room, 4, 7), room.length])
    expect(drawn(room, 4, 7)).not.toEqual(drawn(room, 4, 8))
    const [first, ...others] = room
    expect(drawn(others, 300, 7)).toEqual(drawn(room, 300, 7).filter((mutant) => mutant !== first))
  })

  it('each mutant meets the tests that evaluate it, alone, and the tree stays as it is', () => {
    const run = (...args: string[]) => {
      const script = resolve('scripts/mutants.ts')
      const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', script, '--seconds', '60', ...args], {
        cwd: root,
        encoding: 'utf8',
        env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))),
      })
      return stdout
    }
    const fateOf = (said: string, becomes: string) =>
      new RegExp(`(\\w+) +\\S+ .*\n.*\n +\\+ .*${becomes}`).exec(said)?.[1]
    const said = run('--room', 'room', '--room', 'other')
    expect(fateOf(said, 'a <= most')).toBe('killed')
    // Both sides of an || that ask the same.
    expect(fateOf(said, '=> \\(least')).toBe('survived')
    expect(fateOf(said, 'i <= n')).toBe('killed')
    // A bound that is read when the module is loaded.
    expect(fateOf(said, 'most = 6')).toBe('killed')
    expect(fateOf(said, 'i < n\\) ;')).toBe('endless')
    expect(said).toMatch(/\nother +2 +0 +0 +0 +0 +2\n/)
    expect(readFileSync(join(root, 'src/room/least.ts'), 'utf8')).not.toContain('didledgerMutant')
  })

  it('those of changed lines are found, and of no others', () => {
    expect(changedMutants(root, 'main')).toEqual([])
    put('src/room/more.ts', 'export const most = 3\n')
    git('add', '-N', 'src/room/more.ts')
    put('src/room/least.ts', '// Smaller.\nconst most = 5\nexport const least = (a: number) => a < most\n')
    const places = changedMutants(root, 'main').map(({ file, line }) => `${file}:${line}`)
    expect(places).toEqual(['src/room/more.ts:1', 'src/room/more.ts:1'])
  })
})
