import { describe, expect, it } from 'vitest'
import { commandsOf, helpContext, nameOf } from '../../scripts/docs/cli-page.js'
import { documentedMethods } from '../../scripts/docs/json-rpc-page.js'
import { createProgram } from '../../src/program/cli/cli-program.js'
import { repositoryFile, section, tableRows } from '../support/assert/markdown.js'

const methods = documentedMethods().map(({ name }) => name)

/** The names that the first column of a generated table links to sections. */
function linkedIn(page: string): string[] {
  return tableRows(repositoryFile(page)).flatMap(([cell = '']) => /^\[`(.+)`\]\(#/.exec(cell)?.[1] ?? [])
}

describe('README.md', () => {
  it('is read in five minutes: two screens', () => {
    expect(repositoryFile('README.md').split('\n').length).toBeLessThanOrEqual(120)
  })
})

describe('the generated tables', () => {
  it('docs/json-rpc.md lists every method, in order, and no other', () => {
    expect(linkedIn('docs/json-rpc.md')).toEqual(methods)
  })

  it('docs/cli.md lists every command, in order, and no other', async () => {
    expect(linkedIn('docs/cli.md')).toEqual(commandsOf(await createProgram(helpContext)).map(nameOf))
  })
})

describe('docs/devnet.md', () => {
  it('describes every dev_ method', () => {
    const described = section(repositoryFile('docs/devnet.md'), 'Methods')
    const named = [...described.matchAll(/^`(dev_\w+) \{/gm)].map(([, name]) => name)
    expect(named).toEqual(methods.filter((name) => name.startsWith('dev_')))
  })
})
