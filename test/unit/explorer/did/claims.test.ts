import { expect, it } from 'vitest'
import { claimsIn } from '../../../../src/explorer/did/claims.js'

it('claims are texts by name, one a line', () => {
  expect(claimsIn('name=Ada Lovelace\n\n born = 1815 \nsum=a=b\nempty=')).toEqual({
    name: 'Ada Lovelace',
    born: '1815',
    sum: 'a=b',
    empty: '',
  })
  expect(Object.keys(claimsIn('__proto__=x'))).toEqual(['__proto__'])
})

it.each([
  ['name', /form name=value.*: name$/],
  ['=Ada', /form name=value.*: =Ada$/],
  ['a=1\na=2', /claim a is given twice/],
  [' \n', /says something/],
])('refuses %j', (text, reason) => expect(() => claimsIn(text)).toThrow(reason))
