import { expect, it } from 'vitest'
import { failureTexts } from '../../src/light/failure-texts.js'
import { code, repositoryFile, section, tableRows } from '../support/assert/markdown.js'

it('docs/trust.md lists every failure of a check, with the words of the commands', () => {
  const rows = tableRows(section(repositoryFile('docs/trust.md'), 'What can fail'))
  expect(rows.map(([name, text]) => [code(name), text])).toEqual(Object.entries(failureTexts))
})
