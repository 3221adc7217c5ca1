import { expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import type { DidMessage } from '../../../../src/clients/watch/watch-message.js'
import { emptyState, lastOperations, readState, stateText } from '../../../../src/clients/watch/watch-state.js'

const told: DidMessage = {
  ...{ format: 'didledger/watch/1', id: 'ef', kind: 'did', action: 'apply', did: 'did:ledger:a', operation: 'create' },
  ...{ txid: 'cd', height: 1, change: 'begins', proved: { height: 2, hash: 'ab', time: 1, age: 0 } },
}

it('comes back as it was written', () => {
  const state = { ...emptyState(), after: 'ab', told: [told], reverts: 2 }
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
    ...[
      ...[{ format: 'x' }, { dids: 1 }, { dids: { a: [{}] } }, { after: 1 }, { told: 1 }, { reverts: 'x' }],
      ...[{ told: [null] }, { told: [{}] }, { told: [{ ...told, did: 1 }] }, { told: [{ ...told, height: '1' }] }],
    ].map((change) => JSON.stringify({ ...good, ...change })),
  ]) {
    expect(() => readState(wrong), wrong).toThrow(/^the state of the watch is damaged/)
    expect(() => readState(wrong), wrong).toThrow(UserError)
  }
})

it('refuses a text that was cut anywhere', () => {
  const state = { ...emptyState(), after: 'ab', told: [told] }
  state.dids.set('did:ledger:a', [{ txid: 'cd', height: 1 }])
  const text = stateText(state)
  for (let size = 0; size < text.length; size++) expect(() => readState(text.slice(0, size)), text).toThrow(UserError)
})

it('is of one chain: that of another is refused, and one of none takes the one that is followed', () => {
  const text = stateText({ ...emptyState(), chain: 'ab' })
  expect(readState(text, 'ab').chain).toBe('ab')
  expect(readState(text).chain).toBeUndefined()
  expect(() => readState(text, 'cd')).toThrow('the state of the watch is of another chain, ab')
  expect(readState(stateText(emptyState()), 'cd').chain).toBe('cd')
})

it('remembers the last operations of a DID', () => {
  const many = Array.from({ length: 20 }, (_, height) => ({ txid: 'ab', height }))
  expect(lastOperations(many).map(({ height }) => height)).toEqual([12, 13, 14, 15, 16, 17, 18, 19])
})
