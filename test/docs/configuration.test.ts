import { expect, it } from 'vitest'
import { configurationPage } from '../../scripts/docs/configuration-page.js'
import { allOptions, flagOf, otherVariables, variableOf } from '../../src/node/config/all-options.js'
import { code, fencedBlocks, repositoryFile, tableRows } from '../support/assert/markdown.js'
import { configOf } from '../support/builders/config.js'

const page = repositoryFile('docs/configuration.md')

it('docs/configuration.md is what the tables say', () => {
  expect(page).toBe(configurationPage())
})

it('has a row for every option', () => {
  const rows = tableRows(page).map(([key, flag, variable]) => [code(key), code(flag).split(' ')[0], code(variable)])
  expect(rows).toEqual(allOptions.map((option) => [option.key, flagOf(option), variableOf(option)]))
  for (const name of Object.keys(otherVariables)) expect(page).toContain(`\`${name}\``)
})

it('shows a file that works', () => {
  const [example] = fencedBlocks(page).filter(({ language }) => language === 'json5')
  expect(configOf(example?.text).settings.filter(({ origin }) => origin === 'file')).toHaveLength(3)
})
