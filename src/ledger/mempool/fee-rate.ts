/** Fee of one or more transactions, and the bytes that they take in a block. */
export interface Paid {
  readonly fee: bigint
  /** From 1 on. */
  readonly bytes: number
}

/** The same with about what it is for a byte, so that most comparisons need no more. */
export interface Priced extends Paid {
  /** {@link rateOf} of both. */
  readonly rate: number
}

/** Part of a rate by which rounding can at most be wrong, and more. */
const uncertain = 2 ** -50

/** Fee for a byte, rounded. */
export function rateOf({ fee, bytes }: Paid): number {
  return Number(fee) / bytes
}

export function priced(fee: bigint, bytes: number): Priced {
  return { fee, bytes, rate: rateOf({ fee, bytes }) }
}

/** Compares what is paid for a byte: above 0 where `a` pays more. No rounding decides. */
export function compareRates(a: Priced, b: Priced): number {
  const more = a.rate - b.rate
  if (Math.abs(more) > uncertain * a.rate) return more
  if (a.fee === b.fee && a.bytes === b.bytes) return 0
  const exact = a.fee * BigInt(b.bytes) - b.fee * BigInt(a.bytes)
  return exact > 0n ? 1 : exact < 0n ? -1 : 0
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
