import { readFileSync } from 'node:fs'

/** Milliseconds of processor time of processes so far, with their children that have ended: a server closes connections meanwhile. */
export function processorTime(pids: readonly (number | undefined)[]): number {
  return pids.reduce<number>((sum, pid) => {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    // In ticks of 10 ms: of the process, then of its ended children, in user mode and in the kernel.
    return sum + 10 * fields.slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0)
  }, 0)
}
