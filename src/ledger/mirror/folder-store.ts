import { constants, writeFile } from 'node:fs'
import { access, lstat, mkdir, readdir, realpath, rename, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { UserError } from '../../base/errors/rule-error.js'
import { runBounded } from '../../base/runtime/run-bounded.js'
import { fileFailure } from '../storage/failure.js'
import { makeDirectory } from '../storage/make-directory.js'
import { syncDirectory } from '../storage/replace-file.js'
import { lockFolder } from './folder-lock.js'
import {
  isMirrorName,
  type MirrorFile,
  type MirrorStore,
  requireMirrorFolder,
  requireMirrorName,
  storeClosed,
} from './mirror-store.js'
import { isFolderBelow, isMissing, readMirrorFile, unlessMissing } from './read-mirror-file.js'

/** @tuning count: files written at a time */
const underWay = 32
/** @tuning count: names in a portion */
const portion = 1000
/** Folder of files that are being written: what is in it when a store is opened was left by a process that ended. */
const unfinished = '.new'
/** Every user may read them, as a web server does; the process's mask still counts. */
const modes = { file: 0o644, folder: 0o755 }
/** Without the handles of node:fs/promises, which cost as much of the main thread again as the calls themselves. */
const writeNew = promisify(writeFile)

/**
 * A mirror in a local folder. A file is written under another name, synced and renamed: readers see all of it or nothing. Links, folders
 * and devices that others put there are neither listed nor replaced.
 */
export class FolderStore implements MirrorStore {
  readonly #root: string
  readonly #release: () => Promise<void>
  /** Folders that are there, or being made, by name. */
  readonly #folders = new Map<string, Promise<void>>()
  /** Those whose own names are durable. */
  readonly #durable = new Set<string>()
  readonly #running = new Set<Promise<unknown>>()
  #writes = 0
  #closed = false

  private constructor(root: string, release: () => Promise<void>) {
    this.#root = root
    this.#release = release
  }

  /** Opens a folder, which is made if absent. A UserError where it cannot be one, or another process writes there. */
  static async open(path: string): Promise<FolderStore> {
    return onFolder(`the folder ${path} of the mirror cannot be opened`, async () => {
      const root = await folderAt(path)
      // Before the lock, whose messages are those of a data directory.
      await access(root, constants.W_OK)
      await mkdir(join(root, unfinished), { mode: 0o700 }).catch(unlessThere)
      const release = await lockFolder(root, join(root, '.lock'))
      try {
        const left = join(root, unfinished)
        await rm(left, { recursive: true, force: true })
        await mkdir(left, { mode: 0o700 })
        await syncDirectory(root)
      } catch (error) {
        await release()
        throw error
      }
      return new FolderStore(root, release)
    })
  }

  has(name: string): Promise<boolean> {
    requireMirrorName(name)
    return this.#during(`${name} cannot be looked at`, async () => (await this.#seen(name))?.isFile() === true)
  }

  get(name: string, most: number): Promise<Uint8Array | undefined> {
    requireMirrorName(name)
    return this.#during(`${name} cannot be read`, () => readMirrorFile(this.#root, name, most))
  }

  putAll(files: AsyncIterable<MirrorFile> | Iterable<MirrorFile>): Promise<void> {
    return this.#during('the files cannot be written', async () => {
      const touched = new Set<string>()
      await runBounded(files, underWay, async (file) => {
        requireMirrorName(file.name)
        const there = await this.#replaceable(file.name)
        if (there?.size !== file.bytes.length) await this.#write(file)
        // Of a file that is there already the process that wrote it may have ended before its name was durable.
        touched.add(dirname(file.name))
      })
      await this.#sync(touched)
    })
  }

  replace(file: MirrorFile): Promise<void> {
    const { name } = file
    requireMirrorName(name)
    return this.#during(`${name} cannot be written`, async () => {
      await this.#replaceable(name)
      await this.#write(file)
      await this.#sync([dirname(name)])
    })
  }

  deleteAll(names: readonly string[]): Promise<void> {
    for (const name of names) requireMirrorName(name)
    return this.#during('files cannot be deleted', async () => {
      let last: string | undefined
      // One after another: file systems keep the order of changes of names, so that all are durable once the last one is. One that does not
      // keep it leaves files after a crash that nothing names.
      for (const name of names) {
        if ((await this.#seen(name))?.isFile() !== true) continue
        await unlink(this.#path(name)).catch(unlessMissing)
        last = dirname(name)
      }
      if (last !== undefined) await this.#sync([last])
    })
  }

  async *names(folder: string): AsyncGenerator<readonly string[]> {
    requireMirrorFolder(folder)
    const below = [folder]
    for (let next = below.pop(); next !== undefined; next = below.pop()) {
      const found = await this.#entries(next)
      below.push(...found.folders)
      for (let i = 0; i < found.files.length; i += portion) yield found.files.slice(i, i + portion)
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await Promise.allSettled(this.#running)
    await this.#release()
  }

  #path(name: string): string {
    return join(this.#root, name)
  }

  /** Status of the file or folder at a name, links not followed; undefined: nothing is there. */
  #seen(name: string) {
    return lstat(this.#path(name)).catch(unlessMissing)
  }

  /** The file that a new one replaces; undefined: there is none. A UserError for what is no file of a mirror. */
  async #replaceable(name: string) {
    const there = await this.#seen(name)
    if (there !== undefined && !there.isFile()) throw foreign(this.#path(name), 'file')
    return there
  }

  /** Writes a file, whose name is durable once its folder is synced. */
  async #write({ name, bytes }: MirrorFile): Promise<void> {
    await this.#makeFolder(dirname(name))
    const made = join(this.#root, unfinished, String(this.#writes++))
    try {
      await writeNew(made, bytes, { flag: 'wx', mode: modes.file, flush: true })
      await rename(made, this.#path(name))
    } catch (error) {
      await rm(made, { force: true }).catch(() => {})
      if (!isMissing(error)) throw error
      this.#folders.clear()
      this.#durable.clear()
      throw new UserError(
        `${this.#path(name)} cannot be written: its folder is gone; see whether ${this.#root} was emptied or unmounted, then start again`,
      )
    }
  }

  /**
   * Makes the names in folders durable, and those of the folders themselves where this process has not done so: the process that made one
   * may have ended before that.
   */
  async #sync(folders: Iterable<string>): Promise<void> {
    const all = new Set(folders)
    const fresh: string[] = []
    // A set visits what is added to it on the way.
    for (const folder of all) {
      if (folder === '.' || this.#durable.has(folder)) continue
      fresh.push(folder)
      all.add(dirname(folder))
    }
    await runBounded(all, underWay, (folder) => syncDirectory(this.#path(folder)))
    for (const folder of fresh) this.#durable.add(folder)
  }

  /** Makes a folder below the root and those above it; `.` is the root itself. */
  #makeFolder(name: string): Promise<void> {
    if (name === '.') return Promise.resolve()
    const known = this.#folders.get(name)
    if (known !== undefined) return known
    const made = this.#makeFolder(dirname(name)).then(() => makeOne(this.#path(name)))
    this.#folders.set(name, made)
    made.catch(() => this.#folders.delete(name))
    return made
  }

  /** Names of the files of a mirror in a folder, and of its folders. */
  #entries(folder: string): Promise<{ readonly files: readonly string[]; readonly folders: readonly string[] }> {
    return this.#during(`the folder ${folder} cannot be listed`, async () => {
      if (!(await isFolderBelow(this.#root, folder === '' ? [] : folder.split('/')))) return { files: [], folders: [] }
      const entries = (await readdir(this.#path(folder), { withFileTypes: true }).catch(unlessMissing)) ?? []
      const named = entries
        .map((entry) => ({ entry, name: folder === '' ? entry.name : `${folder}/${entry.name}` }))
        .filter(({ name }) => isMirrorName(name))
      const kind = (is: 'isFile' | 'isDirectory') => named.filter(({ entry }) => entry[is]()).map(({ name }) => name)
      return { files: kind('isFile'), folders: kind('isDirectory') }
    })
  }

  /** Runs work on the files, for whose end {@link close} waits; a refusal of the system names what could not be done. */
  #during<T>(doing: string, work: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(storeClosed())
    const running = onFolder(`the mirror in ${this.#root}: ${doing}`, work)
    this.#running.add(running)
    const end = () => this.#running.delete(running)
    running.then(end, end)
    return running
  }
}

/** The folder at a path, by its real place; it is made if nothing is there. */
async function folderAt(path: string): Promise<string> {
  await makeDirectory(path, modes.folder)
  return realpath(path)
}

/** For `catch`: undefined for the failure of a path where something is already. */
function unlessThere(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'EEXIST') return undefined
  throw error
}

/** Makes a folder in one that is there, unless it is there itself. */
async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: modes.folder })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (!(await lstat(path)).isDirectory()) throw foreign(path, 'folder')
  }
}

function foreign(path: string, kind: 'file' | 'folder'): UserError {
  return new UserError(`${path} is where the mirror has a ${kind}, and is none; move it away, or choose another folder`)
}

/** Runs work on the folder of a mirror; a refusal of the system becomes a UserError that begins with `doing`. */
async function onFolder<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw fileFailure(error, doing, 'folder')
  }
}
