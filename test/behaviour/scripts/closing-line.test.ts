import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runTool } from '../../support/process/tool.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const reporter = pathToFileURL(join(root, 'scripts/config/closing-line.ts')).href

/** Files of tests by their names. */
const files = {
  plain: `
    it('holds', () => {})
    it('holds too', () => {})
    it('fails', () => expect(1).toBe(2))
    it.skip('is left out', () => {})
    it.todo('is planned')
    it('leaves itself out', ({ skip }) => skip())`,
  right: `
    it('holds', () => {})
    it('holds as well', () => {})`,
  begins: `
    beforeAll(() => { throw new Error('no server') })
    it('never runs', () => {})
    it.skip('is left out', () => {})`,
  within: `
    it('holds', () => {})
    describe('with a server', () => {
      beforeAll(() => { throw new Error('no server') })
      describe('that answers', () => it('never runs', () => {}))
    })`,
  ends: `
    afterAll(() => { throw new Error('no end') })
    it('holds', () => {})`,
  broken: `throw new Error('no file')`,
}

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'didledger-test-'))
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(
    join(directory, 'vitest.config.ts'),
    `import { ClosingLine } from ${JSON.stringify(reporter)}
    export default { test: { globals: true, include: ['*.test.ts'], reporters: [new ClosingLine()], pool: 'threads' } }`,
  )
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, `${name}.test.ts`), text)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** The last line of a run. */
async function lastLine(...args: string[]): Promise<string | undefined> {
  const vitest = 'node node_modules/vitest/vitest.mjs run "$@" || true'
  const { out } = await runTool(directory, 'sh', '-c', vitest, 'sh', ...args)
  return out.trimEnd().split('\n').at(-1)
}

it.each([
  ['of tests that all run', ['right'], '2 passed, 0 failed'],
  ['of skipped, planned and failed tests', ['plain'], '2 passed, 1 failed, 3 skipped'],
  ['of one test by its name', ['plain', 'right', '-t', 'holds too'], '1 passed, 0 failed, 7 skipped'],
  ['of a file that breaks before its tests', ['begins'], '0 passed, 1 failed, 1 skipped'],
  ['of a suite that breaks before its tests', ['within'], '1 passed, 1 failed'],
  ['of a file that breaks after its tests', ['ends'], '1 passed, 1 failed'],
  ['of a file that cannot be loaded', ['broken'], '0 passed, 1 failed'],
  ['that was ended by its first failure', ['plain', '--bail', '1'], '2 passed, 2 failed, 2 skipped'],
])('a run %s', async (_, args, line) => {
  expect(await lastLine(...args)).toBe(line)
})
