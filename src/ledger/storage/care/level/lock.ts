import { existsSync } from 'node:fs'
import { rm, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Database } from '../../database.js'
import { fileFailure, inUse, StorageError } from '../../failure.js'
import { makeDirectory } from '../../make-directory.js'
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../../temporary-directory.js'

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
    await linkLock(directory, beside)
  } catch (error) {
    throw fileFailure(error, `the lock of ${directory} cannot be made`)
  }
  const lock = await take(directory, beside)
  try {
    return await run()
  } finally {
    await lock.close()
    await rm(beside, { recursive: true, force: true })
  }
}

/** Puts the lock of a database into the directory `beside`. */
async function linkLock(directory: string, beside: string): Promise<void> {
  await symlink(resolve(directory, 'LOCK'), join(beside, 'LOCK')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

/** Opens an empty database in `beside` by the lock that was put there: it is held until that is closed. */
function take(directory: string, beside: string): Promise<Database> {
  return Database.openDamaged(beside).catch((error: unknown) => {
    throw error instanceof StorageError && error.kind === 'in-use' ? inUse(directory) : error
  })
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

/**
 * Whether a database is there that no process has open; false where that cannot be seen. The node of it may be removing its directory,
 * which a folder made there meanwhile would outlive: the look is made from elsewhere.
 */
export async function isLeft(directory: string): Promise<boolean> {
  // Windows shows no lock.
  if (process.platform === 'win32' || !existsSync(directory)) return false
  try {
    const elsewhere = makeTemporaryDirectory()
    try {
      await linkLock(directory, elsewhere)
      await (await take(directory, elsewhere)).close()
      return true
    } finally {
      await removeTemporaryDirectory(elsewhere)
    }
  } catch {
    return false
  }
}
