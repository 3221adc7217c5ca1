import { describe, expect, it } from 'vitest'
import { eventLine, LogPlace, rememberedEvents } from '../../../../src/program/cli/node-log.js'
import { linesText } from '../../../../src/program/cli/print-output.js'
import { ageText } from '../../../../src/program/cli/node-status.js'

const now = Date.UTC(2030, 0, 1)

it.each([
  [
    { topic: 'block', action: 'apply', height: 7, hash: 'ab', transactions: 2 },
    '2030-01-01T00:00:00Z  + block        height 7, 2 transactions, ab',
  ],
  [
    { topic: 'block', action: 'revert', height: 7, hash: 'ab', transactions: 2 },
    '2030-01-01T00:00:00Z  - block        height 7, 2 transactions, ab',
  ],
  [
    { topic: 'transaction', action: 'apply', txid: 'cd', type: 10, size: 300, fee: '0.00000100' },
    '2030-01-01T00:00:00Z  + transaction  cd, type 10, 300 bytes, fee 0.00000100',
  ],
  [
    { topic: 'did', action: 'apply', did: 'did:ledger:i', operation: 'create', txid: 'ef', height: 1 },
    '2030-01-01T00:00:00Z  + did          create did:ledger:i, height 1, ef',
  ],
  [
    {
      topic: 'credential',
      action: 'apply',
      id: 'x#\u001b]0;y\n\u202e',
      operation: 'declare',
      signer: 'z',
      txid: 'q',
      height: 1,
    },
    '2030-01-01T00:00:00Z  + credential   declare x#\\u001b]0;y\\u000a\\u202e by z, height 1, q',
  ],
])('an event is a line: %j', (event, line) => {
  expect(linesText([eventLine(event, now)])).toBe(`${line}\n`)
})

it.each([
  [0, '0 s'],
  [59, '59 s'],
  [185, '3 min 5 s'],
  [3600, '1 h'],
  [90_061, '1 d 1 h'],
])('an age has two units at most: %d', (seconds, text) => {
  expect(ageText(seconds)).toBe(text)
})

describe('the place of a log', () => {
  const block = (action: string, hash: string, previousblockhash: string) => ({
    topic: 'block',
    action,
    hash,
    previousblockhash,
  })
  const operation = { topic: 'did', action: 'apply', did: 'did:ledger:a', txid: 'ab', height: 3, number: 7 }

  it('is the last block, or the one below a block that was taken back', () => {
    const place = new LogPlace({})
    expect([place.hasBegun, place.from]).toEqual([false, {}])
    place.begin('a')
    expect([place.hasBegun, place.from]).toEqual([true, { afterBlock: 'a' }])
    place.take(block('apply', 'b', 'a'))
    place.begin('c')
    expect(place.from).toEqual({ afterBlock: 'b' })
    place.take(block('revert', 'b', 'a'))
    expect(place.from).toEqual({ afterBlock: 'a' })
  })

  it('stays at a height until a block has come', () => {
    const place = new LogPlace({ fromHeight: 2 })
    place.begin('z')
    place.take(operation)
    expect(place.from).toEqual({ fromHeight: 2 })
  })

  it('leaves out operations that came before their block did, and come again with it', () => {
    const place = new LogPlace({})
    place.begin('a')
    expect(place.take(operation)).toBe(true)
    expect(place.take({ ...operation, number: null })).toBe(false)
    expect(place.take({ ...operation, txid: 'cd' })).toBe(true)
    expect(place.take(block('apply', 'b', 'a'))).toBe(true)
    expect(place.take({ ...operation, action: 'revert' })).toBe(true)
    expect([1, 2].map(() => place.take({ topic: 'transaction', action: 'apply', txid: 'x' }))).toEqual([true, true])
  })

  it('forgets the oldest operations of a block that never comes', () => {
    const place = new LogPlace({})
    place.begin('a')
    const later = (height: number) => ({ ...operation, height })
    for (let height = 0; height <= rememberedEvents; height++) place.take(later(height))
    expect([1, rememberedEvents].map((height) => place.take(later(height)))).toEqual([false, false])
    expect(place.take(later(0))).toBe(true)
  })
})
