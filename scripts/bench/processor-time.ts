import { readFileSync } from 'node:fs'

/** Milliseconds of processor time of processes so far. */
export function processorTime(pids: readonly (number | undefined)[]): number {
  return pids.reduce<number>((sum, pid) => {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    // In ticks of 10 ms.
    return sum + 10 * (Number(fields[11]) + Number(fields[12]))
  }, 0)
}
