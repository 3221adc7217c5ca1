import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { NativeLevel } from '../../native-level.js'
import { fileFailure, openFailure, StorageError } from '../../failure.js'

/** Keeps other programs away from what belongs to one key, by a database of its own at `path`; the result ends that. */
export async function lockPath(path: string, named: string): Promise<() => Promise<void>> {
  await makeFolder(path, named)
  const level = new NativeLevel(path)
  try {
    await level.open()
  } catch (error) {
    throw lockFailure(openFailure(error, named), path, named)
  }
  return () => level.close()
}

/** Makes the folder of the lock before LevelDB does, which does not tell a read-only file system. */
async function makeFolder(path: string, named: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    const doing = `the lock of ${named} cannot be made`
    if (code === 'ENOENT') throw new StorageError(`${doing}: nothing can be made in ${dirname(path)}`, 'environment')
    throw fileFailure(error, doing, 'folder')
  }
}

function lockFailure(failure: StorageError, path: string, named: string): StorageError {
  if (failure.kind === 'in-use')
    return new StorageError(`another process is using ${named}; stop it first`, failure.kind)
  // Nothing is kept in it.
  if (failure.kind === 'damage')
    return new StorageError(`${path}, the lock of ${named}, is damaged: remove it, then start again`, failure.kind)
  return failure
}
