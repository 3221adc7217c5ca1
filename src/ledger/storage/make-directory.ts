import { mkdir, readlink, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'

/** Makes a directory and its parents. Node's own recursive form never returns on file systems that refuse it. */
export async function makeDirectory(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await isDirectory(path))) return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeDirectory(dirname(path), mode)
    await mkdir(path, { mode })
  }
}

/** Whether a directory is at a path where something is. A link to nothing, as to a disk that is not mounted, is a UserError. */
async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    const target = (error as NodeJS.ErrnoException).code === 'ENOENT' ? await readlink(path) : undefined
    if (target === undefined) throw error
    throw new UserError(`${path} is a link to ${target}, where nothing is: mount or make that first`)
  }
}
