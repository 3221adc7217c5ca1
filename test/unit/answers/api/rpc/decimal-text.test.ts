import { Type } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import { withIntegers } from '../../../../../src/answers/api/rpc/decimal-text.js'

const coin = Type.Object({ vout: Type.Integer({ maximum: 9 }), amount: Type.Union([Type.String(), Type.Number()]) })
const schema = Type.Object({
  height: Type.Optional(Type.Integer()),
  name: Type.Optional(Type.String()),
  coins: Type.Optional(Type.Union([Type.Array(coin), Type.String()])),
  heights: Type.Optional(Type.Array(Type.Array(Type.Integer()))),
})

test('decimal texts are read where an integer stands, however deep', () => {
  expect(withIntegers({ height: '7', heights: [['0', 1], [], ['20']] }, schema)).toEqual({
    height: 7,
    heights: [[0, 1], [], [20]],
  })
  expect(withIntegers({ coins: [{ vout: '3', amount: '3' }] }, schema)).toEqual({ coins: [{ vout: 3, amount: '3' }] })
  // The schema refuses it, with its own words.
  expect(withIntegers({ coins: [{ vout: '10' }] }, schema)).toEqual({ coins: [{ vout: 10 }] })
})

test('nothing else is', () => {
  for (const text of ['', '01', '+1', '-1', '1.0', '1e0', ' 1', '1\n', '٣']) {
    expect(withIntegers({ height: text }, schema)).toEqual({ height: text })
  }
  for (const params of [
    { name: '7' },
    { coins: '7' },
    { coins: ['7', null, ['7']] },
    { coins: { vout: '7' } },
    { height: ['7'] },
    { height: { vout: '7' } },
    { heights: '7' },
    { other: '7', more: { vout: '7' } },
    { toString: '7', constructor: { vout: '7' } },
    JSON.parse('{"__proto__":{"vout":"7"}}') as object,
    ['7'],
    [],
    null,
    '7',
    7,
  ]) {
    expect(withIntegers(params, schema)).toEqual(params)
  }
})
