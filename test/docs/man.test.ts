import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { helpContext } from '../../scripts/docs/cli-page.js'
import { manPage } from '../../scripts/docs/man-page.js'
import { createProgram } from '../../src/cli/cli-program.js'
import { commandTree, everyCommand } from '../../src/cli/command-tree.js'
import { repositoryFile } from '../support/assert/markdown.js'

const file = 'man/didledger.1'
const page = repositoryFile(file)
const hasGroff = spawnSync('groff', ['--version']).status === 0

it('the manual page is the one that npm run docs writes, and the package has it', () => {
  expect(page).toBe(manPage())
  expect(JSON.parse(repositoryFile('package.json'))).toMatchObject({
    man: file,
    files: expect.arrayContaining(['man']),
  })
})

it('the manual page has every command and every option', () => {
  const commands = everyCommand(commandTree(createProgram(helpContext))).filter(({ children }) => children.length === 0)
  const plain = page.replaceAll('\\-', '-')
  for (const { path, options } of commands) {
    const start = plain.indexOf(`.SS "${path.join(' ')}`)
    expect(start, path.join(' ')).toBeGreaterThan(0)
    const end = plain.indexOf('\n.S', start + 1)
    for (const { usage } of options) expect(plain.slice(start, end), path.join(' ')).toContain(usage)
  }
})

it.skipIf(!hasGroff)('groff sets the manual page without a warning', () => {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  const { status, stdout, stderr } = spawnSync('groff', ['-man', '-ww', '-Tascii', '-P-cbou', path], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('--validator-key')
})
