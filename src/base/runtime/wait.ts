/**
 * Whether a wait is not over that ends at a time of the clock, and began with at most `longest` left. With more left the clock was set back
 * meanwhile, which does not prolong it: the wait is over then. Milliseconds.
 */
export function isWaiting(until: number, now: number, longest: number): boolean {
  const left = until - now
  return left > 0 && left <= longest
}
