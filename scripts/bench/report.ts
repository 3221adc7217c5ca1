/** One measured figure. */
export interface Row {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The figure divided by that of `against`, both measured alternately in one run. */
  readonly ratio?: { readonly value: number; readonly against: string }
  /** Bound of the ratio, or of the value if there is no ratio. */
  readonly target?: { readonly least: number } | { readonly most: number }
}

/** Ratio of a row, with the name of what it is measured against, and bound. */
interface Judged {
  readonly ratio?: readonly [value: number, against: string]
  readonly least?: number | undefined
  readonly most?: number | undefined
}

export function row(name: string, value: number, unit: string, { ratio, least, most }: Judged = {}): Row {
  return {
    name,
    value,
    unit,
    ...(ratio && { ratio: { value: ratio[0], against: ratio[1] } }),
    ...(least === undefined ? most !== undefined && { target: { most } } : { target: { least } }),
  }
}

/** A table for a terminal: name, figure, ratio, target. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ name, value, unit, ratio, target }) => [
    name,
    `${figure(value)} ${unit}`,
    ratio === undefined ? '' : `${ratio.value.toFixed(2)} of ${ratio.against}`,
    target === undefined ? '' : 'least' in target ? `≥ ${figure(target.least)}` : `≤ ${figure(target.most)}`,
  ])
  const all = [['what', 'figure', 'ratio', 'target'], ...cells]
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all
    .map(([name = '', value = '', ratio = '', target = '']) =>
      `${name.padEnd(widths[0] ?? 0)}  ${value.padStart(widths[1] ?? 0)}  ${ratio.padEnd(widths[2] ?? 0)}  ${target}`.trimEnd(),
    )
    .join('\n')
}

function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
}

/** A number as names of rows show it. */
export const shown = (count: number): string => count.toLocaleString('en')
