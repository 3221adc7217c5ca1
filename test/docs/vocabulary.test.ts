import { readdirSync } from 'node:fs'
import { Linter } from 'eslint'
import { describe, expect, it } from 'vitest'
import { vagueWord, vocabulary } from '../../scripts/config/vocabulary.js'
import { repositoryFile } from '../support/assert/markdown.js'

const docs = readdirSync(new URL('../../docs/', import.meta.url), { recursive: true, encoding: 'utf8' })
// errors.md is made of texts that programs know; the glossary names the words that are not used.
const pages = docs.filter((name) => name.endsWith('.md') && !['errors.md', 'glossary.md'].includes(name))

describe('pages say who acts', () => {
  it.each(['README.md', 'CONTRIBUTING.md', ...pages.map((name) => `docs/${name}`)])('%s', (page) => {
    // What programs print stands in blocks as they print it, and the name of a member in quotes of code.
    const prose = repositoryFile(page)
      .replace(/^```[\s\S]*?^```$/gm, '')
      .replace(/`[^`\n]+`/g, '')
    expect(vagueWord.exec(prose)?.[0]).toBeUndefined()
  })
})

it('comments are linted for it', () => {
  const config = {
    plugins: { didledger: { rules: { vocabulary } } },
    rules: { 'didledger/vocabulary': 'error' },
  } as const
  const found = (code: string) => new Linter().verify(code, config).length
  expect(found('/** Whoever asks is told. */ const a = 1 // nobody')).toBe(2)
  expect(found("/** The peer that asked. */ const heard = 'nobody'")).toBe(0)
})
