import { chmodSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

/** Folder of Linux whose files lie in memory: a disk takes some 5 ms for each write that is synced, and longer to delete a copy. */
const shared = '/dev/shm'
const gigabyte = 1024 ** 3
/** Bytes that have to be free for such files: far more than the 65 MB that were seen of a whole run. */
const room = 4 * gigabyte
/** Bytes of memory that processes of tests need beside it. */
const beside = 4 * gigabyte

/** A machine as far as it decides where temporary files lie. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Lines of /proc/mounts: device, folder, type, options, two numbers. */
  readonly mounts: string
  /** Bytes free below /dev/shm. */
  readonly free: number
  /** Bytes of memory that programs can have. */
  readonly memory: number
}

/** Whether temporary files of a run can lie in memory: there is room, tests can run programs there, and TMPDIR names no other place. */
export function fitsMemory({ env, mounts, free, memory }: Machine): boolean {
  const [, , type, options = ''] =
    mounts
      .split('\n')
      .find((line) => line.split(' ')[1] === shared)
      ?.split(' ') ?? []
  const runs = type === 'tmpfs' && !options.split(',').includes('noexec') && options.split(',').includes('rw')
  return env['TMPDIR'] === undefined && runs && free >= room && memory >= room + beside
}

/** Makes a folder in memory for the temporary files of a run; undefined where they lie where the system has them. */
export function memoryFolder(): string | undefined {
  const machine = thisMachine()
  if (machine === undefined || !fitsMemory(machine)) return undefined
  const folder = mkdtempSync(join(shared, 'didledger-run-'))
  // Servers that run as another user have folders in it.
  chmodSync(folder, 0o755)
  return folder
}

function thisMachine(): Machine | undefined {
  try {
    const { bavail, bsize } = statfsSync(shared)
    const mounts = readFileSync('/proc/mounts', 'utf8')
    return { env: process.env, mounts, free: bavail * bsize, memory: freemem() }
  } catch {
    // Another system than Linux.
    return undefined
  }
}
