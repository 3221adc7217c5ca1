import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf, didProgramHash, prefix } from '../../../../src/base/primitives/address.js'
import { InvariantError } from '../../../../src/base/errors/rule-error.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { didOfKey, identifierOfKey, isOfLongName, keyOfIdentifier } from '../../../../src/base/primitives/did-key.js'
import { hasName, isDidName, longestName, nameLengthOf } from '../../../../src/base/primitives/did-name.js'
import { runs } from '../../../support/builders/arbitraries.js'
import { quickSigner } from '../../../support/builders/signatures.js'

const first = [...'abcdefghijklmnopqrstuvwxyz0123456789']
const anyName = fc
  .tuple(fc.constantFrom(...first), fc.array(fc.constantFrom(...first, '.', '_', '-'), { maxLength: longestName - 1 }))
  .map(([head, tail]) => head + tail.join(''))
const keyOf = (identifier: string) => keyOfIdentifier(identifier) as Uint8Array

describe('the key of a name', () => {
  it('gives the name back, and is that of no other one', () => {
    fc.assert(
      fc.property(anyName, anyName, (name, other) => {
        const key = keyOf(name)
        expect([key.length, key[0]]).toEqual([21, name.length > 30 ? prefix.didLongName : prefix.didName])
        expect(isOfLongName(key)).toBe(name.length > 30)
        if (name.length > 30) expect(() => didOfKey(key)).toThrow(InvariantError)
        else expect([identifierOfKey(key), didOfKey(key)]).toEqual([name, `did:ledger:${name}`])
        expect(toHex(key) === toHex(keyOf(other))).toBe(name === other)
      }),
      runs,
    )
  })

  it.each([
    ['a', '6e050c783eb9b5c85f2a8000000000000000000000'],
    ['shop', '6e60fbdbbff0a31d10e74a00000000000000000000'],
    ['z'.repeat(30), '6e86a1dbde02ef89e9c2aaaaaaaaaaaaaaaaaaaaaa'],
    ['z'.repeat(31), `6f${createHash('sha256').update('z'.repeat(31)).digest('hex').slice(0, 40)}`],
  ])('of %s is that of the format', (name, key) => expect(toHex(keyOf(name))).toBe(key))

  it('is not that of a key, whose identifier is no name', () => {
    const hash = didProgramHash(quickSigner().publicKey)
    expect(isDidName(addressOf(hash))).toBe(false)
    expect(toHex(keyOf(addressOf(hash)))).toBe(toHex(hash))
    expect(didOfKey(hash)).toBe(`did:ledger:${addressOf(hash)}`)
    expect(keyOfIdentifier(addressOf(Uint8Array.of(prefix.standard, ...hash.subarray(1))))).toBeUndefined()
  })

  it.each(['', 'A', '.a', '-a', '_a', 'a b', 'ä', 'a/b', 'a'.repeat(117)])('does not exist for %j', (text) => {
    expect(isDidName(text)).toBe(false)
    expect(keyOfIdentifier(text)).toBeUndefined()
  })

  it('is none of the texts that may be the identifier of a key, of which one in fifty million has no capitals', () => {
    for (const length of [33, 34, 35]) expect(isDidName('i'.repeat(length))).toBe(length !== 34)
    expect(isDidName(`j${'i'.repeat(33)}`)).toBe(true)
  })

  it('has a price by its length', () => {
    expect(nameLengthOf('did:ledger:shop')).toBe(4)
    expect(hasName('did:ledger:shop')).toBe(true)
    expect(nameLengthOf('did:ledger:iYtdZA')).toBeUndefined()
  })
})
