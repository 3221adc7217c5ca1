import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beginning, outsideLink, shortened, visible } from '../../../../src/pages/text/safe-text.js'

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
        expect(visible(any)).not.toMatch(/[\p{Cc}\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u)
        expect(() => encodeURIComponent(visible(any))).not.toThrow()
      }),
    )
  })
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
