import { mkdir, readlink, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'

/** Makes a directory and its parents. Node's own recursive form never returns on file systems that refuse it. */
export async function makeDirectory(path: string, mode = 0o700): Promise<void> {
  try {
    await makeOne(path, mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeDirectory(dirname(path), mode)
    await makeOne(path, mode)
  }
}

/** Makes a directory in one that is there; another process may make it at the same time. */
async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    await requireDirectory(path)
  }
}

/** Throws a UserError for a file at a path where something is, and for a link to nothing, as to a disk that is not mounted. */
async function requireDirectory(path: string): Promise<void> {
  const there = await stat(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new UserError(`${path} is a link to ${await readlink(path)}, where nothing is: mount or make that first`)
  })
  if (!there.isDirectory()) throw new UserError(`${path} is a file, and no directory: choose another place`)
}
