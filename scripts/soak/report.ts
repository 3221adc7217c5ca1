import type { Outcome } from './acknowledged.js'
import { fit, rises } from './fit.js'
import type { Latency } from './latency.js'
import { mostBeyondIdle, mostMoreAlive, type Sample, series, total } from './sample.js'

/** A sample and its time. */
export interface Taken {
  /** Since the first one. */
  readonly hours: number
  readonly sample: Sample
}

const columns = ['minute', 'height', 'peers', 'joined', 'late ms', 'heap MB', 'ext. MB', 'RSS MB', 'most MB'].concat([
  'handles',
  'files',
  'listeners',
])

/** Prints the rise of each figure, and returns the exit code: 1 if one exceeds its limit. */
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

/** Prints the node's maximum memory, and returns the exit code: 1 if it exceeds its limit. */
export function judgePeak(idle: number, peak: number): number {
  const bad = peak - idle > mostBeyondIdle
  const most = `${megabytes(peak)} MB at the most, ${megabytes(idle)} MB idle`
  console.log(`resident memory ${most}, at most ${megabytes(mostBeyondIdle)} MB more  ${bad ? 'TOO MUCH' : 'good'}`)
  return bad ? 1 : 0
}

/** Prints the latencies of honest clients, and returns the exit code: 1 if one kind exceeds the limit or is missing. */
export function judgeLatencies(latencies: readonly Latency[], most: number): number {
  let code = latencies.length === 0 ? 1 : 0
  for (const { kind, count, median, p99, most: longest } of latencies) {
    const bad = !(p99 <= most)
    if (bad) code = 1
    const figures = `median ${median.toFixed(1)}, p99 ${p99.toFixed(1)}, most ${longest.toFixed(0)} ms`
    console.log(`${kind.padEnd(13)} ${count} answers, ${figures}; p99 at most ${most}  ${bad ? 'SLOW' : 'good'}`)
  }
  return code
}

/** Share of its speed alone that an honest replay keeps beside replays that are not read. */
const leastReplaySpeed = 0.5

/** Prints the speed of honest replays beside hostile ones, and returns the exit code: 1 if the median is too low or missing. */
export function judgeReplays(speeds: readonly number[]): number {
  const sorted = [...speeds].sort((a, b) => a - b)
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN
  const bad = !(median >= leastReplaySpeed)
  const figures = `median ${median.toFixed(2)}, least ${(sorted[0] ?? NaN).toFixed(2)} of their speed alone`
  console.log(`${speeds.length} honest replays, ${figures}; at least ${leastReplaySpeed}  ${bad ? 'SLOW' : 'good'}`)
  return bad ? 1 : 0
}

/** Prints the results of acknowledged transactions, and returns the exit code: 1 if one is gone without a reason. */
export function judgeOutcome({ acknowledged, mined, waiting, dropped, lost }: Outcome): number {
  console.log(
    `of ${acknowledged} acknowledged transactions ${mined} are mined, ${waiting} wait, ${dropped.length} were dropped, ` +
      `${lost.length} are lost  ${lost.length > 0 ? 'LOST' : 'good'}`,
  )
  const reasons: Record<string, number> = {}
  for (const reason of dropped) reasons[reason] = (reasons[reason] ?? 0) + 1
  for (const [reason, count] of Object.entries(reasons)) console.log(`dropped: ${count} as ${reason}`)
  for (const txid of lost.slice(0, 5)) console.log(`lost: ${txid}`)
  return lost.length > 0 || acknowledged === 0 ? 1 : 0
}

/** Prints which honest nodes others have banned, and returns the exit code: 1 if there is one. */
export function judgeBans(bans: readonly string[]): number {
  for (const ban of bans) console.log(`BANNED  ${ban}`)
  return bans.length > 0 ? 1 : 0
}

/** Prints the kinds of load that never succeeded, and returns the exit code: 1 if there is one. */
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
  const { height, peers, joined, late, heap, external, resident, peak, handles, files, listeners } = sample
  const counts = [total(handles), files, total(listeners)]
  const cells = [
    (hours * 60).toFixed(1),
    height,
    peers,
    joined,
    Math.round(late),
    ...[heap, external, resident, peak].map(megabytes),
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
