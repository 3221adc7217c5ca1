import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changedMutants, drawn, roomMutants } from '../../../scripts/mutants/chosen.js'
import { type Mutant, mutantsOf } from '../../../scripts/mutants/points.js'
import { RelatedTests } from '../../../scripts/mutants/related.js'
import { Tree } from '../../../scripts/mutants/tree.js'

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

  it('name the line of a change, and its text before and after', () => {
    const [first] = mutantsOf('a.ts', 'const a = b\n  const c =\n    d <\n e\n')
    expect(first).toMatchObject({ line: 3, was: 'd <', becomes: 'd <=' })
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
    put('vitest.config.ts', "export default { test: { include: ['test/**/*.test.ts'], isolate: false } }")
    put('.gitignore', 'node_modules')
    put('src/room/least.ts', 'export const least = (a: number) => a < 5\n')
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
  })

  it('each mutant meets its tests alone, and the tree stays as it is', async () => {
    const tree = new Tree(root)
    const pick = (file: string, becomes: string) => {
      const all = mutantsOf(file, readFileSync(join(root, file), 'utf8'))
      return all.find((mutant) => mutant.becomes.includes(becomes)) as Mutant
    }
    const failedOf = async (mutant: Mutant | undefined, limit = 300_000) => {
      const tests = ['test/unit/room/least.test.ts', 'test/unit/room/count.test.ts', 'test/behaviour/other.test.ts']
      return (await tree.outcome(mutant, { tests, limit, bail: false }))?.failed.length
    }
    try {
      expect(await failedOf(undefined)).toBe(0)
      expect(await failedOf(pick('src/room/least.ts', 'a <= 5'))).toBe(2)
      // Nothing of the one before is left.
      expect(await failedOf(pick('src/other/same.ts', '=> (least(a))'))).toBe(0)
      expect(await failedOf(pick('src/room/count.ts', 'while (i < n) ;'), 6_000)).toBeUndefined()
      expect(await failedOf(pick('src/room/least.ts', '< 6'))).toBe(2)
      expect(await failedOf(undefined)).toBe(0)
    } finally {
      tree.close()
    }
  })

  it('those of changed lines are found, and of no others', () => {
    expect(changedMutants(root, 'main')).toEqual([])
    put('src/room/more.ts', 'export const most = 3\n')
    git('add', '-N', 'src/room/more.ts')
    put('src/room/least.ts', '// Smaller.\nexport const least = (a: number) => a < 5\n')
    const places = changedMutants(root, 'main').map(({ file, line }) => `${file}:${line}`)
    expect(places).toEqual(['src/room/more.ts:1', 'src/room/more.ts:1'])
  })
})
