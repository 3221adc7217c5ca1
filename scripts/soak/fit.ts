/** A line through points by least squares. */
export interface Line {
  readonly slope: number
  /** The standard error of the slope. */
  readonly error: number
}

/** Fits a line; at least three points at different places. */
export function fit(xs: readonly number[], ys: readonly number[]): Line {
  const n = xs.length
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / n
  const [mx, my] = [mean(xs), mean(ys)]
  const spread = xs.reduce((sum, x) => sum + (x - mx) ** 2, 0)
  const slope = xs.reduce((sum, x, i) => sum + (x - mx) * ((ys[i] ?? NaN) - my), 0) / spread
  const rest = xs.reduce((sum, x, i) => sum + ((ys[i] ?? NaN) - my - slope * (x - mx)) ** 2, 0)
  return { slope, error: Math.sqrt(rest / (n - 2) / spread) }
}

/** Standard errors by which a slope must be above what is allowed: the traffic is not the same at all times. */
const certainty = 3

/** Whether a figure surely rises by more than is allowed. */
export function rises({ slope, error }: Line, most: number): boolean {
  return slope - certainty * error > most
}
