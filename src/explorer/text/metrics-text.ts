/** Reads what `/metrics` answers. Pure. */

/** One figure: the name with its labels as they stand, `x{y="z"}`, and its value. */
export type Figures = ReadonlyMap<string, number>

/** The figures of an answer in the text format of Prometheus; lines that are none are left out. */
export function readFigures(text: string): Figures {
  const figures = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, name, value] = /^([A-Za-z_:][\w:]*(?:\{[^}]*\})?) (\S+)/.exec(line) ?? []
    if (name !== undefined && value !== undefined && Number.isFinite(Number(value))) figures.set(name, Number(value))
  }
  return figures
}

/** The sum of all figures of a name, whatever their labels; undefined where there is none. */
export function sumOf(figures: Figures, name: string): number | undefined {
  let sum: number | undefined
  for (const [key, value] of figures) {
    if (key === name || key.startsWith(`${name}{`)) sum = (sum ?? 0) + value
  }
  return sum
}
