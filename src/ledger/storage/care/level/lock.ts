import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isOwnerGone, ownerText } from '../../../../base/runtime/process-owner.js'
import { Database } from '../../database.js'
import { fileFailure, inUse, StorageError } from '../../failure.js'
import { makeDirectory } from '../../make-directory.js'
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../../temporary-directory.js'

/** File in a folder beside a lock that names the process which made it. */
const ownerFile = 'owner.json'
/** @tuning ms: age of a folder beside a lock that another process cannot be opening any more */
const leftAfter = 60_000

/** Locks that this process took or looked at. */
let taken = 0

/**
 * Runs while no other process has a database open or can open it; otherwise a StorageError. Opening the database itself would
 * read its files, so an empty one beside it takes the lock through a link to the same file.
 */
export async function withLock<T>(directory: string, run: () => Promise<T>): Promise<T> {
  // A name of its own: another process that is done would remove the link before it is opened, and LevelDB would make and lock a new file.
  const beside = `${directory}.${process.pid}-${++taken}.lock`
  // Windows needs a privilege for links; its open files cannot be renamed either.
  if (process.platform === 'win32') return run()
  try {
    // On a file system that is read-only Node's own recursive form says that nothing is there.
    await makeDirectory(directory)
    await makeDirectory(beside)
    await writeFile(join(beside, ownerFile), ownerText())
    await linkLock(directory, beside)
  } catch (error) {
    throw fileFailure(error, `the lock of ${directory} cannot be made`)
  }
  const lock = await take(directory, beside).catch(async (error: unknown) => {
    await rm(beside, { recursive: true, force: true })
    throw error
  })
  try {
    // What cannot be tidied up keeps nothing from being done.
    await sweep(directory, beside).catch(() => {})
    return await run()
  } finally {
    await lock.close()
    await rm(beside, { recursive: true, force: true })
  }
}

/** Removes what killed processes left beside a lock that this one holds. */
async function sweep(directory: string, beside: string): Promise<void> {
  const [parent, start] = [dirname(beside), `${basename(directory)}.`]
  const names = (await readdir(parent)).filter(
    (name) => name.startsWith(start) && /^\d+-\d+\.lock$/.test(name.slice(start.length)),
  )
  const { mtimeMs } = await stat(beside)
  const isStale = async (path: string) => {
    if (mtimeMs - (await stat(path)).mtimeMs > leftAfter) return true
    return isOwnerGone(await readFile(join(path, ownerFile), 'utf8'))
  }
  for (const path of names.map((name) => join(parent, name))) {
    // It may have none yet, or be removed by its own process.
    if (await isStale(path).catch(() => false)) await rm(path, { recursive: true, force: true })
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
