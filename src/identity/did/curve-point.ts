import { toHex } from '../../base/primitives/bytes.js'
import { isCompressed, prime, ySquared } from '../../base/primitives/p256.js'

/**
 * Whether 33 bytes are the compressed form of a point of P-256. Tests only whether a root exists, by its Jacobi symbol: computing
 * the root costs four times as much.
 */
export function isPoint(bytes: Uint8Array): boolean {
  if (!isCompressed(bytes)) return false
  const x = BigInt(`0x${toHex(bytes.subarray(1))}`)
  return x < prime && jacobi(ySquared(x), prime) === 1
}

/** The Jacobi symbol (a/n) of 0 ≤ a < n, n odd: 1, -1, or 0 where they share a factor. */
function jacobi(a: bigint, n: bigint): number {
  let [top, bottom, sign] = [a, n, 1]
  while (top !== 0n) {
    const zeros = trailingZeros(top)
    top >>= BigInt(zeros)
    // Only the last three bits matter.
    const [low, below] = [Number(top & 7n), Number(bottom & 7n)]
    if (zeros % 2 === 1 && (below === 3 || below === 5)) sign = -sign
    if (low % 4 === 3 && below % 4 === 3) sign = -sign
    const rest = bottom % top
    bottom = top
    top = rest
  }
  return bottom === 1n ? sign : 0
}

function trailingZeros(value: bigint): number {
  let zeros = 0
  let rest = value
  for (let low = Number(rest & 0xffffffffn); ; low = Number(rest & 0xffffffffn)) {
    if (low !== 0) return zeros + 31 - Math.clz32(low & -low)
    zeros += 32
    rest >>= 32n
  }
}
