import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { tables } from '../../src/ledger/storage/rows/tables.js'

it('every table of rows is sent with a state, follows from it, is not had, or is of the node itself', () => {
  const text = readFileSync(new URL('../../docs/format.md', import.meta.url), 'utf8')
  const roles = ['sent', 'follows', 'not had', 'of the node itself']
  const named = roles.flatMap((role) => {
    const [, list = ''] = new RegExp(`\\n- ${role}: (.*)`).exec(text) ?? []
    // Of table 04 and 07 a part is not had: they count where they are sent.
    return (role === 'not had' ? (list.split(', the other')[0] as string) : list).match(/\b[012f][0-9a-f]\b/g) ?? []
  })
  const numbers = Object.values(tables).map(({ number }) => number.toString(16).padStart(2, '0'))
  expect(named.sort()).toEqual(numbers.sort())
})
