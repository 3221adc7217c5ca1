/** A line through points by least squares. */
export interface Line {
  readonly slope: number
  /** The standard error of the slope. */
  readonly error: number
}

/** Fits a line; needs at least three points with different x. */
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

/** Standard errors by which a slope must exceed the allowed one: the traffic varies over time. */
const certainty = 3

/** Whether a figure significantly rises by more than allowed. */
export function rises({ slope, error }: Line, most: number): boolean {
  return slope - certainty * error > most
}
