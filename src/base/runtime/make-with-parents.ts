import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a directory and what is missing above it; one that is there stays. Throws what the file system says. The recursive form of Node's
 * mkdir never returns on file systems that refuse it, such as /proc.
 */
export function makeWithParents(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    makeWithParents(dirname(path), mode)
    mkdirSync(path, { mode })
  }
}
