import fc from 'fast-check'
import { expect, it } from 'vitest'
import { identifierFault } from '../../../../src/identity/did/identifier-fault.js'
import { isDerivedIdentifier } from '../../../../src/identity/did/identifier.js'
import { addressOf } from '../../../../src/base/primitives/address.js'

const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const hash = fc.uint8Array({ minLength: 20, maxLength: 20 })
const identifier = hash.map((bytes) => addressOf(Uint8Array.of(0x67, ...bytes)))

it('tells every mistyped character of an identifier from one that does not exist', () => {
  fc.assert(
    fc.property(identifier, fc.nat(33), fc.constantFrom(...digits), (text, at, other) => {
      expect(isDerivedIdentifier(text)).toBe(true)
      fc.pre(text[at] !== other)
      const mistyped = text.slice(0, at) + other + text.slice(at + 1)
      expect(isDerivedIdentifier(mistyped)).toBe(false)
      expect(identifierFault(mistyped)).toMatch(at === 0 ? /begins with \w, not with i/ : /its checksum is wrong/)
    }),
  )
})

it.each([
  ['', 'its length is 0, not 34'],
  ['i'.repeat(33), 'its length is 33, not 34'],
  ['i'.repeat(35), 'its length is 35, not 34'],
  ['l'.padStart(34, 'i'), 'character 34 is none of base58'],
  ['someone-else', 'character 8 is none of base58'],
  ['Shop', 'its length is 4, not 34; names have no capitals, as in shop'],
  ['OurVeryOwnClubOfBerlin2024', 'character 1 is none of base58'],
  [
    'OurVeryOwnClubOfBerlin202',
    'character 1 is none of base58; names have no capitals, as in ourveryownclubofberlin202',
  ],
  [
    'Our-Very-Own-Club-Of-Berlin',
    'character 1 is none of base58; names have no capitals, as in our-very-own-club-of-berlin',
  ],
  ['iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4ucx', 'its length is 35, not 34'],
  ['iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4OcX', 'character 33 is none of base58'],
  ['iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc.', 'character 35 is none of base58'],
  ['iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc...', 'character 35 is none of base58'],
  ['EZxLBLAJVRjh3eJa58vNy7nFHZJTVbZi1G', 'it begins with E, not with i'],
  ['The.Club', 'character 4 is none of base58; names have no capitals, as in the.club'],
  ['A'.repeat(116), `its length is 116, not 34; names have no capitals, as in ${'a'.repeat(116)}`],
  ['A'.repeat(117), 'its length is 117, not 34'],
  ['.Shop', 'character 1 is none of base58'],
  ['1'.repeat(34), 'it begins with 1, not with i'],
  ['i'.repeat(34), 'its checksum is wrong, so it is mistyped or made up'],
])('says of %j: %s', (text, fault) => {
  expect(isDerivedIdentifier(text)).toBe(false)
  expect(identifierFault(text)).toBe(fault)
})
