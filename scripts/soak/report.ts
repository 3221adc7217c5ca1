import { fit, rises } from './fit.js'
import { mostMoreAlive, type Sample, series, total } from './sample.js'

/** A sample and when it was taken. */
export interface Taken {
  /** Since the first one. */
  readonly hours: number
  readonly sample: Sample
}

const columns = ['minute', 'height', 'peers', 'joined', 'heap MB', 'ext. MB', 'RSS MB'].concat([
  'handles',
  'files',
  'listeners',
])

/** Says by what each figure rises, and returns the exit code: 1 when one rises by more than it may. */
export function judge(taken: readonly Taken[]): number {
  const [first, last] = [taken[0], taken.at(-1)] as [Taken, Taken]
  console.log(`\n${taken.length} samples from minute ${(first.hours * 60).toFixed(1)} on:`)
  let code = 0
  for (const { name, unit, most, of } of series) {
    const line = fit(taken.map(({ hours, sample }) => ({ x: hours, y: of(sample) })))
    const bad = rises(line, most)
    if (bad) code = 1
    const slope = `${line.slope.toFixed(2)} ± ${line.error.toFixed(2)} ${unit}/h`
    console.log(`${name.padEnd(10)} ${slope.padStart(26)}  at most ${most}  ${bad ? 'RISES' : 'flat'}`)
  }
  for (const [kind, before] of Object.entries(first.sample.alive ?? {})) {
    const after = last.sample.alive?.[kind] ?? NaN
    const bad = !(after - before <= mostMoreAlive)
    if (bad) code = 1
    console.log(
      `${kind.padEnd(11)} from ${before} to ${after} objects, at most ${mostMoreAlive} more  ${bad ? 'RISES' : 'flat'}`,
    )
  }
  console.log(`resident memory from ${megabytes(first.sample.resident)} to ${megabytes(last.sample.resident)} MB`)
  console.log(`handles: ${listed(last.sample.handles)}`)
  console.log(`listeners: ${listed(last.sample.listeners)}`)
  return code
}

/** Says what did not happen of what the figures are to be flat under, and returns the exit code: 1 when there was such a thing. */
export function judgeLoad(counts: Readonly<Record<string, Readonly<Record<string, number>>>>): number {
  const missing = Object.entries(counts).flatMap(([of, kinds]) => {
    const names = Object.keys(kinds)
    if (names.length === 0) return [`${of}: nothing is known of them`]
    return names.filter((name) => kinds[name] === 0).map((name) => `${of}: not one of ${name}`)
  })
  for (const text of missing) console.log(`NOTHING SHOWN  ${text}`)
  return missing.length > 0 ? 1 : 0
}

export function heading(): string {
  return columns.join('  ')
}

export function lineOf({ hours, sample }: Taken): string {
  const { height, peers, joined, heap, external, resident, handles, files, listeners } = sample
  const counts = [total(handles), files, total(listeners)]
  const cells = [
    (hours * 60).toFixed(1),
    height,
    peers,
    joined,
    ...[heap, external, resident].map(megabytes),
    ...counts,
  ]
  return cells.map((cell, i) => String(cell).padStart(columns[i]?.length ?? 0)).join('  ')
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}

export function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}
