import { expect, it } from 'vitest'
import { leafAttack } from './leaves.js'

it.each([
  ['by rule', { minimum: '100', perByte: '1', freeBytes: 1024, leaf: '1200' }],
  ['by policy', { minimum: '100', perByte: '0' }],
])('a leaf of the map that no DID needs costs what a DID costs, %s', async (_, fees) => {
  expect(await leafAttack({ dids: 3, blocks: 2 }, fees)).toEqual([])
})
