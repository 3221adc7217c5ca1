import { readFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** What something cost. */
export interface Cost {
  /** Milliseconds of processor time of all threads. */
  readonly total: number
  /** Milliseconds that this thread worked in its longest turn of the event loop. */
  readonly longest: number
  /** The code it was refused with; undefined where it was accepted. */
  readonly code?: string
}

/** Runs something and measures it. */
export async function costOf(run: () => Promise<unknown>): Promise<Cost> {
  let longest = 0
  let last = 0
  let watching = true
  const watch = async () => {
    last = threadTime()
    while (watching) {
      await nextTurn()
      const now = threadTime()
      longest = Math.max(longest, now - last)
      last = now
    }
  }
  await nextTurn()
  const watched = watch()
  const before = process.cpuUsage()
  let code: string | undefined
  try {
    await run()
  } catch (error) {
    code = (error as { code?: string }).code ?? String(error)
  }
  const { user, system } = process.cpuUsage(before)
  watching = false
  await watched
  return { total: (user + system) / 1000, longest, ...(code === undefined ? {} : { code }) }
}

/** Milliseconds of processor time of this thread; of the clock where the system does not tell. */
function threadTime(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}
