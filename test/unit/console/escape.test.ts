import { expect, it } from 'vitest'
import { visible, visibleJson } from '../../../src/console/escape.js'

it('leaves what can be seen, in any script', () => {
  for (const text of ['getblock', 'Zürich 東京 🦊', 'C:\\x "quoted"']) expect(visible(text, 100)).toBe(text)
})

it.each([
  ['\x1b[2J', '\\x1b[2J'],
  ['a\r\nb\tc\0', 'a\\x0d\\x0ab\\x09c\\x00'],
  ['\x7f\x9b31m\x85', '\\x7f\\x9b31m\\x85'],
  ['\u202egnp\u2066', '\\u{202e}gnp\\u{2066}'],
  ['\u2028\u2029\u200b\ufeff', '\\u{2028}\\u{2029}\\u{200b}\\u{feff}'],
  ['\ud800', '\\u{d800}'],
  ['\u{e0041}', '\\u{e0041}'],
])('writes out what steers a terminal: %j', (text, shown) => expect(visible(text, 100)).toBe(shown))

it('cuts before it escapes', () => {
  expect(visible('x'.repeat(10), 10)).toBe('x'.repeat(10))
  expect(visible('x'.repeat(11), 10)).toBe(`${'x'.repeat(9)}…`)
  expect(visible('\x1b'.repeat(1_000_000), 4)).toBe('\\x1b\\x1b\\x1b…')
})

it('JSON means the same and steers nothing', () => {
  const value = { text: '\x1b\x7f\x9b31m\u202e\u2028\u{e0041} ü 🦊' }
  const line = visibleJson(JSON.stringify(value))
  expect(JSON.parse(line)).toEqual(value)
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u)
})
