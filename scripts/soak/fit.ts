/** A line through points by least squares. */
export interface Line {
  readonly slope: number
  /** The standard error of the slope. */
  readonly error: number
}

/** Fits a line; at least three points at different places. */
export function fit(points: readonly { readonly x: number; readonly y: number }[]): Line {
  const sum = (of: (point: { readonly x: number; readonly y: number }) => number) =>
    points.reduce((total, point) => total + of(point), 0)
  const n = points.length
  const [mx, my] = [sum(({ x }) => x) / n, sum(({ y }) => y) / n]
  const spread = sum(({ x }) => (x - mx) ** 2)
  const slope = sum(({ x, y }) => (x - mx) * (y - my)) / spread
  const rest = sum(({ x, y }) => (y - my - slope * (x - mx)) ** 2)
  return { slope, error: Math.sqrt(rest / (n - 2) / spread) }
}

/** Standard errors by which a slope must be above what is allowed: the traffic is not the same at all times. */
const certainty = 3

/** Whether a figure surely rises by more than is allowed. */
export function rises({ slope, error }: Line, most: number): boolean {
  return slope - certainty * error > most
}
