import { useEffect, useRef } from 'preact/hooks'
import type Plot from 'uplot'

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

  const latest = useRef(data)
  latest.current = data

  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    let ended = false
    // uPlot throws as it loads in a browser whose language Intl does not take: the page stands without its curves then.
    void import('uplot').then(
      ({ default: Uplot }) => {
        if (!ended) plot.current = new Uplot(optionsFor(element, series, format), latest.current, element)
      },
      () => undefined,
    )
    const resize = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }))
    resize.observe(element)
    return () => {
      ended = true
      resize.disconnect()
      plot.current?.destroy()
      plot.current = undefined
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

function optionsFor(element: HTMLElement, series: readonly Series[], format: (value: number) => string): Plot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  }
  return {
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
  }
}
