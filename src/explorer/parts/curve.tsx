import { useEffect, useRef } from 'preact/hooks'
import Plot from 'uplot'

/** A curve over time, drawn by uPlot in the colours of the page. */

export interface Series {
  readonly label: string
  /** One for each moment; null: none. */
  readonly values: readonly (number | null)[]
}

const height = 130

/** `23:44:10`, in the time zone of the reader. */
function timeOfDay(seconds: number): string {
  return new Date(seconds * 1000).toTimeString().slice(0, 8)
}

export function Curve({
  times,
  series,
  format,
  label,
}: {
  /** Unix seconds. */
  times: readonly number[]
  series: readonly Series[]
  format(value: number): string
  /** Description of the curve, for readers that do not see it. */
  label: string
}) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot>(undefined)
  const data: Plot.AlignedData = [[...times], ...series.map(({ values }) => [...values])]

  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const style = getComputedStyle(element)
    const colour = (name: string) => style.getPropertyValue(name).trim()
    const line = colour('--quiet')
    const axis = {
      stroke: line,
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui',
    }
    const created = new Plot(
      {
        width: element.clientWidth,
        height,
        padding: [8, 28, 0, 0],
        cursor: { show: false },
        legend: { show: false },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map(timeOfDay), space: 90, size: 26 },
          { ...axis, values: (_, ticks) => ticks.map(format), size: 64, space: 28 },
        ],
        scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.15 : 1] } },
        series: [
          {},
          ...series.map((one, index) => ({
            label: one.label,
            stroke: colour(`--curve-${index + 1}`),
            width: 1.75,
            points: { show: false },
          })),
        ],
      },
      data,
      element,
    )
    plot.current = created
    const resize = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      created.destroy()
    }
  }, [series.length])

  useEffect(() => plot.current?.setData(data))

  const last = series.map(({ label: name, values }) => {
    const value = values.at(-1)
    return `${name} ${value === null || value === undefined ? 'unknown' : format(value)}`
  })
  return (
    <figure class="curve">
      <figcaption>
        {label}:{' '}
        {last.map((text, index) => (
          <span key={text} class={`key key-${index + 1}`}>
            {text}
          </span>
        ))}
      </figcaption>
      <div class="plot" ref={box} aria-hidden="true" />
    </figure>
  )
}
