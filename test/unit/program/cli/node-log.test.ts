import { expect, it } from 'vitest'
import { eventLine } from '../../../../src/program/cli/node-log.js'
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
  [
    { topic: 'gap', missed: 'transaction' },
    '2030-01-01T00:00:00Z  ! gap          transactions that the pool took meanwhile are not told',
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
