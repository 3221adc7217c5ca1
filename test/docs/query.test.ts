import { describe, expect, it } from 'vitest'
import { compileCondition } from '../../src/identity/did-query/compile.js'
import { conditionLimits } from '../../src/identity/did-query/condition.js'
import type { Members } from '../../src/identity/did-query/member-path.js'
import { operators } from '../../src/identity/did-query/operators.js'
import { RuleError } from '../../src/base/errors/rule-error.js'
import { queryLimits } from '../../src/answers/resolver/document-search.js'
import { code, fencedBlocks, repositoryFile, section, tableRows } from '../support/assert/markdown.js'

const page = repositoryFile('docs/query.md')
const documents = fencedBlocks(page).map(({ text }) => JSON.parse(text) as Members)
const conditions = section(page, 'Conditions')
const examples = tableRows(conditions).filter(([condition]) => code(condition).startsWith('{'))

/** Who is found, as the page says it. */
function found(condition: string): string {
  try {
    const { matches } = compileCondition(condition)
    const names = documents.flatMap((document, i) => (matches(document) ? [['Ada', 'Bob'][i]] : []))
    return names.length === 0 ? 'neither' : names.join(', ')
  } catch (error) {
    if (error instanceof RuleError && error.code === 'query-invalid') return 'refused'
    throw error
  }
}

describe('docs/query.md', () => {
  it.each(examples.map(([condition, who]) => [code(condition), who]))('%s finds %s', (condition, who) => {
    expect(found(condition as string)).toBe(who)
  })

  it('describes every operator', () => {
    const described = tableRows(conditions).flatMap(([cell = '']) => cell.match(/(?<=^|` )`\$\w+(?=`)/g) ?? [])
    const named = described.map((name) => name.slice(1))
    const all = [...operators.keys(), '$all', '$elemMatch', '$not', '$and', '$or', '$nor']
    expect(named.sort()).toEqual(all.filter((name) => name !== '$options').sort())
  })

  it('has examples enough, and says the limits', () => {
    expect(examples.length).toBeGreaterThan(30)
    const { bytes, depth, nodes } = conditionLimits
    expect(page).toContain(`${bytes / 1024} KiB of text, ${depth} levels and ${nodes} values`)
    expect(page).toContain(`${queryLimits.documentsUnasked} unless given, at most ${queryLimits.documents};`)
  })
})
