/** The curve P-256, y² = x³ - 3x + b over the integers modulo a prime p. Web pages use this file too. */

import { nodeCrypto } from '../runtime/node-crypto.js'

/** p */
export const prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
const constant = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

/** The square of y, for x below p. */
export function ySquared(x: bigint): bigint {
  return (((x * x) % prime) * x + (prime - 3n) * x + constant) % prime
}

/** Whether bytes have the compressed form, whose first byte is the sign of y. Not every x has a point. */
export function isCompressed(bytes: Uint8Array): boolean {
  return bytes.length === 33 && (bytes[0] === 2 || bytes[0] === 3)
}

/** 32 bytes each, big-endian. */
export interface Coordinates {
  readonly x: Uint8Array
  readonly y: Uint8Array
}

/**
 * Both coordinates of a point; undefined unless `bytes` are its compressed form. Node has OpenSSL for it, in a tenth of the time: a
 * document may list hundreds of keys, which a server must not work on for long.
 */
export function coordinatesOf(bytes: Uint8Array): Coordinates | undefined {
  if (!isCompressed(bytes)) return undefined
  return nodeCrypto === undefined ? coordinatesByRoot(bytes) : coordinatesByNode(bytes, nodeCrypto)
}

function coordinatesByNode(bytes: Uint8Array, { ECDH }: NonNullable<typeof nodeCrypto>): Coordinates | undefined {
  try {
    const point = ECDH.convertKey(bytes, 'prime256v1', undefined, undefined, 'uncompressed') as Uint8Array
    return { x: point.slice(1, 33), y: point.slice(33) }
  } catch {
    return undefined
  }
}

/** The same in a web page. */
export function coordinatesByRoot(bytes: Uint8Array): Coordinates | undefined {
  if (!isCompressed(bytes)) return undefined
  const [sign, ...rest] = bytes
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
