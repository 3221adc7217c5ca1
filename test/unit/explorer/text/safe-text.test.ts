import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  beginning,
  otherHost,
  outsideLink,
  shortened,
  visible,
  withoutUnseen,
} from '../../../../src/explorer/text/safe-text.js'

describe('visible', () => {
  it.each([
    ['invoice\u202etxt.exe', 'invoice‹U+202E›txt.exe'],
    ['a\u0000b\u001bc\u0085', 'a‹U+0000›b‹U+001B›c‹U+0085›'],
    ['pay\u200bpal\u2066\ufeff', 'pay‹U+200B›pal‹U+2066›‹U+FEFF›'],
    ['lone \ud800 surrogates \udc00', 'lone ‹U+D800› surrogates ‹U+DC00›'],
    ['tag \u{e0041}', 'tag ‹U+E0041›'],
    ['line\nbreak', 'line‹U+000A›break'],
  ])('writes out what is unseen: %j', (text, shown) => expect(visible(text)).toBe(shown))

  it.each(['Ada Lovelace', 'Zoë 中文 עברית 😀 👩', 'https://example.org/ü'])('leaves other text: %s', (text) => {
    expect(visible(text)).toBe(text)
  })

  it('keeps what it is told to keep', () => expect(visible('a\tb\n', '\n')).toBe('a‹U+0009›b\n'))

  it('cuts marks that pile up on one character', () => {
    const piled = `e${'\u0301'.repeat(50)}x`
    expect(visible(piled)).toBe(`e${'\u0301'.repeat(3)}‹marks›x`)
    expect(visible('e\u0301\u0302')).toBe('e\u0301\u0302')
  })

  it('leaves no control and no mark of direction in any text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 })
    fc.assert(
      fc.property(text, (any) => {
        expect(visible(any)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u)
        expect(visible(visible(any))).toBe(visible(any))
        expect(() => encodeURIComponent(visible(any))).not.toThrow()
      }),
    )
  })
})

describe('withoutUnseen', () => {
  it.each([
    ['\u200bA\u00add\u2060a\ufeff\u202e', 'Ada'],
    [' Ada\u00a0\n\tLovelace\u2029', 'Ada Lovelace'],
    ['a\ud800b 😀', 'ab 😀'],
    ['Zoë 中文', 'Zoë 中文'],
    ['\u200b ', ''],
  ])('%j', (text, seen) => expect(withoutUnseen(text)).toBe(seen))
})

describe('beginning', () => {
  it('cuts between characters', () => {
    expect(beginning('abcdef', 4)).toBe('abcd')
    expect(beginning('abc😀', 4)).toBe('abc')
    expect(beginning('abc', 4)).toBe('abc')
  })
})

describe('shortened', () => {
  it('leaves out the middle of a long name alone', () => {
    expect(shortened('0123456789abcdef')).toBe('01234567…abcdef')
    expect(shortened('0123456789abcde')).toBe('0123456789abcde')
  })
})

describe('outsideLink', () => {
  it.each(['https://example.org/', 'http://example.org:8080/a?b#c', 'HTTPS://example.org/x'])('takes %s', (text) => {
    expect(outsideLink(text)).toBe(new URL(text).href)
  })

  it.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,<script>1</script>',
    'vbscript:x',
    'file:///etc/passwd',
    '//example.org',
    'example.org',
    'https://good.example@evil.example/',
    'https://a:b@evil.example/',
    'https://example.org/\u202egpj.exe',
    'https://exam\u200bple.org/',
    'https://example.org/ a',
    'https://',
    `https://example.org/${'x'.repeat(3000)}`,
  ])('refuses %j', (text) => expect(outsideLink(text)).toBeUndefined())
})

describe('otherHost', () => {
  it.each([
    ['https://\u0430pple.com/', 'xn--pple-43d.com'],
    ['HTTPS://\u0430pple.com:8443/x', 'xn--pple-43d.com'],
    ['http://%D0%B0pple.com', 'xn--pple-43d.com'],
    ['https://bank.example\u3002evil.example/', 'bank.example.evil.example'],
    ['https://bank\uff0eexample', 'bank.example'],
    ['//m\u00fcller.example/x', 'xn--mller-kva.example'],
    ['www.m\u00fcller.example', 'www.xn--mller-kva.example'],
    ['wss://m\u00fcller.example', 'xn--mller-kva.example'],
    ['ipfs://m\u00fcller.example', 'xn--mller-kva.example'],
    ['mailto:ada@m\u00fcller.example?subject=x', 'xn--mller-kva.example'],
    ['https:\\\\m\u00fcller.example\\x', 'xn--mller-kva.example'],
    ['https://good.example@evil.example/', 'evil.example'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['https://\u202e\u0430/', 'no valid host'],
    [`https://${'\u0430'.repeat(600)}/`, 'no valid host'],
  ])('of %j is %s', (text, host) => expect(otherHost(text)).toBe(host))

  it.each([
    'https://example.org/',
    'HTTPS://Example.ORG:8080/a?b#c',
    'https://example.org/m\u00fcller',
    'https://xn--mller-kva.example/',
    'http://[::1]:80/',
    'ipfs://123',
    'mailto:ada@example.org',
    'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc',
    'Zo\u00eb \u4e2d\u6587 // more',
    'm\u00fcller.example',
    '',
  ])('of %j is the one that is read', (text) => expect(otherHost(text)).toBeUndefined())

  it('is ASCII, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (any) => {
        expect(otherHost(`https://${any}`) ?? '').toMatch(/^[ -~]*$/)
      }),
    )
  })
})
