import { expect, it } from 'vitest'
import { credentialSubject, didSubject, searchTarget } from '../../../../src/explorer/find/search-target.js'

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
  ['LinkedDomains', 'text', 'LinkedDomains'],
  ['<script>', 'text', '<script>'],
])('%j names a %s', (input, kind, text) => expect(searchTarget(input)).toEqual({ kind, text }))

const known = 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'
const encoded = encodeURIComponent(known)

it.each([
  `${known}?versionTime=2027-01-01T00:00:00Z`,
  `${known}/path/to?service=a`,
  `${known}?service=home&relativeRef=/a/b`,
  encoded,
  encoded.toLowerCase().replace(/i(?=iefw).*/, 'iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'),
  encodeURIComponent(`${known}?versionTime=2027-01-01T00:00:00Z`),
  `"${known}",`,
  `<${known}>`,
  `https://resolver.example/1.0/identifiers/${known}`,
  `https://resolver.example/1.0/identifiers/${encoded}?versionTime=2027-01-01T00:00:00Z`,
  `HTTP://127.0.0.1:20334/1.0/identifiers/${encodeURIComponent(`${known}?service=a`)}`,
  `https://resolver.example/#${known}`,
  `https://pages.example/#/did/${known}?at=7`,
  `https://pages.example/show?id=${encoded}&lang=en`,
])('%s leads to the page of the DID', (input) => expect(searchTarget(input)).toEqual({ kind: 'did', text: known }))

it.each([
  `${known}?versionTime=2027-01-01T00:00:00Z#a b`,
  `${known}#a%20b`,
  encodeURIComponent(`${known}#a b`),
  `https://resolver.example/1.0/identifiers/${encodeURIComponent(`${known}#a b`)}`,
])('%s leads to what belongs to the DID', (input) =>
  expect(searchTarget(input)).toEqual({ kind: 'credential', text: `${known}#a b` }),
)

it.each(['https://resolver.example/1.0/identifiers/', 'https://example.org/mydid:ledger:x', 'candid:ledger:x'])(
  '%s names no DID',
  (input) => expect(searchTarget(input)).toEqual({ kind: 'text', text: input }),
)

it.each([
  'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uH',
  'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4ud',
  'did:web:example.org',
  'did:ledger:EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG',
])('%s is mistyped', (input) => expect(searchTarget(input)).toMatchObject({ kind: 'wrong', text: input }))

it('nothing is nothing', () => expect(searchTarget('  ')).toBeUndefined())

const identifier = 'iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'
const did = `did:ledger:${identifier}`

it('a page of a DID takes it in full or as its identifier, and no other text', () => {
  for (const subject of [did, identifier]) expect(didSubject(subject)).toEqual({ kind: 'did', text: did })
  expect(didSubject('did:ledger:the.shop')).toEqual({ kind: 'did', text: 'did:ledger:the.shop' })
  const reasons: [string, RegExp][] = [
    [`${did.slice(0, -1)}d`, /checksum is wrong/],
    ['did:ledger:EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG', /an address/],
    ['did:ledger:I', /34 characters/],
    ['', /34 characters/],
    ['did:web:example.org', /begin with did:ledger:/],
    [`${did}#key`, /the id of something/],
  ]
  for (const [subject, reason] of reasons) {
    expect(didSubject(subject)).toMatchObject({ kind: 'wrong', reason: expect.stringMatching(reason) as string })
  }
})

it('a page of a credential takes its absolute id, and no other text', () => {
  expect(credentialSubject(`${did}#a`)).toEqual({ kind: 'credential', text: `${did}#a` })
  for (const subject of [did, `${did}#`, `${did.slice(0, -1)}d#a`, '#a', ''])
    expect(credentialSubject(subject).kind, subject).toBe('wrong')
})
