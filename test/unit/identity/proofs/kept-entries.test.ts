import { describe, expect, it } from 'vitest'
import { keptEntries } from '../../../../src/identity/proofs/kept-entries.js'

const [create, update, deactivate] = [{ operation: 1 }, { operation: 2 }, { operation: 3 }] as const

describe('the operations whose transactions the latest state of a DID needs', () => {
  it.each([
    ['none of no history', [], []],
    ['the create without another', [create], [0]],
    ['the last update', [create, update, update], [2]],
    ['a deactivation with the document before it', [create, update, deactivate], [1, 2]],
    ['the same from the document on', [update, deactivate], [0, 1]],
    ['a deactivation alone, where its document is not among them', [deactivate], [0]],
  ] as const)('are %s', (_, entries, kept) => {
    expect(keptEntries(entries)).toEqual(kept)
  })
})
