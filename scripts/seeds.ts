import { fork } from 'node:child_process'

/** Seeds of random runs: those of a range, divided among processes. */

interface Range {
  readonly from: number
  readonly seeds: number
  readonly jobs: number
  /** Whether this is one of the processes, which runs all of the range. */
  readonly worker: boolean
}

/**
 * Runs seeds in processes of their own, each by this script again with `--worker` and arguments, and resolves with how many failed. In
 * such a process runs them by `run`, which resolves with that number.
 */
export async function failedSeeds(
  { from, seeds, jobs, worker }: Range,
  args: (from: number, seeds: number) => readonly string[],
  run: (from: number, seeds: number) => Promise<number>,
): Promise<number> {
  if (worker) {
    process.send?.(await run(from, seeds))
    return 0
  }
  const share = Math.ceil(seeds / jobs)
  const parts = Array.from({ length: jobs }, (_, job) => [from + job * share, Math.min(share, seeds - job * share)])
  const failed = (parts as [number, number][])
    .filter(([, count]) => count > 0)
    .map(([first, count]) => elsewhere(args(first, count), count))
  return (await Promise.all(failed)).reduce((sum, count) => sum + count, 0)
}

function elsewhere(args: readonly string[], seeds: number): Promise<number> {
  const child = fork(process.argv[1] as string, ['--worker', ...args])
  return new Promise((resolve) => {
    let failed = seeds
    child.on('message', (count) => (failed = Number(count)))
    child.on('exit', () => resolve(failed))
  })
}
