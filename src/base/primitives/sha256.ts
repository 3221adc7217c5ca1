import { blockSize, digestOf, padded, rotatedLeft } from './merkle-damgard.js'

/** SHA-256 (FIPS 180-4) at once, for web pages: WebCrypto has it as a promise alone. */

/** The first 64. */
const primes = Array.from({ length: 312 }, (_, n) => n).filter(isPrime)
/**
 * The first 32 bits of the fractions of roots: of square roots of the first 8 primes, of cube roots of all. Engines may differ in the last
 * bits of a cube root: the one nearest to another constant is 2^-40 away from it, thousands of times as far.
 */
const initial = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))
const constants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)))

function isPrime(n: number): boolean {
  for (let divisor = 2; divisor < n; divisor++) if (n % divisor === 0) return false
  return n > 1
}

function fraction(root: number): number {
  return (root % 1) * 2 ** 32
}

/** SHA-256 of a message: 32 bytes. */
export function sha256(message: Uint8Array): Uint8Array {
  const blocks = padded(message, false)
  const state = initial.slice()
  const words = new Int32Array(64)
  for (let at = 0; at < blocks.byteLength; at += blockSize) {
    for (let i = 0; i < 16; i++) words[i] = blocks.getInt32(at + 4 * i)
    for (let i = 16; i < 64; i++) {
      const early = words[i - 15] as number
      const late = words[i - 2] as number
      const first = rotatedLeft(early, 25) ^ rotatedLeft(early, 14) ^ (early >>> 3)
      const second = rotatedLeft(late, 15) ^ rotatedLeft(late, 13) ^ (late >>> 10)
      words[i] = (words[i - 16] as number) + first + (words[i - 7] as number) + second
    }
    compress(state, words)
  }
  return digestOf(state, false)
}

/** Takes the 64 words of a block into the state. Eight variables: to take an array apart takes as long as the rest. */
function compress(state: Int32Array, words: Int32Array): void {
  let a = state[0] as number
  let b = state[1] as number
  let c = state[2] as number
  let d = state[3] as number
  let e = state[4] as number
  let f = state[5] as number
  let g = state[6] as number
  let h = state[7] as number
  for (let i = 0; i < 64; i++) {
    const choice = (e & f) ^ (~e & g)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const turnedA = rotatedLeft(a, 30) ^ rotatedLeft(a, 19) ^ rotatedLeft(a, 10)
    const turnedE = rotatedLeft(e, 26) ^ rotatedLeft(e, 21) ^ rotatedLeft(e, 7)
    const sum = (h + turnedE + choice + (constants[i] as number) + (words[i] as number)) | 0
    h = g
    g = f
    f = e
    e = (d + sum) | 0
    d = c
    c = b
    b = a
    a = (sum + turnedA + majority) | 0
  }
  ;[a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = (state[i] as number) + word))
}
