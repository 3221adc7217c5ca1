import { readlinkSync } from 'node:fs'

/** Names the process that made a file, so that one which was left behind is told from one in use. */

/** Text that names this process. */
export function ownerText(): string {
  return JSON.stringify({ pid: process.pid, space: processSpace() })
}

/** Whether a text of {@link ownerText} names a process of this system that is no more. */
export function isOwnerGone(text: string): boolean {
  try {
    const { pid, space } = JSON.parse(text) as Record<string, unknown>
    return space === processSpace() && typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 && !isAlive(pid)
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Namespace in which process ids are unique: containers may share a directory, and not their processes. */
function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return process.platform
  }
}
