/** The curve P-256, y² = x³ - 3x + b over the integers modulo a prime p. Web pages use this file too. */

/** p */
export const prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
const constant = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

/** The square of y, for x below p. */
export function ySquared(x: bigint): bigint {
  return (((x * x) % prime) * x + (prime - 3n) * x + constant) % prime
}

/** Both coordinates of a point, 32 bytes each, big-endian; undefined unless `bytes` are its compressed form. */
export function coordinatesOf(bytes: Uint8Array): { readonly x: Uint8Array; readonly y: Uint8Array } | undefined {
  const [sign = 0, ...rest] = bytes
  if (rest.length !== 32 || (sign !== 2 && sign !== 3)) return undefined
  const x = rest.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
  if (x >= prime) return undefined
  const square = ySquared(x)
  // p is 3 modulo 4, so that this power is a root if there is one.
  const root = power(square, (prime + 1n) / 4n)
  if ((root * root) % prime !== square) return undefined
  const isOdd = (root & 1n) === 1n
  return { x: bytes.slice(1), y: bytesOf(isOdd === (sign === 3) ? root : prime - root) }
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % prime
    square = (square * square) % prime
  }
  return result
}

function bytesOf(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * (31 - i))) & 0xffn))
}
