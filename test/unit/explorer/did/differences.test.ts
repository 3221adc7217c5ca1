import { expect, it } from 'vitest'
import { differencesOf } from '../../../../src/explorer/did/differences.js'

const service = (name: string, type: string) => ({ id: `did:ledger:x#${name}`, type })

it('entries are known by their id, wherever they stand', () => {
  const before = { service: [service('a', 'A'), service('b', 'B')], expires: '1', authentication: ['x#k', 'x#l'] }
  const after = { service: [service('b', 'C'), service('c', 'D')], expires: '2', authentication: ['x#k', 'x#m'] }
  expect(differencesOf(before, after)).toEqual([
    { path: ['service', '#b', 'type'], kind: 'changed', before: 'B', after: 'C' },
    { path: ['service', '#c'], kind: 'added', after: service('c', 'D') },
    { path: ['service', '#a'], kind: 'removed', before: service('a', 'A') },
    { path: ['expires'], kind: 'changed', before: '1', after: '2' },
    { path: ['authentication', '#m'], kind: 'added', after: 'x#m' },
    { path: ['authentication', '#l'], kind: 'removed', before: 'x#l' },
  ])
})

it('equal versions have none, and members come and go', () => {
  expect(differencesOf({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toEqual([])
  expect(differencesOf({ a: 1 }, { b: null })).toEqual([
    { path: ['a'], kind: 'removed', before: 1 },
    { path: ['b'], kind: 'added', after: null },
  ])
})

it('names such as __proto__ are members like others', () => {
  const after = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as object
  differencesOf({}, after)
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})
