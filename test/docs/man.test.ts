import { expect, it } from 'vitest'
import { helpContext } from '../../scripts/docs/cli-page.js'
import { manPage } from '../../scripts/docs/man-page.js'
import { createProgram } from '../../src/program/cli/cli-program.js'
import { commandTree, ownCommands } from '../../src/program/cli/command-tree.js'
import { repositoryFile } from '../support/assert/markdown.js'

const file = 'man/didledger.1'
const page = repositoryFile(file)

it('the manual page is the one that npm run docs writes, and the package has it', async () => {
  expect(page).toBe(await manPage())
  expect(JSON.parse(repositoryFile('package.json'))).toMatchObject({
    man: file,
    files: expect.arrayContaining(['man']),
  })
})

it('the manual page has every command and every option', async () => {
  const commands = ownCommands(commandTree(await createProgram(helpContext)))
  const plain = page.replaceAll('\\-', '-')
  for (const { path, options } of commands) {
    const start = plain.indexOf(`.SS "${path.join(' ')}`)
    expect(start, path.join(' ')).toBeGreaterThan(0)
    const end = plain.indexOf('\n.S', start + 1)
    for (const { usage } of options) expect(plain.slice(start, end), path.join(' ')).toContain(usage)
  }
})
