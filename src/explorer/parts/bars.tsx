/** Bars over time, in the colours of the page. */

/** Bars that a chart has room for, on a phone too. */
export const mostBars = 90
/** Bars whose room is kept free: one alone is no wall. */
const leastBars = 30

export interface Bar {
  /** Time that it stands for. */
  readonly name: string
  /** Null: unknown. */
  readonly value: number | null
}

/** A chart from 0 on with its highest and last value in words. `bars` undefined: awaited; the chart has its room by then. */
export function Bars({
  label,
  bars,
  format,
}: {
  label: string
  bars: readonly Bar[] | undefined
  format(value: number): string
}) {
  const shown = ({ value }: Bar) => (value === null ? 'unknown' : format(value))
  const high = (bars ?? []).reduce((most, { value }) => Math.max(most, value ?? 0), 0)
  const last = bars?.at(-1)
  const words = last === undefined ? 'no day yet' : `most ${format(high)}, last ${shown(last)}`
  const width = Math.max(bars?.length ?? 0, leastBars)
  return (
    <figure class="bars">
      {bars === undefined ? <figcaption class="awaited">…</figcaption> : <figcaption>{words}</figcaption>}
      <svg viewBox={`0 0 ${width} 1`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${words}`}>
        {bars?.map((bar, index) => (
          <rect key={bar.name} x={index + 0.1} width={0.8} y={1 - part(bar, high)} height={part(bar, high)}>
            <title>{`${bar.name}: ${shown(bar)}`}</title>
          </rect>
        ))}
      </svg>
    </figure>
  )
}

function part({ value }: Bar, high: number): number {
  return value === null || high === 0 ? 0 : value / high
}
