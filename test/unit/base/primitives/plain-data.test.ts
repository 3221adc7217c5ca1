import { expect, it } from 'vitest'
import { below, copyPlain } from '../../../../src/base/primitives/plain-data.js'

const rules = {
  depth: 3,
  values: 6,
  numberFault: (value: number) => (value < 0 ? 'below 0' : undefined),
  refuse: (where: string, fault: string) => new Error(`<${where}> ${fault}`),
}

it('copies what JSON has, with Maps for objects', () => {
  const bare = Object.assign(Object.create(null) as object, { a: 1 })
  expect(copyPlain([null, true, 'x', bare], rules)).toEqual([null, true, 'x', new Map([['a', 1]])])
  expect([below('', 'a'), below('a', 'b')]).toEqual(['a', 'a.b'])
})

it.each<[string, unknown, string]>([
  ['undefined', { a: [1, undefined] }, '<top.a[1]> there is no JSON form of this undefined'],
  ['a hole', [, 1], '<top[0]> there is no JSON form of this undefined'], // eslint-disable-line no-sparse-arrays
  ['a function', { a: () => 1 }, '<top.a> there is no JSON form of this function'],
  ['a symbol', Symbol('a'), '<top> there is no JSON form of this symbol'],
  ['a bigint', [10n], '<top[0]> there is no JSON form of this bigint'],
  ['a Map', { a: new Map() }, '<top.a> there is no JSON form of this object'],
  ['a Date', { a: new Date() }, '<top.a> there is no JSON form of this object'],
  ['bytes', { a: Uint8Array.of(1) }, '<top.a> there is no JSON form of this object'],
  ['a number that the rules refuse', { a: -1 }, '<top.a> below 0'],
  ['what is too deep', [[[[]]]], '<> nested deeper than 3 levels'],
  ['too many values', [1, 2, 3, 4, 5, 6], '<> more than 6 values'],
])('refuses %s', (_, value, message) => {
  expect(() => copyPlain(value, rules, 'top')).toThrow(message)
})

it('refuses what holds itself', () => {
  const whole: unknown[] = []
  whole.push(whole)
  expect(() => copyPlain(whole, rules)).toThrow('nested deeper')
})
