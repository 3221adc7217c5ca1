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

const inMegabytes = ['heap MB', 'ext. MB', 'RSS MB', 'most MB']
const columns = ['minute', 'height', 'peers', 'joined', 'late ms', ...inMegabytes, 'handles', 'files', 'listeners']

/** Prints a sentence with how it is judged, and returns the exit code: 1 if it is bad. */
function judged(bad: boolean, sentence: string, [badly, well] = ['SLOW', 'good'] as readonly [string, string]): number {
  console.log(`${sentence}  ${bad ? badly : well}`)
  return bad ? 1 : 0
}

/** Prints the rise of each figure, and returns the exit code: 1 if one exceeds its limit. */
export function judge(taken: readonly Taken[]): number {
  const [first, last] = [taken[0], taken.at(-1)] as [Taken, Taken]
  console.log(`\n${taken.length} samples from minute ${(first.hours * 60).toFixed(1)} on:`)
  const words = ['RISES', 'flat'] as const
  const rising = series.map(({ name, unit, most, of }) => {
    const line = fit(taken.map(({ hours, sample }) => ({ x: hours, y: of(sample) })))
    const slope = `${line.slope.toFixed(2)} ± ${line.error.toFixed(2)} ${unit}/h`
    return judged(rises(line, most), `${name.padEnd(10)} ${slope.padStart(26)}  at most ${most}`, words)
  })
  const alive = Object.entries(first.sample.alive ?? {}).map(([kind, before]) => {
    const after = last.sample.alive?.[kind] ?? NaN
    const sentence = `${kind.padEnd(11)} from ${before} to ${after} objects, at most ${mostMoreAlive} more`
    return judged(!(after - before <= mostMoreAlive), sentence, words)
  })
  console.log(`resident memory from ${megabytes(first.sample.resident)} to ${megabytes(last.sample.resident)} MB`)
  console.log(`handles: ${listed(last.sample.handles)}`)
  console.log(`listeners: ${listed(last.sample.listeners)}`)
  return Math.max(...rising, ...alive)
}

/** Prints the node's maximum memory, and returns the exit code: 1 if it exceeds its limit. */
export function judgePeak(idle: number, peak: number): number {
  const most = `${megabytes(peak)} MB at the most, ${megabytes(idle)} MB idle`
  const sentence = `resident memory ${most}, at most ${megabytes(mostBeyondIdle)} MB more`
  return judged(peak - idle > mostBeyondIdle, sentence, ['TOO MUCH', 'good'])
}

/** Prints the latencies of honest clients, and returns the exit code: 1 if one kind exceeds the limit or is missing. */
export function judgeLatencies(latencies: readonly Latency[], most: number): number {
  const slow = latencies.map(({ kind, count, median, p99, most: longest }) => {
    const figures = `median ${median.toFixed(1)}, p99 ${p99.toFixed(1)}, most ${longest.toFixed(0)} ms`
    return judged(!(p99 <= most), `${kind.padEnd(13)} ${count} answers, ${figures}; p99 at most ${most}`)
  })
  return latencies.length === 0 ? 1 : Math.max(...slow)
}

/** Share of its speed alone that an honest replay keeps beside replays that are not read. */
const leastReplaySpeed = 0.5

/** Prints the speed of honest replays beside hostile ones, and returns the exit code: 1 if the median is too low or missing. */
export function judgeReplays(speeds: readonly number[]): number {
  const sorted = [...speeds].sort((a, b) => a - b)
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN
  const figures = `median ${median.toFixed(2)}, least ${(sorted[0] ?? NaN).toFixed(2)} of their speed alone`
  const sentence = `${speeds.length} honest replays, ${figures}; at least ${leastReplaySpeed}`
  return judged(!(median >= leastReplaySpeed), sentence)
}

/** Prints the results of acknowledged transactions, and returns the exit code: 1 if one is gone without a reason. */
export function judgeOutcome({ acknowledged, mined, waiting, dropped, lost }: Outcome): number {
  const known = `${mined} are mined, ${waiting} wait, ${dropped.length} were dropped`
  const sentence = `of ${acknowledged} acknowledged transactions ${known}, ${lost.length} are lost`
  const code = judged(lost.length > 0, sentence, ['LOST', 'good'])
  const reasons = [...new Set(dropped)]
  for (const reason of reasons) {
    console.log(`dropped: ${dropped.filter((one) => one === reason).length} as ${reason}`)
  }
  for (const txid of lost.slice(0, 5)) console.log(`lost: ${txid}`)
  return acknowledged === 0 ? 1 : code
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
  const sizes = [heap, external, resident, peak].map(megabytes)
  const counts = [total(handles), files, total(listeners)]
  const cells = [(hours * 60).toFixed(1), height, peers, joined, Math.round(late), ...sizes, ...counts]
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
