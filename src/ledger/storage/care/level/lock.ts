import { rm, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Database } from '../../database.js'
import { fileFailure, inUse, StorageError } from '../../failure.js'
import { makeDirectory } from '../../make-directory.js'

/**
 * Runs while no other process has a database open or can open it; otherwise a StorageError. Opening the database itself would
 * read its files, so an empty one beside it takes the lock through a link to the same file.
 */
export async function withLock<T>(directory: string, run: () => Promise<T>): Promise<T> {
  const beside = `${directory}.lock`
  // Windows needs a privilege for links; its open files cannot be renamed either.
  if (process.platform === 'win32') return run()
  try {
    // On a file system that is read-only Node's own recursive form says that nothing is there.
    await makeDirectory(directory)
    await makeDirectory(beside)
    await symlink(resolve(directory, 'LOCK'), join(beside, 'LOCK')).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } catch (error) {
    throw fileFailure(error, `the lock of ${directory} cannot be made`)
  }
  const empty = await Database.openDamaged(beside).catch((error: unknown) => {
    throw error instanceof StorageError && error.kind === 'in-use' ? inUse(directory) : error
  })
  try {
    return await run()
  } finally {
    await empty.close()
    await rm(beside, { recursive: true, force: true })
  }
}

/** Whether another process has a database open. */
export async function isInUse(directory: string): Promise<boolean> {
  try {
    await withLock(directory, () => Promise.resolve())
    return false
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'in-use') return true
    throw error
  }
}
