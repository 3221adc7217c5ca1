import { expect, it } from 'vitest'
import { curlOf, fieldOf, filledPath, parametersFrom } from '../../../../src/explorer/find/call-fields.js'

const fields = [
  fieldOf({ name: 'did', required: true, description: 'd', schema: { type: 'string' } }),
  fieldOf({ name: 'all', schema: { type: 'boolean' } }),
  fieldOf({ name: 'inputs', schema: { anyOf: [{ type: 'array', items: { type: 'object' } }, { type: 'string' }] } }),
  fieldOf({ name: 'state', schema: { anyOf: [{ const: 'all' }, { const: 'none' }] } }),
]

it('fields say what they take', () => {
  expect(fields.map(({ type, text, required }) => [type, text, required])).toEqual([
    ['string', true, true],
    ['boolean', false, false],
    ['list of object or string', false, false],
    ['"all" or "none"', true, false],
  ])
})

it('texts stay texts, others are JSON, empty ones are left out', () => {
  expect(parametersFrom(fields, { did: '12', all: 'true', inputs: '[{"a":1}]', state: ' ' })).toEqual({
    did: '12',
    all: true,
    inputs: [{ a: 1 }],
  })
  expect(parametersFrom(fields, { all: 'yes{' })).toEqual({ all: 'yes{' })
})

it('paths and commands are quoted', () => {
  const names = ['x', 'y', 'q', 'r'].map((name) => ({ name }))
  expect(filledPath('/a/{x}/{y}', names, { x: 'b/c?d' })).toBe('/a/b%2Fc%3Fd/{y}')
  expect(filledPath('/a/{x}', names, { x: '$&', q: 'a b', r: '1', s: '2' })).toBe('/a/%24%26?q=a%20b&r=1')
  expect(curlOf('http://h/', 'POST', `{"a":"it's"}`)).toBe(
    `curl -s 'http://h/' -H 'content-type: application/json' -d '{"a":"it'\\''s"}'`,
  )
  expect(curlOf('http://h/', 'GET', undefined)).toBe(`curl -s 'http://h/'`)
})
