import { describe, expect, it } from 'vitest'
import { searchTarget } from '../../../../src/explorer/find/search-target.js'

const hash = 'AB'.repeat(32)

it.each([
  ['38', 'height', '38'],
  [' 1 234 ', 'height', '1234'],
  ['#7', 'height', '7'],
  ['12.', 'height', '12'],
  ['1.234', 'height', '1234'],
  ['1.234.567', 'height', '1234567'],
  ['1.23', 'text', '1.23'],
  ['block/7', 'height', '7'],
  ['/blocks/7/', 'height', '7'],
  ['https://explorer.example/block/1234?tab=2', 'height', '1234'],
  ['http://127.0.0.1:20334/api/v1/block/details/height/7', 'height', '7'],
  ['http://127.0.0.1:20334/api/v1/block/hash/7', 'height', '7'],
  ['"height": 7,', 'height', '7'],
  ['{"hash":"ab","height":7,"version":1}', 'height', '7'],
  ['height=7', 'height', '7'],
  ['roadblock/7', 'text', 'roadblock/7'],
  ['block/7th', 'text', 'block/7th'],
  ['height: 1.5', 'text', 'height: 1.5'],
  ['1_234', 'height', '1234'],
  ["1'234", 'height', '1234'],
  ['block 12', 'height', '12'],
  ['Block #12.', 'height', '12'],
  ['Height: 1,234', 'height', '1234'],
  ['\uff17', 'height', '7'],
  ['block height 9999999999', 'height', '9999999999'],
  ['block 99999999999', 'text', 'block 99999999999'],
  ['block', 'text', 'block'],
  ['block twelve', 'text', 'block twelve'],
  ['1.5', 'text', '1.5'],
  ['-12', 'text', '-12'],
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
  `https://pages.example/in?next=${encodeURIComponent(`/show?did=${encoded}&lang=en`)}`,
  encodeURIComponent(encoded),
  known.replace('did:ledger', 'Did:ledger'),
  known.replace('did:ledger', 'DID:LEDGER'),
  `**${known}**`,
  `_${known}_`,
  `${known}&lang=en`,
  `${known}%20`,
  `${known}…`,
  `${known}\\n`,
  `DID:${known}`,
  `web+did:${known}`,
])('%s leads to the page of the DID', (input) => expect(searchTarget(input)).toEqual({ kind: 'did', text: known }))

const address = 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG'
const around: readonly ((id: string) => string)[] = [
  (id) => `\u200b${id}\ufeff`,
  (id) => `${id.slice(0, 7)}\u00ad${id.slice(7, 9)}\u200f\u2060${id.slice(9)}`,
  (id) => `“${id}”`,
  (id) => `‘${id}’,`,
  (id) => `(${id}).`,
  (id) => `\`${id}\``,
  (id) => `"${id}",`,
  (id) => `[Ada](${id})`,
  (id) => `{"id":"${id}"}`,
  (id) => `${id}.`,
  (id) => `the id: ${id}, and ${id} again`,
  (id) => `https://explorer.example/tx/${id}`,
  (id) => `127.0.0.1:20334/#/transaction/${id}?from=1`,
]

it.each(around.map((write) => [write('…'), write] as const))('an id is found in %j', (_, write) => {
  expect(searchTarget(write(known))).toEqual({ kind: 'did', text: known })
  expect(searchTarget(write(hash))).toEqual({ kind: 'hash', text: hash.toLowerCase() })
  expect(searchTarget(write(`0x${hash}`))).toEqual({ kind: 'hash', text: hash.toLowerCase() })
  expect(searchTarget(write(address))).toEqual({ kind: 'address', text: address })
})

it('an id that was broken into lines is one', () => {
  const broken = (id: string) => `${id.slice(0, 20)}\r\n  ${id.slice(20)}`
  expect(searchTarget(broken(known))).toEqual({ kind: 'did', text: known })
  expect(searchTarget(broken(hash))).toEqual({ kind: 'hash', text: hash.toLowerCase() })
  expect(searchTarget(broken(address))).toEqual({ kind: 'address', text: address })
  expect(searchTarget('did:ledger:sh op')).toEqual({ kind: 'did', text: 'did:ledger:sh' })
})

it.each([
  [`${hash}:0`, 'hash', hash.toLowerCase()],
  ['http://127.0.0.1:20334/#/block/3', 'height', '3'],
  ['[block 3](http://127.0.0.1:20334/#/block/3)', 'height', '3'],
  ['[block 3](http://127.0.0.1:20334/#/block/3).', 'height', '3'],
  [`http://127.0.0.1:20334/#/credential/${known}%23a%2Fb?x=1`, 'credential', `${known}#a/b`],
  [`https://pages.example/show?id=${encoded}%23a&lang=en`, 'credential', `${known}#a`],
  [`${known}#a(b)`, 'credential', `${known}#a(b)`],
  [`${known}#a,`, 'credential', `${known}#a`],
  [`see ${known}#a.`, 'credential', `${known}#a`],
  ['did:ledger:shop.', 'did', 'did:ledger:shop.'],
])('%s leads to a %s', (input, kind, text) => expect(searchTarget(input)).toEqual({ kind, text }))

it.each([
  `x${hash}`,
  `${hash}0`,
  `/${address}1`,
  'http://127.0.0.1:20334/#/charts',
  'did: a text',
  'Ada \u200cL.',
  '\u202e',
])('no id is found in %j', (input) => expect(searchTarget(input)).toEqual({ kind: 'text', text: input }))

it('a text is looked for without what is unseen around it', () => {
  expect(searchTarget(' \u200bAda \u200cL.\u2060 ')).toEqual({ kind: 'text', text: 'Ada \u200cL.' })
})

it.each([
  [`${known} ${hash}`, /Several ids/],
  [`{"id":"${known}#a","issuer":"did:ledger:shop"}`, /Several ids/],
  [`did:ledger:x:${known.slice('did:ledger:'.length)}`, /34 characters/],
  ['see did:web:example.org', /begin with did:ledger:/],
])('%s is refused with a reason', (input, reason) => {
  expect(searchTarget(input)).toMatchObject({ kind: 'wrong', reason: expect.stringMatching(reason) as string })
})

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

describe('words of a wallet', () => {
  const words = (count: number, word = 'abandon') => Array(count).fill(word).join(' ')

  it.each([12, 15, 18, 21, 24])('%i words of a to z are told apart, and not handed on', (count) => {
    for (const text of [
      words(count),
      words(count, 'zoo'),
      ` ${words(count).replaceAll(' ', '\n\t')} `,
      words(count, 'Zoo'),
      words(count).replaceAll(' ', ', '),
      `"${words(count)}"`,
      JSON.stringify(words(count).split(' ')),
      words(count)
        .split(' ')
        .map((word, i) => `${i + 1}. ${word}`)
        .join('\n'),
    ])
      expect(searchTarget(text)).toEqual({ kind: 'secret' })
  })

  it.each([
    words(11),
    words(13),
    words(12, 'ab'),
    words(12, 'abandoned'),
    `${words(11)} caf\u00e9`,
    `${words(11)} l33t`,
  ])('%s is a text', (text) => expect(searchTarget(text)).toEqual({ kind: 'text', text }))
})

it('nothing is nothing', () => expect(searchTarget('  ')).toBeUndefined())
