import type { ClockBounds } from './pace.js'

/**
 * The middle of the differences between other clocks and the own one, in milliseconds; positive: the others are ahead. Of
 * `sources` clocks those without a known difference count as equal to the own one, so that it takes more than half of them to
 * move the result. Of two middles the one nearer to zero.
 */
export function medianOffset(offsets: readonly number[], sources: number): number {
  const unknown = Math.max(0, sources - offsets.length)
  const sorted = [...offsets, ...Array.from({ length: unknown }, () => 0)].sort((a, b) => a - b)
  const middles = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0] as const
  return Math.abs(middles[0]) <= Math.abs(middles[1]) ? middles[0] : middles[1]
}

/**
 * The difference to report, or undefined. What was reported before is reported until the clocks agree within half of the bound,
 * so that a clock at its edge causes one warning.
 */
export function reportedOffset(median: number, { ahead, behind }: ClockBounds, before: boolean): number | undefined {
  const share = before ? 1 / 2 : 1
  const beyond = median > behind * share || -median > ahead * share
  return beyond ? median : undefined
}
