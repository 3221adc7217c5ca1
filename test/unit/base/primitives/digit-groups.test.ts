import { expect, it } from 'vitest'
import { withoutGaps } from '../../../../src/base/primitives/digit-groups.js'
import { whole } from '../../../../src/explorer/text/numbers.js'

it.each([
  [`${whole(1_234_567)}.25`, '1234567.25'],
  ['12 345', '12345'],
  ['1\u00a0000', '1000'],
  ['-1\u2009000', '-1000'],
])('%j is %s', (text, number) => {
  expect(withoutGaps(text)).toBe(number)
})

it.each(['1 2', '1234 567', '12 34', '1 000 00', '1 000\u00a0000', '1,000', '1 000.000 1', '1 000,5', 'a 000', ''])(
  '%j stays as it is',
  (text) => {
    expect(withoutGaps(text)).toBe(text)
  },
)
