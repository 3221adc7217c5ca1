import fc from 'fast-check'
import { expect, it } from 'vitest'
import { changedParts } from '../../../../src/clients/watch/changed-parts.js'

const key = (name: string, point = 'p') => ({ id: `did:ledger:a#${name}`, publicKeyBase58: point })
const document = {
  id: 'did:ledger:a',
  publicKey: [key('primary'), key('phone')],
  expires: '2030',
  controller: ['x'],
  proof: 1,
}

it('names keys, controllers and members that were added, removed and changed', () => {
  const after = {
    ...document,
    publicKey: [key('primary', 'q'), key('laptop')],
    controller: ['y'],
    service: [key('hub')],
    proof: 2,
  }
  expect(changedParts(document, after)).toEqual([
    { member: 'publicKey', change: 'changed', id: 'did:ledger:a#primary' },
    { member: 'publicKey', change: 'removed', id: 'did:ledger:a#phone' },
    { member: 'publicKey', change: 'added', id: 'did:ledger:a#laptop' },
    { member: 'controller', change: 'removed', id: 'x' },
    { member: 'controller', change: 'added', id: 'y' },
    { member: 'service', change: 'added', id: 'did:ledger:a#hub' },
  ])
  const { expires: _, ...without } = document
  expect(changedParts(document, without)).toEqual([{ member: 'expires', change: 'removed' }])
  expect(changedParts(document, { ...document, expires: '2031' })).toEqual([{ member: 'expires', change: 'changed' }])
})

it('says that every member comes with a document and goes with it', () => {
  expect(changedParts(undefined, document).map(({ change }) => change)).toEqual([
    'added',
    'added',
    'added',
    'added',
    'added',
  ])
  expect(changedParts(document, undefined).every(({ change }) => change === 'removed')).toBe(true)
  expect(changedParts(document, document)).toEqual([])
})

it('finds a change exactly where the members differ', () => {
  const value = fc.oneof(
    fc.integer(),
    fc.array(fc.record({ id: fc.constantFrom('a', 'b'), n: fc.nat(1) })),
    fc.array(fc.nat(2)),
  )
  const some = fc.dictionary(fc.constantFrom('m', 'n', 'o'), value)
  fc.assert(
    fc.property(some, some, (before, after) => {
      const named = new Set(changedParts(before, after).map(({ member }) => member))
      for (const member of ['m', 'n', 'o']) {
        const differs = JSON.stringify(before[member]) !== JSON.stringify(after[member])
        expect(named.has(member)).toBe(differs)
      }
    }),
  )
})
