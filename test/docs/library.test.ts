import { describe, expect, it } from 'vitest'
import * as node from '../../src/index.js'
import * as events from '../../src/node/library/events-entry.js'
import * as light from '../../src/node/library/light-entry.js'
import * as resolver from '../../src/node/library/resolver-entry.js'
import * as verify from '../../src/node/library/verify-entry.js'
import * as testing from '../../src/node/library/testing-entry.js'
import * as wallet from '../../src/node/library/wallet-entry.js'
import { code, repositoryFile, tableRows } from '../support/assert/markdown.js'

const page = repositoryFile('docs/library.md')

/** The names in the first column of the table whose head begins with `head`. */
function namedIn(head: string): string[] {
  const start = page.indexOf(`| ${head} |`)
  const table = page.slice(start, page.indexOf('\n\n', start))
  return tableRows(table).flatMap(([cell = '']) => cell.split(', ').map((name) => code(name)))
}

describe('docs/library.md', () => {
  it.each([
    ['didledger', node],
    ['didledger/resolver', resolver],
    ['didledger/events', events],
    ['didledger/light', light],
    ['didledger/verify', verify],
    ['didledger/testing', testing],
    ['didledger/wallet', wallet],
  ])('names every export of %s and no other', (entry, module) => {
    expect(namedIn(`export of \`${entry}\``).sort()).toEqual(Object.keys(module).sort())
  })
})
