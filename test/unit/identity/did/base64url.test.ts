import { describe, expect, it } from 'vitest'
import { decodeBase64url, isBase64url } from '../../../../src/identity/did/base64url.js'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

describe('base64url', () => {
  it('is the one encoding of its bytes, whatever the last character is', () => {
    for (let length = 0; length <= 9; length++) {
      for (const last of `${alphabet}+/=é`) {
        const text = length === 0 ? '' : 'A'.repeat(length - 1) + last
        const isOnly = text !== '' && Buffer.from(text, 'base64url').toString('base64url') === text
        expect([text, isBase64url(text)]).toEqual([text, isOnly])
        expect(decodeBase64url(text) !== undefined).toBe(isOnly)
      }
    }
  })
})
