import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import { caseFolded } from '../../../../src/identity/did-query/case-folded.js'

/** Code points that have another case, by any of the two functions, and one that has none. */
const cased = Array.from({ length: 0x1ffff }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((letter) => letter.toLowerCase() !== letter || letter.toUpperCase() !== letter)

/** Whether a regular expression that ignores case takes a letter for another. */
function isSame(letter: string, other: string): boolean {
  return new RegExp(`^\\u{${letter.codePointAt(0)?.toString(16)}}$`, 'iu').test(other)
}

it('is equal for each letter and its other cases as a regular expression finds them equal', () => {
  for (const letter of cased) {
    for (const other of [letter.toUpperCase(), letter.toLowerCase(), letter.toUpperCase().toLowerCase()]) {
      if ((caseFolded(letter) === caseFolded(other)) !== isSame(letter, other)) {
        expect
          .soft([letter, other, caseFolded(letter)], `U+${letter.codePointAt(0)?.toString(16)}`)
          .toBe(isSame(letter, other))
      }
    }
  }
})

it('is the folding of each letter, whatever stands beside it', () => {
  const letters = fc.array(fc.oneof(fc.constantFrom(...cased), fc.constantFrom('a', 'Z', '-', '\ud800', '\u{1f511}')))
  fc.assert(
    fc.property(letters, (list) => {
      fc.pre(!/\ud800[\udc00-\udfff]/.test(list.join('')))
      expect(caseFolded(list.join(''))).toBe(list.map(caseFolded).join(''))
      expect(caseFolded(caseFolded(list.join('')))).toBe(caseFolded(list.join('')))
    }),
  )
})

test.each([
  ['STRASSE', 'straße', false],
  ['STRA\u1e9eE', 'straße', true],
  ['ﬀ', 'ff', false],
  ['ı', 'i', false],
  ['İ', 'i', false],
  ['İ', 'i\u0307', false],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος', true],
  ['\u212a', 'k', true],
  ['ſ', 'S', true],
  ['Ada', 'aDA', true],
])('%s and %s: %s', (one, other, same) => {
  expect(caseFolded(one) === caseFolded(other)).toBe(same)
})
