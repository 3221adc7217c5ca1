import { InvariantError } from '../errors/rule-error.js'
import { fromUtf8, hex } from '../primitives/bytes.js'
import { selectedBackend, verify } from './verify.js'

// The P-256 and SHA-256 example of RFC 6979: one signature with a high s, one with a low s.
const exampleKey = hex('0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6')
const sampleSignature = hex(
  'efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716' +
    'f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8',
)
const testSignature = hex(
  'f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367' +
    '019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083',
)
const selfTestVectors = [
  { text: 'sample', signature: sampleSignature, expected: true },
  { text: 'test', signature: testSignature, expected: true },
  { text: 'test', signature: sampleSignature, expected: false },
]

/**
 * Checks the selected backend on published signatures, once at start; the other one is JavaScript that takes a tenth of a second
 * to verify its first signatures. Throws an {@link InvariantError} that names a faulty one.
 */
export function selfTest(): void {
  for (const { text, signature, expected } of selfTestVectors) {
    if (verify(exampleKey, fromUtf8(text), signature) !== expected) {
      throw new InvariantError(
        `the ${selectedBackend()} signature backend answers wrongly on a published example (${text})`,
      )
    }
  }
}
