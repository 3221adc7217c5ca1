import { expect, it } from 'vitest'
import { requireKnown } from '../../../../src/base/primitives/known-members.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'

it('refuses a member that is not known, and names those that are', () => {
  requireKnown('f', {}, ['a', 'b'])
  requireKnown('f', { a: 1, b: undefined }, ['a', 'b'])
  const refused = () => requireKnown('f', { a: 1, c: 2 }, ['a', 'b'])
  expect(refused).toThrow(new UserError('c is no option of f; there are a, b'))
})
