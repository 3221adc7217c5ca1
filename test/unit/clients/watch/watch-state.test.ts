import { expect, it } from 'vitest'
import { emptyState, lastOperations, readState, stateText } from '../../../../src/clients/watch/watch-state.js'

it('comes back as it was written', () => {
  const state = { ...emptyState(), after: 'ab', reverts: 2 }
  state.dids.set('did:ledger:a', [
    { txid: 'cd', height: 1 },
    { txid: 'ef', height: 2, operation: 'update', change: 'changes' },
  ])
  expect(readState(stateText(state))).toEqual(state)
})

it('refuses texts of another form', () => {
  const good = JSON.parse(stateText(emptyState())) as object
  for (const wrong of [
    '',
    '{}',
    '[]',
    'null',
    ...[{ format: 'x' }, { dids: 1 }, { dids: { a: [{}] } }, { after: 1 }, { told: 1 }, { reverts: 'x' }].map(
      (change) => JSON.stringify({ ...good, ...change }),
    ),
  ]) {
    expect(() => readState(wrong), wrong).toThrow()
  }
})

it('remembers the last operations of a DID', () => {
  const many = Array.from({ length: 20 }, (_, height) => ({ txid: 'ab', height }))
  expect(lastOperations(many).map(({ height }) => height)).toEqual([12, 13, 14, 15, 16, 17, 18, 19])
})
