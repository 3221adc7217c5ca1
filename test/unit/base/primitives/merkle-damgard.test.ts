import { createHash } from 'node:crypto'
import { ripemd160 as nobleRipemd160 } from '@noble/hashes/legacy.js'
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromUtf8, toHex } from '../../../../src/base/primitives/bytes.js'
import { ripemd160 } from '../../../../src/base/primitives/ripemd160.js'
import { sha256 } from '../../../../src/base/primitives/sha256.js'
import { bytes, runs } from '../../../support/builders/arbitraries.js'

const hashes = [
  {
    name: 'SHA-256',
    hash: sha256,
    others: [nobleSha256, (data: Uint8Array) => createHash('sha256').update(data).digest()],
    // FIPS 180-4: examples of NIST.
    known: [
      ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
      ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
      [
        'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
        '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
      ],
      ['a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
    ],
  },
  {
    name: 'RIPEMD-160',
    hash: ripemd160,
    others: [nobleRipemd160],
    // Those of the authors.
    known: [
      ['', '9c1185a5c5e9fc54612808977ee8f548b2258d31'],
      ['abc', '8eb208f7e05d987a9b044a8e98c6b087f15a0bfc'],
      ['abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq', '12a053384a9c0c88e405a06c27dcf49ada62eb2b'],
      ['1234567890'.repeat(8), '9b752e45573d4b39f4dbd3323cab82bf63326bfb'],
      ['a'.repeat(1_000_000), '52783243c1697bdbe16d37f97f68f08325dc1528'],
    ],
  },
] as const

describe.each(hashes)('$name in JavaScript', ({ hash, others, known }) => {
  it('has the published results', () => {
    for (const [message, digest] of known) expect(toHex(hash(fromUtf8(message)))).toBe(digest)
  })

  it('is that of other programs, for each length of a last block and for any bytes', () => {
    const agrees = (message: Uint8Array) => {
      for (const other of others) expect(toHex(hash(message))).toBe(toHex(other(message)))
    }
    for (let length = 0; length <= 200; length++) agrees(new Uint8Array(length).fill(length))
    fc.assert(fc.property(bytes(0, 1000), agrees), runs)
    // A view, whose memory begins elsewhere.
    agrees(new Uint8Array(300).map((_, i) => i).subarray(7, 200))
  })
})
