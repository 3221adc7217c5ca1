import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { visible, visibleLines } from '../../../../src/base/runtime/visible-text.js'

/** The first and last character of each range that is written out, and a neighbour on each side that is not. */
const ranges: [string, first: number, last: number, seen: number[]][] = [
  ['controls, C0', 0x00, 0x1f, [0x20]],
  ['DEL and C1', 0x7f, 0x9f, [0x7e, 0xa0]],
  ['the soft hyphen', 0xad, 0xad, [0xac, 0xae]],
  ['the grapheme joiner', 0x34f, 0x34f, [0x34e, 0x350]],
  ['the Arabic letter mark', 0x61c, 0x61c, [0x61b, 0x61d]],
  ['fillers of Hangul', 0x115f, 0x1160, [0x115e, 0x1161]],
  ['unseen vowels of Khmer', 0x17b4, 0x17b5, [0x17b3, 0x17b6]],
  ['selectors of Mongolian', 0x180b, 0x180f, [0x180a, 0x1810]],
  ['spaces without width and marks of direction', 0x200b, 0x200f, [0x200a, 0x2010]],
  ['separators and overrides', 0x2028, 0x202e, [0x2027, 0x202f]],
  ['invisible operators and isolates', 0x2060, 0x206f, [0x205f, 0x2070]],
  ['the filler of Hangul', 0x3164, 0x3164, [0x3163, 0x3165]],
  ['halves of pairs', 0xd800, 0xdfff, [0xd7ff, 0xe000]],
  ['selectors of a form', 0xfe00, 0xfe0f, [0xfdff, 0xfe10]],
  ['the byte order mark', 0xfeff, 0xfeff, [0xfefe, 0xff01]],
  ['the half-width filler', 0xffa0, 0xffa0, [0xff9f, 0xffa1]],
  ['marks of annotations', 0xfff0, 0xfffb, [0xffef, 0xfffc]],
  ['format of shorthand', 0x1bca0, 0x1bca3, [0x1bc9f, 0x1bca4]],
  ['format of music', 0x1d173, 0x1d17a, [0x1d172, 0x1d17b]],
  ['tags and selectors', 0xe0000, 0xe0fff, [0xdffff, 0xe1000]],
]
const escaped = /^(\\u[0-9a-f]{4}){1,2}$/

describe('what is not seen is written out', () => {
  it.each(ranges)('%s', (_, first, last, seen) => {
    for (const code of [first, last]) {
      const character = String.fromCodePoint(code)
      const shown = visible(character)
      expect(shown).toMatch(escaped)
      expect(JSON.parse(`"${shown}"`)).toBe(character)
      expect(visible(`a${character}b`)).toBe(`a${shown}b`)
      expect(visibleLines(`a${character}\nb`)).toBe(code === 10 ? 'a\n\nb' : `a${shown}\nb`)
    }
    for (const code of seen) expect(visible(String.fromCodePoint(code))).toBe(String.fromCodePoint(code))
  })

  it('a line in the form of JSON', () => {
    expect(visible('\x1b[2J\r\n\t\0')).toBe('\\u001b[2J\\u000d\\u000a\\u0009\\u0000')
    expect(visible('\u{e0041}\ud83d')).toBe('\\udb40\\udc41\\ud83d')
    expect(visibleLines('one\r\ntwo\u2028\n')).toBe('one\\u000d\ntwo\\u2028\n')
  })
})

describe('what is seen, or a script needs, is left', () => {
  it.each([
    ['texts in any script', 'Zürich 東京 🦊 עברית العربية C:\\x "quoted"'],
    ['Arabic and Kaithi signs that are drawn', '\u0600\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}'],
    ['a joiner of Persian', 'می\u200cخواهم'],
    ['joiners of Indic scripts', 'क्\u200dष क्\u200cष ශ්\u200dරී'],
    ['a family, a flag and a heart', '👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 ❤\ufe0f ☎\ufe0e 👩🏽\u200d🚀'],
    ['a form of a Mongolian letter', 'ᠠ\u180b'],
  ])('%s', (_, text) => expect(visible(text)).toBe(text))

  it.each([
    ['a joiner in Latin', 'pay\u200dpal', 'pay\\u200dpal'],
    ['a joiner at an end', 'می\u200c', 'می\\u200c'],
    ['a second joiner', 'می\u200c\u200cخ', 'می\\u200c\\u200cخ'],
    ['a joiner between a picture and a letter', '👨\u200da', '👨\\u200da'],
    ['a non-joiner between pictures', '👨\u200c👩', '👨\\u200c👩'],
    ['a selector after a letter', 'a\ufe0f', 'a\\ufe0f'],
    ['a second selector', '❤\ufe0f\ufe0f', '❤\ufe0f\\ufe0f'],
    ['a selector of Mongolian after a letter of Latin', 'a\u180b', 'a\\u180b'],
    ['a selector at the beginning', '\ufe0f', '\\ufe0f'],
  ])('not %s', (_, text, shown) => expect(visible(text)).toBe(shown))
})

describe('any text', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('\x1b', '\u200d', '\ufe0f', '\ud83d', '\udc68', '👨', 'م', 'a', '\n', '\u{e0061}'))
      .map((all) => all.join('')),
  )

  it('is shown without what steers, and shown again the same', () => {
    fc.assert(
      fc.property(text, (any) => {
        const shown = visible(any)
        // Controls, marks of direction, separators, tags and halves of pairs are never part of a spelling.
        expect(shown).not.toMatch(
          /[\p{Cc}\p{Cs}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/u,
        )
        expect(visible(shown)).toBe(shown)
        expect(visibleLines(any).replaceAll('\n', '\\u000a')).toBe(shown)
      }),
    )
  })

  it('as JSON means the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), text, (value, any) => {
        const all = { [any]: [value, any] }
        expect(JSON.parse(visibleLines(JSON.stringify(all, null, 2)))).toEqual(JSON.parse(JSON.stringify(all)))
      }),
    )
  })
})
