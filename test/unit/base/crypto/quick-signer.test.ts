import { describe, expect, it } from 'vitest'
import { publicKeyOf, sign } from '../../../../src/base/crypto/keys.js'
import { quickSigner } from '../../../../src/base/crypto/quick-signer.js'
import { holds } from '../../../../src/base/crypto/verify.js'
import { checkOf } from '../../../support/builders/signatures.js'

const message = new TextEncoder().encode('a message')

describe('a signer through OpenSSL', () => {
  it('has the public key of its private key, and signs what that key verifies', () => {
    for (let i = 1; i < 40; i++) {
      // Small keys have leading zeros, which OpenSSL leaves out.
      const privateKey = new Uint8Array(32)
      privateKey[i % 32] = i
      const { publicKey, sign: quickly } = quickSigner(privateKey)
      expect(Buffer.from(publicKey)).toEqual(Buffer.from(publicKeyOf(privateKey)))
      expect(holds(checkOf(message, [publicKey], [quickly(message)]))).toBe(true)
      expect(holds(checkOf(message, [publicKey], [sign(message, privateKey)]))).toBe(true)
    }
  })

  it('signs nothing else', () => {
    const { publicKey, sign: quickly } = quickSigner()
    const other = quickSigner()
    expect(holds(checkOf(new Uint8Array(9), [publicKey], [quickly(message)]))).toBe(false)
    expect(holds(checkOf(message, [other.publicKey], [quickly(message)]))).toBe(false)
  })

  it('refuses what is no private key', () => {
    for (const bytes of [new Uint8Array(32), new Uint8Array(32).fill(0xff), new Uint8Array(40).fill(1)]) {
      expect(() => quickSigner(bytes)).toThrow()
    }
  })
})
