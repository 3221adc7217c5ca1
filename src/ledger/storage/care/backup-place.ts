import { lstat, mkdir, open, readdir, readFile, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { UserError } from '../../../base/errors/rule-error.js'
import { DataDirectory } from '../directory.js'
import { onOwnFile, StorageError } from '../failure.js'
import { makeDirectory } from '../make-directory.js'
import { holdLock } from './level/lock.js'
import { syncDirectory, syncFile } from '../replace-file.js'

/**
 * A new data directory in the making. It is written beside its place under another name, and gets its own name complete and
 * synced, so that nothing takes a part of a backup for a whole one. From the first look at the place to its name it has a lock beside it.
 */
export class BackupPlace {
  /** Directory of the complete backup. */
  readonly path: string
  /** Directory in which it is written. */
  readonly directory: DataDirectory
  readonly #release: () => Promise<void>

  private constructor(path: string, directory: DataDirectory, release: () => Promise<void>) {
    this.path = path
    this.directory = directory
    this.#release = release
  }

  /**
   * Takes a place: `path` has to be absent or an empty directory, its parent must exist, and it lies outside of `source`. Removes
   * what a killed backup left there. Throws a UserError for any other place.
   */
  static async take(path: string, source: string): Promise<BackupPlace> {
    const partial = `${path}.partial`
    return onBackup(`the backup ${path} cannot be begun`, async () => {
      await requireParent(path, source)
      await requireEmpty(path)
      const release = await lockOf(partial)
      try {
        // Another backup may have got its name meanwhile.
        await requireEmpty(path)
        await removeLeftover(partial)
        await mkdir(partial, { mode: 0o700 })
        return await begun(new BackupPlace(path, await DataDirectory.open(partial), release))
      } catch (error) {
        await release()
        throw error
      }
    })
  }

  /** Writes what the backup says of itself. The file also marks a directory as a backup, whole or not. */
  async describe(what: Readonly<Record<string, unknown>>): Promise<void> {
    await writeFile(join(this.directory.path, markFile), `${JSON.stringify(what)}\n`)
  }

  /** Makes everything durable, then gives the directory its name. */
  async finish(): Promise<void> {
    const { path: partial, database } = this.directory
    for (const name of await readdir(database)) await syncAt(join(database, name))
    for (const name of await readdir(partial)) await syncAt(join(partial, name))
    await syncDirectory(database)
    await syncDirectory(partial)
    await rmdir(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    await rename(partial, this.path)
    await syncDirectory(dirname(this.path))
    await this.#release()
  }

  /** Removes what was written. */
  async abandon(): Promise<void> {
    await rm(this.directory.path, { recursive: true, force: true })
    await this.#release()
  }
}

/** Runs work on the files of a backup; every failure of the system becomes a UserError that begins with `doing`. */
export async function onBackup<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await onOwnFile(doing, work)
  } catch (error) {
    const failed = !(error instanceof UserError) && (error as NodeJS.ErrnoException).syscall !== undefined
    throw failed ? new UserError(`${doing}: ${(error as Error).message}`) : error
  }
}

/** Says which block a backup ends with; also in one that is not complete. */
const markFile = 'backup.json'

async function requireParent(path: string, source: string): Promise<void> {
  if (resolve(path) !== path || path.includes('\0'))
    throw new UserError(`${path}: the path of a backup begins at the root, with no . or .. in it`)
  const parent = dirname(path)
  const there = await stat(parent).catch(absent)
  if (there === undefined) throw new UserError(`${path}: there is no directory ${parent}; make it first`)
  if (!there.isDirectory()) throw new UserError(`${path}: ${parent} is no directory`)
  const [own, other] = [await realpath(source), join(await realpath(parent), basename(path))]
  if (other === own || other.startsWith(own + sep)) {
    throw new UserError(`${path} lies in the data directory ${source}; a backup has to be outside of it`)
  }
}

async function requireEmpty(path: string): Promise<void> {
  const there = await lstat(path).catch(absent)
  if (there === undefined) return
  if (!there.isDirectory()) throw new UserError(`${path} exists and is no directory; choose a new name`)
  if ((await readdir(path)).length > 0) throw new UserError(`${path} is not empty; choose a new name for each backup`)
  if ((await stat(dirname(path))).dev !== there.dev) {
    throw new UserError(`${path} is where a file system is mounted; name a new directory in it`)
  }
}

/** Marks a place as taken; where that fails, as on a full disk, nothing of it stays. */
async function begun(place: BackupPlace): Promise<BackupPlace> {
  try {
    await place.describe({ complete: false })
    return place
  } catch (error) {
    await place.abandon()
    throw error
  }
}

/** Takes the lock of a place, and returns its release. The file of the lock is removed before, so that none is left. */
async function lockOf(partial: string): Promise<() => Promise<void>> {
  const lock = `${partial}.lock`
  await makeDirectory(lock)
  const release = await holdLock(lock).catch((error: unknown) => {
    if (!(error instanceof StorageError) || error.kind !== 'in-use') throw error
    throw new UserError(`another process is writing the backup ${partial}; wait for it, or choose another name`)
  })
  let released: Promise<void> | undefined
  // Once: a second removal would be of the lock of the next one.
  return () => (released ??= rm(lock, { recursive: true, force: true }).finally(release))
}

/** Removes an unfinished backup, whose lock this process has. Anything else of that name is not touched. */
async function removeLeftover(partial: string): Promise<void> {
  const there = await lstat(partial).catch(absent)
  if (there === undefined) return
  // A kill came before the mark.
  if (there.isDirectory() && (await readdir(partial)).length === 0) return rmdir(partial)
  const mark = there.isDirectory() ? await readFile(join(partial, markFile)).catch(absent) : undefined
  if (mark === undefined) {
    throw new UserError(`${partial} is in the way, and is no unfinished backup; move it away, or choose another name`)
  }
  await rm(partial, { recursive: true, force: true })
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}

async function syncAt(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    if ((await file.stat()).isFile()) await syncFile(file)
  } finally {
    await file.close()
  }
}
