/** Difficulty targets in compact form, work, and their texts (format 5.10). */

/** The largest possible target: 2^255 - 1. */
export const powLimit = (1n << 255n) - 1n

/** The easiest target in use: every second hash meets it. With it as the limit, the bits of a chain never change. */
export const easiestBits = 0x207fffff

/** The target of `bits`: negative and oversized forms give values that {@link validTarget} refuses. */
export function targetOf(bits: number): bigint {
  const exponent = bits >>> 24
  const mantissa = BigInt(bits & 0x7fffff)
  const magnitude = exponent <= 3 ? mantissa >> BigInt(8 * (3 - exponent)) : mantissa << BigInt(8 * (exponent - 3))
  return bits & 0x800000 ? -magnitude : magnitude
}

/** Compact form of a positive target. */
export function bitsOf(target: bigint): number {
  let size = Math.ceil(target.toString(2).length / 8)
  let mantissa = Number(size <= 3 ? target << BigInt(8 * (3 - size)) : target >> BigInt(8 * (size - 3)))
  // The top mantissa bit is the sign, so a mantissa that would set it moves up one byte.
  if (mantissa & 0x800000) {
    mantissa >>>= 8
    size += 1
  }
  return ((size << 24) | mantissa) >>> 0
}

export function validTarget(target: bigint): boolean {
  return target > 0n && target <= powLimit
}

/** Expected number of hashes for a block with these bits: 2^256 / (target + 1). */
export function workOf(bits: number): bigint {
  return (1n << 256n) / (targetOf(bits) + 1n)
}

/** Difficulty relative to the easiest target, as an integer in decimal text. */
export function difficultyText(bits: number, powLimitBits: number): string {
  return (targetOf(powLimitBits) / targetOf(bits)).toString()
}
