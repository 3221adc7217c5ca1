import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a directory and its parents. Node's own recursive form never returns on file systems that refuse it. */
export async function makeDirectory(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeDirectory(dirname(path), mode)
    await mkdir(path, { mode })
  }
}
