import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressFromPublicKey,
  addressOf,
  didFromPublicKey,
  didProgramHash,
  parseAddress,
  prefix,
  programHash,
  sharedAddress,
  singleKeyCode,
  trailer,
} from '../../../../src/base/primitives/address.js'
import { concat, hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { bytes, runs } from '../../../support/builders/arbitraries.js'

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const anyHash = fc
  // That of a name is shown by the name alone.
  .tuple(
    fc.constantFrom(...Object.values(prefix).filter((byte) => byte !== prefix.didName && byte !== prefix.didLongName)),
    bytes(20),
  )
  .map(([first, rest]) => concat(Uint8Array.of(first), rest))
const publicKey = hex('03f69479d0f6aa11aae5fbe5e5bfca201d717d9fa97a45ca7b89544047a1a30f59')

describe('addresses', () => {
  it('come back as they were, 34 characters with the letter of their prefix', () => {
    const letters: Record<number, string> = { 0x21: 'E', 0x12: '8', 0x4b: 'X', 0x1f: 'D', 0x67: 'i', 0x3f: 'S' }
    fc.assert(
      fc.property(anyHash, (hash) => {
        const address = addressOf(hash)
        expect(address).toHaveLength(34)
        expect(address[0]).toBe(letters[hash[0] as number])
        expect(toHex(parseAddress(address) as Uint8Array)).toBe(toHex(hash))
      }),
      runs,
    )
  })

  it('are refused with any one character changed', () => {
    const address = 'EQJP3XT7rshteqE1D3u9nBqXL7xQrfzVh1'
    expect(parseAddress(address)).toBeDefined()
    for (let i = 0; i < address.length; i++) {
      for (const other of `${alphabet}0OIl -_é\u0145`) {
        if (other === address[i]) continue
        expect(parseAddress(address.slice(0, i) + other + address.slice(i + 1))).toBeUndefined()
      }
    }
  })

  it('are refused with any character dropped, doubled or swapped', () => {
    fc.assert(
      fc.property(anyHash, fc.nat({ max: 32 }), (hash, i) => {
        const address = addressOf(hash)
        const swapped = [...address]
        ;[swapped[i], swapped[i + 1]] = [swapped[i + 1] as string, swapped[i] as string]
        expect(parseAddress(address.slice(0, i) + address.slice(i + 1))).toBeUndefined()
        expect(parseAddress(address.slice(0, i) + address.slice(i, i + 1) + address.slice(i))).toBeUndefined()
        if (swapped.join('') !== address) expect(parseAddress(swapped.join(''))).toBeUndefined()
      }),
      runs,
    )
  })

  it('never throw for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 30, maxLength: 36 }), (text) => !parseAddress(text)),
      runs,
    )
    expect(parseAddress('')).toBeUndefined()
    expect(parseAddress('z'.repeat(34))).toBeUndefined()
  })

  it('that were parsed before are what they are parsed to, however many there are', () => {
    const addresses = Array.from({ length: 5000 }, (_, i) => {
      return addressOf(concat(Uint8Array.of(prefix.did), hex(i.toString(16).padStart(40, '0'))))
    })
    for (const address of [...addresses, ...addresses.slice(-10), ...addresses.slice(0, 10)]) {
      expect(sharedAddress(address)).toEqual(parseAddress(address))
      expect(sharedAddress(` ${address}`)).toBeUndefined()
    }
  })

  it('are printed for the zero hash and not read for it', () => {
    const address = addressOf(new Uint8Array(21))
    expect(address).toBe('1111111111111111111114oLvT2')
    expect(parseAddress(address)).toBeUndefined()
  })
})

describe('addresses of keys', () => {
  it('depend on prefix and trailer', () => {
    expect(addressFromPublicKey(publicKey)).toBe('EQJP3XT7rshteqE1D3u9nBqXL7xQrfzVh1')
    expect(addressOf(programHash(prefix.deposit, singleKeyCode(publicKey)))).toBe('DbdB5JrYSWn91xwqADEWowHx57SXXcpmpr')
    expect(addressOf(didProgramHash(publicKey))).toBe('ii7FQg2w56XtAXMzkDVend9rpUKQBMUKmv')
    expect(didFromPublicKey(publicKey, { method: 'ledger' })).toBe('did:ledger:ii7FQg2w56XtAXMzkDVend9rpUKQBMUKmv')
    expect(didFromPublicKey(publicKey, { method: 'x', legacy: true })).toBe('did:x:iZxby8KHZW9DuAz4vRDTixtbPRzScnsE45')
    expect(toHex(singleKeyCode(publicKey, trailer.did))).toBe(`21${toHex(publicKey)}ad`)
  })

  it.each([new Uint8Array(0), publicKey.subarray(1), new Uint8Array(33).fill(4), concat(publicKey, publicKey)])(
    'want a compressed key (%#)',
    (wrong) => {
      expect(() => addressFromPublicKey(wrong)).toThrow(TypeError)
      expect(() => didFromPublicKey(wrong, { method: 'ledger' })).toThrow(TypeError)
    },
  )
})
