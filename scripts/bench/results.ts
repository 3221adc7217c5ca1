import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { median } from './measure.js'
import type { Row } from './report.js'

/** Results of a run of the bench in a file. */
export interface Results {
  /** Time of the run, RFC 3339. */
  readonly at: string
  readonly node: string
  /** Processors: how many, and their model. */
  readonly machine: string
  /** Commit of the source, where it is known. */
  readonly commit?: string
  readonly rows: readonly KeptRow[]
}

/** A row with its value in each repetition; of ratios, those. */
export interface KeptRow extends Row {
  readonly values: readonly number[]
}

/** Rows of repetitions that measured the same: medians, with the values of all. */
export function keptRows(repetitions: readonly (readonly Row[])[]): KeptRow[] {
  const [first = []] = repetitions
  return first.map((row, i) => {
    const all = repetitions.map((rows) => rows[i] as Row)
    const values = all.map(({ value, ratio }) => ratio?.value ?? value)
    const value = median(all.map((one) => one.value))
    const ratio = row.ratio && { ...row.ratio, value: median(values) }
    return { ...row, value, ...(ratio === undefined ? {} : { ratio }), values }
  })
}

/** Writes results into a file, and returns its name: the one given, or one by the time. */
export function keepResults(rows: readonly KeptRow[], name?: string): string {
  const at = new Date().toISOString().replace(/\.\d+/, '')
  const processors = cpus()
  const machine = `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}`
  const commit = commitOf()
  const results: Results = { at, node: process.version, machine, ...(commit === undefined ? {} : { commit }), rows }
  const file = name ?? `bench-${at.replaceAll(/[-:]/g, '')}.json`
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
  return file
}

export function readResults(file: string): Results {
  return JSON.parse(readFileSync(file, 'utf8')) as Results
}

/**
 * Compares two runs in lines: each figure of both, their ratio, and its noise, which is how far the repetitions lie apart. A ratio is
 * compared as such. Runs of different machines compare by ratios alone.
 */
export function comparison(before: Results, after: Results): string[] {
  const lines = [`${describe(before)}  →  ${describe(after)}`]
  if (before.machine !== after.machine) lines.push('the machines differ: only ratios compare')
  for (const row of after.rows) {
    const other = before.rows.find(({ name }) => name === row.name)
    if (other === undefined) continue
    const [from, to] = [other, row].map((one) => one.ratio?.value ?? one.value) as [number, number]
    const unit = row.ratio === undefined ? row.unit : `of ${row.ratio.against}`
    const noise = spread(other.values) + spread(row.values)
    const known = other.values.length > 1 && row.values.length > 1
    const change = (to / from).toFixed(2)
    const verdict = !known ? 'noise unknown' : `± ${noise.toFixed(2)}${Math.abs(to / from - 1) > noise ? ' *' : ''}`
    lines.push(`${row.name}: ${short(from)} → ${short(to)} ${unit}, × ${change} ${verdict}`)
  }
  return lines
}

/** Half of the distance between the extremes, as a part of the median. */
function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / 2 / Math.abs(median(values))
}

function describe({ at, commit, node }: Results): string {
  return [at, commit, node].filter((part) => part !== undefined).join(' ')
}

const short = (value: number) => String(Number(value.toPrecision(3)))

function commitOf(): string | undefined {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  } catch {
    return undefined
  }
}
