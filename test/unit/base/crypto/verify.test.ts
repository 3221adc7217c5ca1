import { p256 } from '@noble/curves/nist.js'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { publicKeyOf, sign } from '../../../../src/base/crypto/keys.js'
import { holds, selectBackend, selectedBackend, verify, verifyAsync } from '../../../../src/base/crypto/verify.js'
import { selfTest } from '../../../../src/base/crypto/self-test.js'
import { concat, fromUtf8, hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { checkOf, quickSigner } from '../../../support/builders/signatures.js'
import { rounds } from '../../../support/process/thorough.js'

const { Point } = p256
const n = Point.Fn.ORDER
const p = Point.Fp.ORDER

const word = (value: bigint) => hex(value.toString(16).padStart(64, '0'))
const integer = (bytes: Uint8Array) => BigInt(`0x${toHex(bytes)}`)
const compressed = (prefixByte: number, x: bigint) => concat(Uint8Array.of(prefixByte), word(x))

const privateKey = new Uint8Array(32).fill(0x11)
const publicKey = publicKeyOf(privateKey)
const message = fromUtf8('a message')
const signature = sign(message, privateKey)
const r = integer(signature.subarray(0, 32))
const s = integer(signature.subarray(32))
const e = integer(sha256(message)) % n
const inverse = (value: bigint) => Point.Fn.inv(Point.Fn.create(value))
const modN = (value: bigint) => Point.Fn.create(value)

/** Both backends' answers through both forms, which must be one answer. */
async function answer(key: Uint8Array, text: Uint8Array, candidate: Uint8Array): Promise<boolean> {
  const answers: boolean[] = []
  for (const name of ['native', 'noble'] as const) {
    selectBackend(name)
    answers.push(verify(key, text, candidate), await verifyAsync(key, text, candidate))
  }
  expect(new Set(answers).size, `native, native async, noble, noble async: ${answers.join(', ')}`).toBe(1)
  return answers[0] as boolean
}

afterEach(() => selectBackend('native'))

function der(bytes: Uint8Array): Uint8Array {
  const part = (value: Uint8Array) => concat(Uint8Array.of(2, 33, 0), value)
  const body = concat(part(bytes.subarray(0, 32)), part(bytes.subarray(32)))
  return concat(Uint8Array.of(0x30, body.length), body)
}

/** A key under which (r, s) signs the message with the nonce point R: Q = (sR - eG) / r. */
function keyFor(R: InstanceType<typeof Point>, rValue: bigint, sValue: bigint): Uint8Array {
  const multiple = R.multiply(sValue).subtract(Point.BASE.multiply(e))
  return multiple.multiply(inverse(rValue)).toBytes(true)
}

/** The smallest r for which a point has x = n + r: its x is not its own remainder. */
function wrappedNonce(): { R: InstanceType<typeof Point>; small: bigint } {
  for (let small = 1n; ; small++) {
    try {
      return { R: Point.fromBytes(compressed(2, n + small)), small }
    } catch {
      continue
    }
  }
}

const uncompressed = Point.fromBytes(publicKey).toBytes(false)
const off = (() => {
  for (let x = 1n; ; x++) {
    try {
      Point.fromBytes(compressed(2, x))
    } catch {
      return x
    }
  }
})()
const wrapped = wrappedNonce()
const keyOne = word(1n)
const keyLast = word(n - 1n)

describe('verify', () => {
  const signatures: [string, Uint8Array, boolean][] = [
    ['as signed', signature, true],
    ['negated s', concat(word(r), word(n - s)), true],
    ['r = 0', concat(word(0n), word(s)), false],
    ['s = 0', concat(word(r), word(0n)), false],
    ['both 0', new Uint8Array(64), false],
    ['r = n', concat(word(n), word(s)), false],
    ['s = n', concat(word(r), word(n)), false],
    ['r = p', concat(word(p), word(s)), false],
    ['r = n - 1', concat(word(n - 1n), word(s)), false],
    ['s = n + 1', concat(word(r), word(n + 1n)), false],
    ['all ones', new Uint8Array(64).fill(0xff), false],
    ['r and s swapped', concat(word(s), word(r)), false],
    ['63 bytes', signature.subarray(0, 63), false],
    ['65 bytes', concat(signature, new Uint8Array(1)), false],
    ['65 bytes, the first a zero', concat(new Uint8Array(1), signature), false],
    ['no bytes', new Uint8Array(), false],
    ['DER', der(signature), false],
  ]
  it.each(signatures)('signature: %s', async (_, candidate, expected) => {
    expect(await answer(publicKey, message, candidate)).toBe(expected)
  })

  it('signature: r + n, where that still has 32 bytes', async () => {
    const small = wrapped.small
    const key = keyFor(wrapped.R, small, s)
    expect(await answer(key, message, concat(word(small + n), word(s)))).toBe(false)
  })

  it('accepts a nonce point whose x lies from the order to the field prime', async () => {
    const key = keyFor(wrapped.R, wrapped.small, s)
    expect(await answer(key, message, concat(word(wrapped.small), word(s)))).toBe(true)
    expect(await answer(key, fromUtf8('another'), concat(word(wrapped.small), word(s)))).toBe(false)
  })

  const x = integer(publicKey.subarray(1))
  const keys: [string, Uint8Array][] = [
    ['the other parity', compressed((publicKey[0] as number) ^ 1, x)],
    ['x off the curve, 02', compressed(2, off)],
    ['x off the curve, 03', compressed(3, off)],
    ['x = p', compressed(2, p)],
    ['x = p + 5', compressed(3, p + 5n)],
    ['x all ones', compressed(2, 2n ** 256n - 1n)],
    ['x = 0', compressed(2, 0n)],
    ...[0, 1, 4, 5, 6, 7, 0xff].map((byte): [string, Uint8Array] => [`prefix ${byte}`, compressed(byte, x)]),
    ['the point at infinity in one byte', new Uint8Array(1)],
    ['33 zeros', new Uint8Array(33)],
    ['65 zeros', new Uint8Array(65)],
    ['no bytes', new Uint8Array()],
    ['32 bytes', publicKey.subarray(0, 32)],
    ['34 bytes', concat(publicKey, new Uint8Array(1))],
    ['uncompressed', uncompressed],
    ['hybrid 06', concat(Uint8Array.of(6), uncompressed.subarray(1))],
    ['hybrid 07', concat(Uint8Array.of(7), uncompressed.subarray(1))],
  ]
  it.each(keys)('key: %s is refused', async (_, key) => {
    expect(await answer(key, message, signature)).toBe(false)
  })

  it.each([
    ['1, the generator itself', keyOne],
    ['n - 1, the generator negated', keyLast],
    ['2', word(2n)],
  ])('private key %s', async (_, secret) => {
    const key = publicKeyOf(secret)
    expect(await answer(key, message, sign(message, secret))).toBe(true)
    expect(await answer(key, message, signature)).toBe(false)
  })

  it('refuses signatures that lead to the point at infinity or add a point to itself', async () => {
    const d = integer(privateKey)
    for (const crafted of [modN(-e * inverse(d)), modN(e * inverse(d))]) {
      expect(await answer(publicKey, message, concat(word(crafted), word(s)))).toBe(false)
    }
  })

  it.each([0, 1, 55, 56, 64, 200, 100_000])('message of %i bytes', async (length) => {
    const text = new Uint8Array(length).fill(7)
    const candidate = sign(text, privateKey)
    expect(await answer(publicKey, text, candidate)).toBe(true)
    expect(await answer(publicKey, concat(text, Uint8Array.of(0)), candidate)).toBe(false)
  })

  it('remembers nothing wrong of a key that is changed in place', async () => {
    const key = Uint8Array.from(publicKey)
    expect(await answer(key, message, signature)).toBe(true)
    key[0] = (key[0] as number) ^ 1
    expect(await answer(key, message, signature)).toBe(false)
  })

  it('gives one answer on thousands of mutations', () => {
    const signers = Array.from({ length: 8 }, quickSigner)
    const texts = signers.map((_, index) => new Uint8Array(40).fill(index))
    const made = signers.map((signer, index) => signer.sign(texts[index] as Uint8Array))
    const mutation = fc.record({
      which: fc.nat(7),
      part: fc.constantFrom('key', 'message', 'signature', 'none' as const),
      position: fc.nat(),
      mask: fc.integer({ min: 1, max: 255 }),
    })
    let accepted = 0
    let refused = 0
    fc.assert(
      fc.property(mutation, ({ which, part, position, mask }) => {
        const input = {
          key: Uint8Array.from((signers[which] as { publicKey: Uint8Array }).publicKey),
          message: Uint8Array.from(texts[which] as Uint8Array),
          signature: Uint8Array.from(made[which] as Uint8Array),
        }
        if (part !== 'none') {
          const at = position % input[part].length
          input[part][at] = (input[part][at] as number) ^ mask
        }
        selectBackend('native')
        const native = verify(input.key, input.message, input.signature)
        selectBackend('noble')
        expect(verify(input.key, input.message, input.signature)).toBe(native)
        if (native) accepted++
        else refused++
      }),
      { numRuns: rounds(200, 4000) },
    )
    expect(accepted).toBeGreaterThan(rounds(24, 500))
    expect(refused).toBeGreaterThan(rounds(100, 2000))
  })
})

describe('holds', () => {
  const a = quickSigner()
  const b = quickSigner()
  const c = quickSigner()
  const by = (...signers: (typeof a)[]) => signers.map((signer) => signer.sign(message))
  const keysOf = (...signers: (typeof a)[]) => signers.map((signer) => signer.publicKey)

  it.each([
    ['one signature, its key', keysOf(a), by(a), true],
    ['one signature, another key', keysOf(b), by(a), false],
    ['signatures in the order of the keys', keysOf(a, b, c), by(a, c), true],
    ['signatures in another order', keysOf(a, b, c), by(c, a, b), true],
    ['one signer twice', keysOf(a, b), by(a, a), false],
    ['one signer twice, the key there twice', keysOf(a, b, a), by(a, a), true],
    ['one signer three times, the key there twice', keysOf(a, b, a), by(a, a, a), false],
    ['a stranger among them', keysOf(a, b), by(a, c), false],
    ['more signatures than keys', keysOf(a), by(a, a), false],
    ['a malformed key that is not needed', [new Uint8Array(65), ...keysOf(a)], by(a), true],
    ['a malformed signature', keysOf(a, b), [...by(a), new Uint8Array(63)], false],
    ['no signature', keysOf(a), [], false],
    ['nothing', [], [], false],
  ])('%s', (_, keys, candidates, expected) => {
    expect(holds(checkOf(message, keys, candidates))).toBe(expected)
  })

  it('gives each signature the first key it fits, even where another choice would let the next one fit', () => {
    const [first, second] = by(a, a) as [Uint8Array, Uint8Array]
    const twin = otherKeyOf(first, a.publicKey)
    expect(verify(twin, message, first)).toBe(true)
    expect(holds(checkOf(message, [a.publicKey, twin], [first, second]))).toBe(false)
    expect(holds(checkOf(message, [twin, a.publicKey], [first, second]))).toBe(true)
    expect(holds(checkOf(message, [a.publicKey, twin], [second, first]))).toBe(true)
  })
})

describe('backends', () => {
  it('pass their self-test and are OpenSSL unless chosen otherwise', () => {
    expect(selectedBackend()).toBe('native')
    for (const name of ['native', 'noble'] as const) {
      selectBackend(name)
      expect(selfTest).not.toThrow()
    }
  })
})

/** Every signature fits two keys, one for each point with x = r: the one that is not `known`. */
function otherKeyOf(candidate: Uint8Array, known: Uint8Array): Uint8Array {
  const digest = sha256(message)
  const recovered = [0, 1].map((bit) =>
    p256.Signature.fromBytes(candidate, 'compact').addRecoveryBit(bit).recoverPublicKey(digest).toBytes(true),
  )
  return recovered.find((key) => toHex(key) !== toHex(known)) as Uint8Array
}
