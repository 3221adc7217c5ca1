import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../storage/failure.js'

/** A link at the end of a path is refused, and a pipe without a writer does not block. */
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Reads the file with a name of a mirror below a folder. Undefined if there is none: links, on the way too, and devices count as nothing. A
 * StorageError for a file of more than `most` bytes.
 */
export async function readMirrorFile(root: string, name: string, most: number): Promise<Buffer | undefined> {
  if (!(await isFolderBelow(root, name.split('/').slice(0, -1)))) return undefined
  const path = join(root, name)
  const file = await open(path, readFlags).catch(unlessMissing)
  if (file === undefined) return undefined
  try {
    const status = await file.stat()
    if (!status.isFile()) return undefined
    if (status.size > most) throw tooLarge(path, status.size, most)
    return await file.readFile()
  } finally {
    await file.close()
  }
}

/** Whether the parts of a path below a folder are folders, and no links. */
export async function isFolderBelow(root: string, parts: readonly string[]): Promise<boolean> {
  for (let depth = 1; depth <= parts.length; depth++) {
    const there = await lstat(join(root, ...parts.slice(0, depth))).catch(unlessMissing)
    if (there?.isDirectory() !== true) return false
  }
  return true
}

function tooLarge(path: string, size: number, most: number): StorageError {
  return new StorageError(
    `${path} has ${size} bytes, and such a file of a mirror at most ${most}: it is none of the mirror; move it away`,
    'other',
    'a file of the mirror is too large',
  )
}

/** For `catch`: undefined for the failure of a path where nothing is. */
export function unlessMissing(error: unknown): undefined {
  if (isMissing(error)) return undefined
  throw error
}

/** Whether nothing is at a path; a link at the end of one that is opened counts as nothing, and so does a socket. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')
}
