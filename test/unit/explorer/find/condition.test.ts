import { expect, it } from 'vitest'
import { compileCondition } from '../../../../src/identity/did-query/compile.js'
import {
  conditionOf,
  type ConditionRow,
  isComplete,
  type KindName,
  kinds,
} from '../../../../src/explorer/find/condition.js'

const row = (kind: KindName, value: string, changes: Partial<ConditionRow> = {}): ConditionRow => {
  return { kind, value, name: '', negated: false, ...changes }
}

it('one row is its condition, several are joined, none is every DID', () => {
  const [hub, claim] = [row('service', ' Hub '), row('claim', 'email', { negated: true })]
  expect(conditionOf([hub], 'all')).toEqual({ service: { type: 'Hub' } })
  expect(conditionOf([hub, claim], 'any')).toEqual({
    $or: [{ service: { type: 'Hub' } }, { $nor: [{ credential: { subject: { email: { $exists: true } } } }] }],
  })
  expect(conditionOf([hub, claim, row('did', '')], 'all')).toMatchObject({ $and: [{}, {}] })
  expect(conditionOf([row('did', '  ')], 'all')).toEqual({})
})

it('a part of a text is looked for in any case, whatever characters it has', () => {
  const type = (value: string) => conditionOf([row('servicePart', value)], 'all')
  expect(type('Hub')).toEqual({ service: { type: { $regex: 'Hub', $options: 'i' } } })
  expect(type('Hub.v2')).toEqual({ service: { type: { $regex: 'Hub\\.v2', $options: 'i' } } })
  const name = 'Dr. Ada Lovelace (CEO) a+b [x] {y} ^|$ c\\d *?'
  const parts = ['ada lovelace', 'dr. ada', 'Ada Lovelace (CEO)', 'lovelace (ceo)', 'A+B', '[x] {y} ^|$ C\\D *?', name]
  for (const part of parts) {
    const { matches } = compileCondition(JSON.stringify(conditionOf([row('namePart', part)], 'all')))
    const named = (text: string) => matches({ verifiableCredential: [{ credentialSubject: { name: text } }] })
    expect([part, named(name), named('Dr Ada Lovelace CEO')]).toEqual([part, true, part === 'ada lovelace'])
  }
})

it('the beginning of an endpoint is looked for as it is written', () => {
  const asked = conditionOf([row('endpoint', 'https://a.example/?x=(1)')], 'all')
  const { matches, texts } = compileCondition(JSON.stringify(asked))
  const at = (serviceEndpoint: string) => matches({ service: [{ serviceEndpoint }] })
  expect(at('https://a.example/?x=(1)&y')).toBe(true)
  for (const other of ['https://aXexample/?x=(1)', 'HTTPS://a.example/?x=(1)', 'see https://a.example/?x=(1)'])
    expect(at(other)).toBe(false)
  // Documents without it are not parsed.
  expect(texts).toEqual(['https://a.example/?x=(1)'])
})

it('a row with a name needs it', () => {
  expect(isComplete(row('claimIs', 'x'))).toBe(false)
  expect(isComplete(row('claimIs', 'x', { name: 'y' }))).toBe(true)
})

it.each([
  ['36', { $in: [36, '36'] }],
  ['-1.5', { $in: [-1.5, '-1.5'] }],
  ['true', { $in: [true, 'true'] }],
  ['null', { $in: [null, 'null'] }],
  ['02', '02'],
  ['1.50', '1.50'],
  ['-0', '-0'],
  ['12345678901234567890', '12345678901234567890'],
  ['Ada', 'Ada'],
])('the value %s is a text, and what else it may be', (value, condition) => {
  expect(conditionOf([row('path', value, { name: 'a.b' })], 'all')).toEqual({ 'a.b': condition })
  const claim = conditionOf([row('claimIs', value, { name: 'age' })], 'all')
  expect(claim).toEqual({ credential: { subject: { age: condition } } })
  const { matches } = compileCondition(JSON.stringify(claim))
  const holding = (age: unknown) => matches({ verifiableCredential: [{ credentialSubject: { age } }] })
  expect([holding(value), holding(`${value}1`)]).toEqual([true, false])
  if (typeof condition !== 'string') expect(holding(condition.$in[0])).toBe(true)
})

it.each(Object.keys(kinds) as KindName[])('the node takes the condition of a row: %s', (kind) => {
  const text = JSON.stringify(conditionOf([row(kind, '2030-01-01', { name: 'name' })], 'all'))
  expect(() => compileCondition(text)).not.toThrow()
})
