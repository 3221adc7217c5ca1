import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { format, type FormatConfig } from 'oxfmt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Copy } from '../support/guides/copy.js'
import { applied, type Forgotten, type Guide, readGuide, without } from '../support/guides/guide.js'
import { TypeChecker } from '../support/guides/type-checker.js'

/** The guides that add something are followed in a copy, all of them together: completely, and with each step forgotten. */

const root = new URL('../../', import.meta.url)
const guides = readdirSync(new URL('docs/guides', root))
  .filter((file) => file.startsWith('add-'))
  .map((file) => readGuide(file.replace('.md', '')))
const read = (file: string) => {
  const url = new URL(file, root)
  return existsSync(url) ? readFileSync(url, 'utf8') : undefined
}
const complete = applied(
  guides.flatMap(({ blocks }) => blocks),
  read,
)

/** Generated files. */
const pages = [
  ...['docs', 'man', 'genesis'].flatMap((folder) =>
    readdirSync(new URL(folder, root)).map((file) => `${folder}/${file}`),
  ),
].filter((file) => /\.(md|1|trust\.json)$/.test(file))

/** Rows of a guide by who finds them. */
function rowsOf({ forgotten }: Guide, finds: (foundBy: string) => boolean): readonly Forgotten[] {
  return forgotten.filter(({ foundBy }) => foundBy.some(finds))
}

/** The files with one step of each guide forgotten, or with several of one. */
function withForgotten(rows: readonly Forgotten[]): ReadonlyMap<string, string> {
  const blocks = guides.flatMap((guide) => {
    return rows
      .filter((row) => row.guide === guide.name)
      .reduce((left, row) => without({ ...guide, blocks: left }, row), guide.blocks)
  })
  return applied(blocks, read)
}

/** Faults that no row names, and messages that no fault has. */
function compared(faults: readonly { file: string; text: string }[], rows: readonly Forgotten[]) {
  const messages = rows.flatMap((row) => row.messages)
  return {
    unnamed: faults.filter(({ text }) => !messages.some((message) => message.test(text))),
    unseen: messages.filter((message) => !faults.some(({ text }) => message.test(text))).map(String),
  }
}

const nothing = { unnamed: [], unseen: [] }

describe('guides that add something', () => {
  const checker = new TypeChecker()

  it('are followed by code in the form of the repository, which compiles', async () => {
    expect(guides.length).toBeGreaterThan(5)
    const options = JSON.parse(readFileSync(new URL('.oxfmtrc.json', root), 'utf8')) as FormatConfig
    for (const [file, text] of complete) {
      expect([file, (await format(file, text, options)).code]).toEqual([file, text])
    }
    expect(checker.faults(complete, complete.keys(), { importers: true })).toEqual([])
  })

  const byCompiler = guides.map((guide) => rowsOf(guide, (foundBy) => foundBy === 'tsc'))
  const rounds = Math.max(...byCompiler.map((rows) => rows.length))
  it.each(Array.from({ length: rounds }, (_, round) => byCompiler.flatMap((rows) => rows[round] ?? [])))(
    'name what the compiler says of a forgotten step, and all of it: $cell …',
    (...rows) => {
      const faults = checker.faults(withForgotten(rows), complete.keys())
      expect(compared(faults, rows)).toEqual(nothing)
      // A row of several steps has a fault of each.
      const steps = rows.reduce((sum, { cell }) => sum + cell.split(', the ').length, 0)
      expect(faults.length).toBeGreaterThanOrEqual(steps)
    },
  )
})

describe('in a copy of the repository', () => {
  let copy: Copy
  beforeAll(() => {
    copy = new Copy()
  })
  afterAll(() => copy.remove())

  it('tests that guides name find the steps that are forgotten', async () => {
    const isTest = (foundBy: string) => foundBy.endsWith('.test.ts')
    const rows = guides.flatMap((guide) => rowsOf(guide, isTest)).filter(({ messages }) => messages.length > 0)
    copy.write(withForgotten(rows))
    const { failures } = await copy.test([...new Set(rows.flatMap(({ foundBy }) => foundBy))])
    expect(compared(failures, rows)).toEqual(nothing)
  })

  it('the pages that guides name are written again, and no other', async () => {
    copy.write(complete)
    const before = new Map(pages.map((page) => [page, copy.read(page)]))
    await copy.shell('node scripts/run.mjs scripts/docs.ts')
    const changed = pages.filter((page) => copy.read(page) !== before.get(page))
    const rows = guides.flatMap(({ forgotten }) =>
      forgotten.filter(({ cell, foundBy }) => cell === 'npm run docs' && foundBy.includes('npm run check')),
    )
    const faults = changed.map((file) => ({ file, text: `${file} is not what its source says: run npm run docs` }))
    expect(compared(faults, rows)).toEqual(nothing)
  })

  it('the tests that guides name pass, those that they add among them', async () => {
    const tests = [...new Set(guides.flatMap((guide) => guide.tests))]
    const added = [...complete.keys()].filter((file) => file.endsWith('.test.ts'))
    expect(tests).toEqual(expect.arrayContaining(added))
    const { passed, failures } = await copy.test(tests)
    expect(failures).toEqual([])
    expect(passed).toBeGreaterThan(tests.length)
  })
})
