import { toHex } from '../../base/primitives/bytes.js'
import { isCompressed, prime, ySquared } from '../../base/primitives/p256.js'

/** Numbers of the long loop are arrays of words, lowest first: BigInt, which makes a new number at each step, takes four times as long. */
const words = 9
const wordBits = 30
const wordMask = 2 ** wordBits - 1
const noWords = new Int32Array(words)

/**
 * Whether 33 bytes are the compressed form of a point of P-256. Tests only whether a root exists, by its Jacobi symbol: computing
 * the root costs many times as much.
 */
export function isPoint(bytes: Uint8Array): boolean {
  if (!isCompressed(bytes)) return false
  const x = BigInt(`0x${toHex(bytes.subarray(1))}`)
  return x < prime && jacobi(ySquared(x)) === 1
}

/** The Jacobi symbol (a/p) of 0 ≤ a < p: 1, -1, or 0 for 0. Binary: only shifts and subtractions, both in one pass. */
function jacobi(a: bigint): number {
  let top = wordsOf(a)
  let bottom = wordsOf(prime)
  /** Words of both that may differ from 0. */
  let length = words
  let sign = 1
  // The first pass subtracts nothing.
  let zeros = shiftDifference(top, noWords, length)
  for (;;) {
    while (length > 1 && top[length - 1] === 0 && bottom[length - 1] === 0) length--
    if (zeros < 0) return isOne(bottom, length) ? sign : 0
    // Only the last three bits matter.
    const below = (bottom[0] as number) & 7
    if ((zeros & 1) === 1 && (below === 3 || below === 5)) sign = -sign
    let last = length - 1
    while (last > 0 && top[last] === bottom[last]) last--
    if ((top[last] as number) < (bottom[last] as number)) {
      if (((top[0] as number) & 3) === 3 && (below & 3) === 3) sign = -sign
      const less = top
      top = bottom
      bottom = less
    }
    zeros = shiftDifference(top, bottom, length)
  }
}

/** Makes a the difference a - b, which is not negative, shifted until it is odd; returns by how many bits, -1 for a difference of 0. */
function shiftDifference(a: Int32Array, b: Int32Array, length: number): number {
  let shifted = 0
  for (let low = (a[0] as number) - (b[0] as number); ; low = a[0] as number) {
    low &= wordMask
    const bits = low === 0 ? wordBits : 31 - Math.clz32(low & -low)
    let kept = low >>> bits
    let borrow = shifted === 0 ? ((a[0] as number) - (b[0] as number)) >> wordBits : 0
    let some = kept
    for (let i = 1; i < length; i++) {
      const rest = (a[i] as number) + borrow - (shifted === 0 ? (b[i] as number) : 0)
      borrow = rest >> wordBits
      const value = rest & wordMask
      a[i - 1] = kept | ((value << (wordBits - bits)) & wordMask)
      kept = value >>> bits
      some |= value
    }
    a[length - 1] = kept
    shifted += bits
    if (low !== 0) return shifted
    if (some === 0) return -1
  }
}

function wordsOf(value: bigint): Int32Array {
  const made = new Int32Array(words)
  for (let i = 0; i < words; i++) made[i] = Number(BigInt.asUintN(wordBits, value >> BigInt(wordBits * i)))
  return made
}

function isOne(a: Int32Array, length: number): boolean {
  for (let i = 1; i < length; i++) if (a[i] !== 0) return false
  return a[0] === 1
}
