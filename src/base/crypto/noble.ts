import { p256 } from '@noble/curves/nist.js'
import type { Backend } from './backend.js'

// The library's defaults refuse high s, which half of all foreign signatures have.
const options = { prehash: true, lowS: false, format: 'compact' } as const

/** P-256 in JavaScript: about 30 times slower than OpenSSL. The reference, and the alternative if OpenSSL is faulty. */
export const nobleBackend: Backend = {
  verify(publicKey, message, signature) {
    try {
      return p256.verify(signature, message, publicKey, options)
    } catch {
      return false
    }
  },

  verifyAsync(publicKey, message, signature) {
    return Promise.resolve(nobleBackend.verify(publicKey, message, signature))
  },
}
