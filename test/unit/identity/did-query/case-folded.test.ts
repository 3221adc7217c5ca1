import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import { caseFolded } from '../../../../src/identity/did-query/case-folded.js'
import { compileCondition } from '../../../../src/identity/did-query/compile.js'
import { effortLimit } from '../../../../src/identity/did-query/work-budget.js'

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

it('is the same wherever in a long text a letter stands', () => {
  for (const letter of ['É', '\u{10400}', '\ud801', '\udc00', 'A']) {
    for (const before of [4094, 4095, 4096, 8191])
      expect(caseFolded(`${'é'.repeat(before)}${letter}é`)).toBe(`${'é'.repeat(before)}${caseFolded(letter)}é`)
  }
})

it('of a text is made once for all that seek in it, who together seek in so much of a document', () => {
  const text = 'É'.repeat(320_000)
  const condition = (count: number) =>
    compileCondition({ a: { $or: Array.from({ length: count }, (_, i) => ({ $regex: `z${i}`, $options: 'i' })) } })
  const fits = effortLimit / (text.length / 64)
  expect(condition(fits).matches({ a: text })).toBe(false)
  expect(() => condition(fits + 1).matches({ a: text })).toThrow(/long texts.*more than 250000/)
  expect(condition(1).matches({ a: `${text}Z0` })).toBe(true)
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
  ['\u0390', '\u1fd3', true],
  ['\u03b0', '\u1fe3', true],
  ['\ufb05', '\ufb06', true],
  ['\ufb06', 'st', false],
  ['Ada', 'aDA', true],
])('%s and %s: %s', (one, other, same) => {
  expect(caseFolded(one) === caseFolded(other)).toBe(same)
})
