import { expect, it } from 'vitest'
import { defined } from '../../../../src/base/primitives/defined.js'

it('defined leaves undefined members out, and nothing else', () => {
  const members = { one: 1, none: undefined, null: null, empty: '', zero: 0, no: false }
  expect(Object.entries(defined(members))).toEqual([
    ['one', 1],
    ['null', null],
    ['empty', ''],
    ['zero', 0],
    ['no', false],
  ])
  expect({ limit: 5, ...defined({ limit: undefined as number | undefined }) }).toEqual({ limit: 5 })
})
