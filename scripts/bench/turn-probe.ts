import { threadTime } from './thread-time.js'

/** Measured cost of a task. */
export interface Cost {
  /** Milliseconds of processor time of all threads. */
  readonly total: number
  /** Milliseconds that this thread worked in its longest turn of the event loop. */
  readonly longest: number
  /** Error code of a refusal; undefined if it was accepted. */
  readonly code?: string
}

/**
 * Runs a task and measures it. A timer of 1 ms reads the thread's clock, in the next turn after one that lasted longer: a probe
 * in every turn would keep an idle thread busy and be counted itself. A turn is measured up to 1 ms too long.
 */
export async function costOf(run: () => Promise<unknown>): Promise<Cost> {
  let longest = 0
  let last = threadTime()
  const look = () => {
    const now = threadTime()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(look, 1)
  const before = process.cpuUsage()
  let code: string | undefined
  try {
    await run()
  } catch (error) {
    code = (error as { code?: string }).code ?? String(error)
  }
  look()
  clearInterval(timer)
  const { user, system } = process.cpuUsage(before)
  return { total: (user + system) / 1000, longest, ...(code === undefined ? {} : { code }) }
}
