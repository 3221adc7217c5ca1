import { readFileSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'

/** Milliseconds of processor time of this thread; of the clock where the system does not report it. */
export function threadTime(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}

/** What a stretch of work took, in milliseconds. */
export interface Spent {
  readonly wall: number
  /** Processor time of this thread, and of all others. */
  readonly main: number
  readonly others: number
  /** This thread's pauses for garbage collection, part of `main`. */
  readonly collecting: number
}

/** Runs work and measures what it takes. */
export async function spentOn(run: () => Promise<unknown>): Promise<Spent> {
  let collecting = 0
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collecting += duration
  })
  observer.observe({ entryTypes: ['gc'] })
  const [start, main, all] = [performance.now(), threadTime(), process.cpuUsage()]
  await run()
  const [wall, mainSpent] = [performance.now() - start, threadTime() - main]
  const { user, system } = process.cpuUsage(all)
  // Entries of collections come in a later turn.
  await new Promise((resolve) => setTimeout(resolve, 2))
  observer.disconnect()
  return { wall, main: mainSpent, others: (user + system) / 1000 - mainSpent, collecting }
}
