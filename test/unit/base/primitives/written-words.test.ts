import { expect, it } from 'vitest'
import { writtenWords } from '../../../../src/base/primitives/written-words.js'

it.each([
  ['one two three'],
  ['  one\n\ttwo \r\nthree\n'],
  ['one, two,three;'],
  ['1. one 2. two 3. three'],
  ['1) one\n10) two\n24: three'],
  ['#1 "one" - #2 "two" - #3 "three"'],
  ['["one","two","three"]'],
])('reads the words of %j', (text) => expect(writtenWords(text)).toEqual(['one', 'two', 'three']))

it.each([
  ['', []],
  [' 1. 2. ', []],
  ['one1 2two 123', ['one1', '2two', '123']],
  ['caf\u00e9 cafe\u0301', ['caf\u00e9', 'cafe\u0301']],
])('leaves out numbers and signs alone: %j', (text, words) => expect(writtenWords(text)).toEqual(words))
