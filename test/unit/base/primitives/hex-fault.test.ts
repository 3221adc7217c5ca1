import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromHex } from '../../../../src/base/primitives/bytes.js'
import { hexFault } from '../../../../src/base/primitives/hex-fault.js'

it.each<[string, number | undefined, string | undefined]>([
  ['', undefined, 'it is empty'],
  ['0x00', undefined, 'it begins with 0x, which has to be left out here'],
  ['0X00ff', 2, 'it begins with 0x, which has to be left out here'],
  ['00g0', undefined, '"g" at character 3 is no hex digit'],
  ['00 0', 2, 'U+0020 at character 3 is no hex digit'],
  ['0\u009b', undefined, 'U+009B at character 2 is no hex digit'],
  ['\u{1f600}', undefined, 'U+1F600 at character 1 is no hex digit'],
  ['000', undefined, 'its length of 3 hex digits is odd, and two make a byte'],
  ['000', 2, 'its length is 3 hex digits, not 4'],
  ['0000', 2, undefined],
  ['aAfF', undefined, undefined],
])('%j as %s bytes: %s', (text, size, fault) => {
  expect(hexFault(text, size)).toBe(fault)
})

it('finds a fault exactly where the reader refuses, and shows a line of ASCII', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEFxX \u009b\n') })
  fc.assert(
    fc.property(fc.oneof(digits, fc.string({ unit: 'binary' })), (text) => {
      const fault = hexFault(text)
      expect(fault === undefined).toBe(text !== '' && fromHex(text) !== undefined)
      expect(fault ?? '').toMatch(/^[ -~]*$/)
      const bytes = fromHex(text)
      if (bytes !== undefined && text !== '') expect(hexFault(text, bytes.length)).toBeUndefined()
    }),
  )
})
