import { readdirSync } from 'node:fs'
import { Linter, type Rule } from 'eslint'
import { describe, expect, it } from 'vitest'
import { openings, riddles, vagueWord, vocabulary } from '../../scripts/config/vocabulary.js'
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

/** Number of comments of a text that a rule refuses. */
function refused(rule: Rule.RuleModule, code: string): number {
  const config = { plugins: { didledger: { rules: { rule } } }, rules: { 'didledger/rule': 'error' } } as const
  return new Linter().verify(code, config).length
}

describe('lint rules of comments', () => {
  it('refuse words that leave open who acts', () => {
    expect(refused(vocabulary, '/** Whoever asks is told. */ const a = 1 // nobody')).toBe(2)
    expect(refused(vocabulary, "/** The peer that asked. */ const heard = 'nobody'")).toBe(0)
  })

  it.each(['What', 'Where', 'So', 'Of'])('refuse a doc comment that begins with %s', (word) => {
    expect(refused(openings, `/** ${word} it is. */ const a = 1`)).toBe(1)
    expect(refused(openings, `/**\n * ${word} it is.\n */ const a = 1`)).toBe(1)
    expect(refused(openings, `/** Sum. ${word} it is; ${word}ever. */ const a = 1 // ${word} it is`)).toBe(0)
    expect(refused(openings, `/** ${word}ever it is. */ const ${word} = 1`)).toBe(0)
  })

  it.each(['where absent', 'goes on', 'believes', 'is given'])('refuse "%s" in a doc comment', (words) => {
    expect(refused(riddles, `/** It ${words}. */ const a = 1`)).toBe(1)
    expect(refused(riddles, `/**\n * It ${words.replace(' ', '\n * ')}.\n */ const a = 1`)).toBe(1)
    expect(refused(riddles, `/** @limit count: it ${words} */ const a = 1 // it ${words}`)).toBe(0)
    expect(refused(riddles, `/** It${words}. */ const a = '${words}'`)).toBe(0)
  })
})
