import { expect, it } from 'vitest'
import { provedMembers } from '../../src/clients/light/proved-members.js'
import { failureTexts } from '../../src/clients/light/failure-texts.js'
import { code, repositoryFile, section, tableRows } from '../support/assert/markdown.js'

it('docs/trust.md lists every failure of a check, with the words of the commands', () => {
  const rows = tableRows(section(repositoryFile('docs/trust.md'), 'What can fail'))
  expect(rows.map(([name, text]) => [code(name), text])).toEqual(Object.entries(failureTexts))
})

/** How docs/trust.md names each kind of member. */
const kinds = {
  proof: 'proof',
  signature: 'signature, where `signedBy` stands',
  checker: 'the checker',
  said: 'the node alone',
} as const

it('docs/trust.md lists every member of an answer, with what it rests on', () => {
  const rows = tableRows(section(repositoryFile('docs/trust.md'), 'Member by member'))
  expect(rows.map(([member, by, why]) => [code(member), by, why])).toEqual(
    provedMembers.map(({ member, by, why }) => [member, kinds[by], why]),
  )
})
