import { readFileSync } from 'node:fs'
import { type IntervalHistogram, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { collectGarbage } from '../../test/support/assert/heap-probe.js'

/** Times, processor times, delays and memory of work in this process, and work by turns. */

export type Work = () => Promise<unknown>

/** Bytes of heap and buffers in use after a garbage collection. */
export function usedBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Milliseconds of processor time of this thread; of the clock where the system does not report it. */
export function threadTime(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}

/** Milliseconds from the begin of work to its end. */
export async function timeOf(run: Work): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

/** Measures work that returns its figure itself. */
export function figureOf(run: Work): Promise<number> {
  return run() as Promise<number>
}

/** Cost of work, in milliseconds. */
export interface Spent {
  readonly wall: number
  /** Processor time of this thread, and of all others. */
  readonly main: number
  readonly others: number
  /** This thread's pauses for garbage collection, part of `main`. */
  readonly collecting: number
}

/** Runs work and measures what it takes. */
export async function spentOn(run: Work): Promise<Spent> {
  let collecting = 0
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collecting += duration
  })
  observer.observe({ entryTypes: ['gc'] })
  const [before, all] = [threadTime(), process.cpuUsage()]
  const wall = await timeOf(run)
  const main = threadTime() - before
  const { user, system } = process.cpuUsage(all)
  // Entries of collections come in a later turn.
  await setTimeout(2)
  observer.disconnect()
  return { wall, main, others: (user + system) / 1000 - main, collecting }
}

export interface Cost {
  readonly wall: number
  /** Milliseconds of processor time of all threads. */
  readonly total: number
  /** Milliseconds that this thread worked in its longest turn of the event loop. */
  readonly longest: number
  /** Error code of a refusal; undefined if it was accepted. */
  readonly code: string | undefined
}

/**
 * Runs work and measures its turns. A timer of 1 ms reads the thread's clock, in the next turn after one that lasted longer: a probe
 * in every turn would keep an idle thread busy and be counted itself. A turn is measured up to 1 ms too long.
 */
export async function costOf(run: Work): Promise<Cost> {
  let longest = 0
  let last = threadTime()
  let code: string | undefined
  const look = () => {
    const now = threadTime()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(look, 1)
  const { wall, main, others } = await spentOn(async () => {
    await run().catch((error: { code?: string }) => (code = error.code ?? String(error)))
    look()
  })
  clearInterval(timer)
  return { wall, total: main + others, longest, code }
}

/** The delay of the event loop while work runs, in nanoseconds. */
export async function delayDuring(run: Work): Promise<IntervalHistogram> {
  // A new one each time: one that is enabled again counts the time in between as a delay.
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await run()
  delay.disable()
  return delay
}

/** Rounds before the measured ones, in which V8 compiles the code, and those that are measured. */
export interface Rounds {
  readonly warmUp?: number
  readonly measured: number
}

/**
 * Measures pieces of work by turns, in changing order, so that other load falls on all of them. Each is prepared just before, in
 * each round.
 */
export async function byTurns<Name extends string, Figure>(
  { warmUp = 1, measured }: Rounds,
  measure: (run: Work) => Promise<Figure>,
  prepare: Readonly<Record<Name, (round: number) => Promise<Work> | Work>>,
): Promise<Record<Name, Figure[]>> {
  const names = Object.keys(prepare) as Name[]
  const figures = Object.fromEntries(names.map((name) => [name, [] as Figure[]])) as Record<Name, Figure[]>
  for (let round = 0; round < warmUp + measured; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(round + i) % names.length] as Name
      const figure = await measure(await prepare[name](round))
      if (round >= warmUp) figures[name].push(figure)
    }
  }
  return figures
}

/** Median time of work that is repeated, in milliseconds. */
export async function medianTime(rounds: Rounds, run: Work): Promise<number> {
  return median((await byTurns(rounds, timeOf, { run: () => run })).run)
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value that a part of all of them stays below. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * part)] ?? NaN
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Things a second, of which each measured piece of work had `count`. */
export function rateOf(spent: readonly Pick<Spent, 'wall'>[], count: number, middle = median): number {
  return count / (middle(spent.map(({ wall }) => wall)) / 1000)
}

/** Microseconds of one kind for each of `count` things. */
export function eachOf(spent: readonly Spent[], kind: keyof Spent, count: number, middle = median): number {
  return (middle(spent.map((one) => one[kind])) * 1000) / count
}
