import { blockSize, digestOf, padded, rotatedLeft } from './merkle-damgard.js'

/** RIPEMD-160 (Dobbertin, Bosselaers and Preneel, 1996), for web pages and for builds of OpenSSL without it. */

/** Five words. */
type State = [number, number, number, number, number]

type Mix = (x: number, y: number, z: number) => number

/** One of the two lines of five rounds that each block goes through. */
interface Line {
  /** The words of a block in the order in which the first round takes them. */
  readonly order: readonly number[]
  /** What each round adds. */
  readonly constants: readonly number[]
  /** The Boolean function of each round. */
  readonly functions: readonly Mix[]
}

const initial: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]

/** ρ, which leads from the order of a round to that of the next one. */
const rho = [7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8]

/** Bits by which each round turns, for each word. */
const shifts = [
  [11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8],
  [12, 13, 11, 15, 6, 9, 9, 7, 12, 15, 11, 13, 7, 8, 7, 7],
  [13, 15, 14, 11, 7, 7, 6, 8, 13, 14, 13, 12, 5, 5, 6, 9],
  [14, 11, 12, 14, 8, 6, 5, 5, 15, 12, 15, 14, 9, 9, 8, 6],
  [15, 12, 13, 13, 9, 5, 8, 6, 14, 11, 12, 11, 8, 6, 5, 5],
]

const mixes: readonly Mix[] = [
  (x, y, z) => x ^ y ^ z,
  (x, y, z) => (x & y) | (~x & z),
  (x, y, z) => (x | ~y) ^ z,
  (x, y, z) => (x & z) | (y & ~z),
  (x, y, z) => x ^ (y | ~z),
]

/** The constants are the integer parts of 2^30 times square roots, and cube roots, of the first primes. */
const left: Line = {
  order: rho.map((_, i) => i),
  constants: [0, 2, 3, 5, 7].map((prime) => Math.floor(2 ** 30 * Math.sqrt(prime))),
  functions: mixes,
}
const right: Line = {
  order: rho.map((_, i) => (9 * i + 5) % 16),
  constants: [2, 3, 5, 7, 0].map((prime) => Math.floor(2 ** 30 * Math.cbrt(prime))),
  functions: [...mixes].reverse(),
}

/** RIPEMD-160 of a message: 20 bytes. */
export function ripemd160(message: Uint8Array): Uint8Array {
  const blocks = padded(message, true)
  let state = initial
  for (let at = 0; at < blocks.byteLength; at += blockSize) {
    const words = rho.map((_, i) => blocks.getInt32(at + 4 * i, true))
    const [a, b, c, d, e] = state
    const [la, lb, lc, ld, le] = through(left, state, words)
    const [ra, rb, rc, rd, re] = through(right, state, words)
    const sums = [b + lc + rd, c + ld + re, d + le + ra, e + la + rb, a + lb + rc]
    state = sums.map((sum) => sum | 0) as State
  }
  return digestOf(Int32Array.from(state), true)
}

/** A state after the 80 steps of a line. */
function through({ order: first, constants, functions }: Line, state: State, words: readonly number[]): State {
  let [a, b, c, d, e] = state
  let order = first
  for (const [round, turns] of shifts.entries()) {
    const mix = functions[round] as Mix
    for (const word of order) {
      const sum = (a + mix(b, c, d) + (words[word] as number) + (constants[round] as number)) | 0
      const turned = (rotatedLeft(sum, turns[word] as number) + e) | 0
      ;[a, b, c, d, e] = [e, turned, b, rotatedLeft(c, 10), d]
    }
    order = order.map((word) => rho[word] as number)
  }
  return [a, b, c, d, e]
}
