import { p256 } from '@noble/curves/nist.js'
import { describe, expect, it } from 'vitest'
import { generatePrivateKey, isPrivateKey, publicKeyOf, sign } from '../../../../src/base/crypto/keys.js'
import { verify } from '../../../../src/base/crypto/verify.js'
import { fromUtf8, hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'

// The example of RFC 6979, appendix A.2.5.
const example = {
  privateKey: hex('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721'),
  publicKey: '0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6',
  signatures: {
    sample:
      'efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716' +
      'f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8',
    test:
      'f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367' +
      '019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083',
  },
}
const order = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'
const zeros = '00'.repeat(32)

it('the public key is the one of the library for pages, whatever the private key', () => {
  const random = new SeededRandom(11)
  const few = [1n, 2n, 255n, BigInt(`0x${order}`) - 1n].map((number) => hex(number.toString(16).padStart(64, '0')))
  for (const key of [...few, ...Array.from({ length: 40 }, () => generatePrivateKey(random))]) {
    expect(toHex(publicKeyOf(key))).toBe(toHex(p256.getPublicKey(key, true)))
  }
})

describe('sign', () => {
  it.each(Object.entries(example.signatures))('gives the published signature of "%s"', (text, expected) => {
    expect(toHex(sign(fromUtf8(text), example.privateKey))).toBe(expected)
  })

  it('gives the bytes of the library for pages, whatever the key and the message', () => {
    const random = new SeededRandom(12)
    const few = [1n, 2n, 255n, BigInt(`0x${order}`) - 1n].map((number) => hex(number.toString(16).padStart(64, '0')))
    for (const key of [...few, ...Array.from({ length: 40 }, () => generatePrivateKey(random))]) {
      const message = random.bytes(random.below(200))
      const expected = p256.sign(message, key, { prehash: true, lowS: false, format: 'compact', extraEntropy: false })
      expect(toHex(sign(message, key))).toBe(toHex(expected))
    }
  })

  it('verifies under the public key, for an empty and for a long message', () => {
    for (const message of [new Uint8Array(), new Uint8Array(100_000).fill(3)]) {
      const signature = sign(message, example.privateKey)
      expect(signature).toHaveLength(64)
      expect(verify(publicKeyOf(example.privateKey), message, signature)).toBe(true)
    }
  })

  it.each([zeros, order, 'ff'.repeat(32), '01'.repeat(31), '01'.repeat(33)])('refuses the private key %s', (key) => {
    expect(() => sign(fromUtf8('x'), hex(key))).toThrow(RangeError)
    expect(() => publicKeyOf(hex(key))).toThrow(RangeError)
  })
})

describe('private keys', () => {
  it('have the published public key', () => {
    expect(toHex(publicKeyOf(example.privateKey))).toBe(example.publicKey)
  })

  it.each([
    [zeros, false],
    [`${zeros.slice(2)}01`, true],
    [`${order.slice(0, -2)}50`, true],
    [order, false],
    [`${order.slice(0, -2)}52`, false],
    ['01'.repeat(31), false],
    ['01'.repeat(33), false],
    ['', false],
  ])('%s: %s', (text, expected) => expect(isPrivateKey(hex(text))).toBe(expected))

  it('are drawn again until one is in range', () => {
    const draws = [hex(order), hex(zeros), example.privateKey]
    const asked: number[] = []
    const random = {
      bytes(length: number) {
        asked.push(length)
        return draws.shift() as Uint8Array
      },
    }
    expect(generatePrivateKey(random)).toEqual(example.privateKey)
    expect(asked).toEqual([32, 32, 32])
  })
})
