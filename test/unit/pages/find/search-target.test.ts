import { expect, it } from 'vitest'
import { searchTarget } from '../../../../src/pages/find/search-target.js'

const hash = 'AB'.repeat(32)

it.each([
  ['38', 'height', '38'],
  [' 1 234 ', 'height', '1234'],
  ['#7', 'height', '7'],
  [hash, 'hash', hash.toLowerCase()],
  [`0x${hash}`, 'hash', hash.toLowerCase()],
  ['EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG', 'address', 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG'],
  ['iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', 'did', 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'],
  ['did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc#', 'did', 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'],
  ['did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc#a', 'credential', 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc#a'],
  ['LinkedDomains', 'service', 'LinkedDomains'],
  ['<script>', 'service', '<script>'],
])('%j names a %s', (input, kind, text) => expect(searchTarget(input)).toEqual({ kind, text }))

it.each([
  'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uH',
  'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4ud',
  'did:web:example.org',
  'did:ledger:EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG',
])('%s is mistyped', (input) => expect(searchTarget(input)).toMatchObject({ kind: 'wrong', text: input }))

it('nothing is nothing', () => expect(searchTarget('  ')).toBeUndefined())
