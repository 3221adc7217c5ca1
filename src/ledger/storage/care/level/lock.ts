import { existsSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ownerText } from '../../../../base/runtime/process-owner.js'
import { Database } from '../../database.js'
import { inUse, onOwnFile, StorageError } from '../../failure.js'
import { makeDirectory } from '../../make-directory.js'
import { isAbandoned, makeTemporaryDirectory, ownerFile, removeTemporaryDirectory } from '../../temporary-directory.js'

/** The name of a database with this, and six characters of the system, names the folder by which its lock is taken. */
const suffix = '.lock-'
/** @tuning ms: age of a folder beside a lock that another process cannot be opening any more */
const leftAfter = 60_000

/**
 * Runs while no other process has a database open or can open it; otherwise a StorageError. Opening the database itself would
 * read its files, so an empty one beside it takes the lock through a link to the same file.
 */
export async function withLock<T>(directory: string, run: () => Promise<T>): Promise<T> {
  // Windows needs a privilege for links; its open files cannot be renamed either.
  if (process.platform === 'win32') return run()
  const beside = await besideLock(directory)
  try {
    await onLock(directory, async () => {
      await writeFile(join(beside, ownerFile), ownerText())
      await linkLock(directory, beside)
    })
    const lock = await take(directory, beside)
    try {
      // What cannot be tidied up keeps nothing from being done.
      await sweep(directory, beside).catch(() => {})
      return await run()
    } finally {
      await lock.close()
    }
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
}

/** Takes the lock of a directory as {@link withLock} does; it ends with the process. Returns its release, which may be called again. */
export async function holdLock(directory: string): Promise<() => Promise<void>> {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  let ended: Promise<void> | undefined
  await new Promise<void>((resolve, reject) => {
    ended = withLock(directory, () => {
      resolve()
      return held
    })
    ended.catch(reject)
  })
  return async () => {
    release()
    await ended
  }
}

/**
 * Makes a folder beside a database, which is made where it is not. No two locks share one: the end of the first would remove the link before
 * it is opened for the second, and LevelDB would make and lock a new file.
 */
function besideLock(directory: string): Promise<string> {
  return onLock(directory, async () => {
    // On a file system that is read-only Node's own recursive form says that nothing is there.
    await makeDirectory(directory)
    makeLock(directory)
    return mkdtemp(`${directory}${suffix}`)
  })
}

/**
 * Makes the file of a lock where it is not: by it this process tells its own openings apart, also of two at the same time. One that is there
 * is not opened, since closing it would end a lock that this process has.
 */
function makeLock(directory: string): void {
  try {
    // In one step: no opening of this process comes between.
    writeFileSync(join(directory, 'LOCK'), '', { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Removes what killed processes left beside a lock that this one holds. */
async function sweep(directory: string, beside: string): Promise<void> {
  const [parent, start] = [dirname(beside), `${basename(directory)}${suffix}`]
  const { mtimeMs } = await stat(beside)
  for (const name of (await readdir(parent)).filter((name) => name.startsWith(start))) {
    const path = join(parent, name)
    // The owner of one from another container cannot be seen. It may also be removed by its own process.
    const age = mtimeMs - (await stat(path).catch(() => ({ mtimeMs }))).mtimeMs
    if (age > leftAfter || isAbandoned(path)) await rm(path, { recursive: true, force: true })
  }
}

/** Puts the lock of a database into a new folder. */
function linkLock(directory: string, folder: string): Promise<void> {
  return symlink(resolve(directory, 'LOCK'), join(folder, 'LOCK'))
}

function onLock<T>(directory: string, run: () => Promise<T>): Promise<T> {
  return onOwnFile(`the lock of ${directory} cannot be made`, run)
}

/** Opens an empty database by the lock that was put into its folder: it is held until that is closed. */
function take(directory: string, folder: string): Promise<Database> {
  return Database.openDamaged(folder).catch((error: unknown) => {
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
