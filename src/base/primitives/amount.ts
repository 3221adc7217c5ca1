/** Amounts are bigints in units of 10^-8; their text always has eight decimals at the interfaces. */

const unit = 100_000_000n

/** "-1.50000000" for -150000000n. */
export function formatAmount(amount: bigint): string {
  const magnitude = amount < 0n ? -amount : amount
  const fraction = (magnitude % unit).toString().padStart(8, '0')
  return `${amount < 0n ? '-' : ''}${magnitude / unit}.${fraction}`
}

/**
 * The amount of a decimal text: digits, then optionally a point and one to eight digits. Undefined for anything else: signs,
 * exponents, a ninth decimal, a number, 2^63 units or more (an amount is an i64 on the wire).
 */
export function parseAmount(text: string): bigint | undefined {
  const match = typeof text === 'string' ? /^([0-9]{1,12})(?:\.([0-9]{1,8}))?$/.exec(text) : null
  if (match === null) return undefined
  const amount = BigInt(match[1] as string) * unit + BigInt((match[2] ?? '').padEnd(8, '0'))
  return amount < 1n << 63n ? amount : undefined
}
