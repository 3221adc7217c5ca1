/** Fee of one or more transactions, and the bytes that they take in a block. */
export interface Paid {
  readonly fee: bigint
  /** From 1 on. */
  readonly bytes: number
}

/** Compares what is paid for a byte: above 0 where `a` pays more. Exact: no rounding decides. */
export function compareRates(a: Paid, b: Paid): number {
  const [left, right] = [Number(a.fee) * b.bytes, Number(b.fee) * a.bytes]
  if (left <= Number.MAX_SAFE_INTEGER && right <= Number.MAX_SAFE_INTEGER) return left - right
  const more = a.fee * BigInt(b.bytes) - b.fee * BigInt(a.bytes)
  return more > 0n ? 1 : more < 0n ? -1 : 0
}

/** Sela for 1000 bytes, rounded up. */
export function ratePerThousand({ fee, bytes }: Paid): number {
  const size = BigInt(bytes)
  return Number((fee * 1000n + size - 1n) / size)
}

/** Sela for 1000 bytes as a decimal number of sela a byte. */
export function rateText(perThousand: number): string {
  return String(perThousand / 1000)
}
