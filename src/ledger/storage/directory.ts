import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'
import { toHex } from '../../base/primitives/bytes.js'
import { parsedJson } from '../../base/primitives/parsed-json.js'
import type { Hash } from '../../base/primitives/hash.js'
import { type DiskSpace, diskSpaceOf } from './disk-space.js'
import { damaged, fileFailure, onOwnFile, StorageError } from './failure.js'
import { makeDirectory } from './make-directory.js'
import { replaceFile } from './replace-file.js'
import { keepTemporaryDirectory, makeTemporaryDirectory, removeTemporaryDirectory } from './temporary-directory.js'

/** The chain that a data directory holds. */
export interface HeldChain {
  readonly name: string
  /** Hash of the genesis block in hex, internal order. */
  readonly genesis: string
  /** Text of its spec; undefined in a directory of a version that did not keep it. */
  readonly spec: string | undefined
}

/**
 * Data directory: `network.json` and `spec.json` (chain), `chain` (LevelDB), `peer.key`, `admin.token`, `sign-….state` (sign state of
 * a key), `running` and `rest.url` (of the run).
 */
export class DataDirectory {
  readonly path: string
  /** Whether it goes with this process. */
  readonly temporary: boolean
  #kept = false

  private constructor(path: string, temporary: boolean) {
    this.path = path
    this.temporary = temporary
  }

  /** The given directory, made if absent, or a temporary one that is removed with the node. */
  static async open(path: string | undefined): Promise<DataDirectory> {
    if (path === undefined) return new DataDirectory(makeTemporaryDirectory(), true)
    await refuseDatabase(path)
    try {
      await makeDirectory(path)
    } catch (error) {
      const doing = `the data directory ${path} cannot be made`
      const failure = fileFailure(error, doing)
      throw failure instanceof StorageError ? failure : new UserError(`${doing}: ${(error as Error).message}`)
    }
    const directory = new DataDirectory(path, false)
    await directory.#finishReplacing()
    return directory
  }

  /** A directory that must hold a chain, or the claim of one whose files are missing. */
  static async existing(path: string): Promise<DataDirectory> {
    const directory = new DataDirectory(path, false)
    // A directory that may not be read looks empty to `existsSync`.
    const names = await onOwnFile(`the data directory ${path} cannot be read`, () =>
      readdir(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [] as string[]
        throw error
      }),
    )
    await directory.#finishReplacing()
    const own = [directory.database, directory.claimFile, directory.rebuilt].map((file) => basename(file))
    if (!own.some((name) => names.includes(name))) throw new UserError(`${path} holds no chain`)
    return directory
  }

  /** The chain in a directory; undefined if it holds none, or is not there. */
  static async held(path: string): Promise<HeldChain | undefined> {
    const { claimFile, specFile } = filesOf(path)
    const text = await readIfThere(claimFile)
    if (text === undefined) return undefined
    const [claim, spec] = [claimIn(text), await readIfThere(specFile)]
    if (claim !== undefined) return { ...claim, spec }
    const chain = spec === undefined ? 'NAME or --genesis FILE, that of its chain' : specFile
    throw new UserError(
      `${claimFile} is ${text.trim() === '' ? 'empty' : 'not readable'}, where it names the chain of this directory: ` +
        `remove it, and start the node once with --genesis ${chain}`,
    )
  }

  /** Whether a node has a directory open, or ended without closing it. */
  static isOpen(path: string): boolean {
    return existsSync(filesOf(path).runFile)
  }

  get database(): string {
    return DataDirectory.databaseOf(this.path)
  }

  /** The database of the directory at a path, which is not looked at. */
  static databaseOf(path: string): string {
    return join(path, 'chain')
  }

  /** Bytes of the database's files. */
  async databaseBytes(): Promise<number> {
    const names = await readdir(this.database)
    // LevelDB may remove a file in between.
    const sizes = await Promise.all(names.map((name) => stat(join(this.database, name)).catch(() => undefined)))
    return sizes.reduce((sum, file) => sum + (file?.size ?? 0), 0)
  }

  /** Space of the disk. */
  space(): Promise<DiskSpace> {
    return diskSpaceOf(this.path)
  }

  /** Directory for the readable part of a damaged database. */
  get salvaged(): string {
    return `${this.database}.salvage`
  }

  /** Directory for a database that will replace the current one. */
  get rebuilt(): string {
    return `${this.database}.new`
  }

  /** Directory for a database that is made from a state; of no use before it is whole. */
  get joining(): string {
    return `${this.database}.joining`
  }

  /** Whether there is something of a join that is under way, or was ended halfway. */
  get hasJoin(): boolean {
    return [this.joining, this.joiningRows, this.joiningPeers, this.parts].some((path) => existsSync(path))
  }

  /** Directory for rows that are put in order before that database gets them. */
  get joiningRows(): string {
    return `${this.database}.rows`
  }

  /** Directory of the lock of the process that makes it. */
  get joinLock(): string {
    return `${this.database}.join`
  }

  /** Directory for the peers of a node that takes a state from them. */
  get joiningPeers(): string {
    return `${this.database}.peers`
  }

  /** Directory for parts of a state that come from peers; they stay where a stop cuts that short. */
  get parts(): string {
    return `${this.database}.parts`
  }

  /** Directory for the blocks below a state, until all of them are verified. */
  get history(): string {
    return `${this.database}.history`
  }

  /** Directory for the state that the node has for peers. */
  get states(): string {
    return join(this.path, 'states')
  }

  /** Replaces the current database by the rebuilt one; the old one stays under the returned name. */
  async replace(suffix: string): Promise<string> {
    const aside = `${this.database}.${suffix}`
    await mkdir(this.database, { recursive: true })
    await rename(this.database, aside)
    await rename(this.rebuilt, this.database)
    return aside
  }

  /** Number of consecutive runs, the last one included, that ended without stopping. */
  async unfinishedRuns(): Promise<number> {
    const text = await readFile(this.#runFile, 'utf8').catch(() => undefined)
    if (text === undefined) return 0
    return /^\d{1,6}\n$/.test(text) ? Number(text) : 1
  }

  /** Records the number of unfinished runs; none if the last one stopped. */
  async noteUnfinishedRuns(count: number): Promise<void> {
    await onOwnFile(`${this.#runFile} cannot be written`, () =>
      count === 0 ? rm(this.#runFile, { force: true }) : writeFile(this.#runFile, `${count}\n`),
    )
  }

  /** URL of REST of the node that serves from the directory at a path, as it wrote there; undefined: it wrote none that can be read. */
  static async servedAt(path: string): Promise<string | undefined> {
    const text = await readFile(filesOf(path).servedFile, 'utf8').catch(() => '')
    const url = text.trim()
    return /^https?:/.test(url) && URL.canParse(url) ? url : undefined
  }

  /** Records the URL of REST of the node that serves; undefined: it does no more. */
  async noteServed(url: string | undefined): Promise<void> {
    const { servedFile } = filesOf(this.path)
    await onOwnFile(`${servedFile} cannot be written`, () =>
      url === undefined ? rm(servedFile, { force: true }) : writeFile(servedFile, `${url}\n`),
    )
  }

  get #runFile(): string {
    return filesOf(this.path).runFile
  }

  /** Name and genesis hash of the chain. */
  get claimFile(): string {
    return filesOf(this.path).claimFile
  }

  /** The chain's spec. */
  get specFile(): string {
    return filesOf(this.path).specFile
  }

  /** Completes a {@link replace} that a kill interrupted: its first half only follows a complete rebuild. */
  async #finishReplacing(): Promise<void> {
    if (existsSync(this.database) || !existsSync(this.rebuilt)) return
    await rename(this.rebuilt, this.database)
  }

  get peerKey(): string {
    return join(this.path, 'peer.key')
  }

  get adminToken(): string {
    return join(this.path, 'admin.token')
  }

  /** Sign state file of a validator key; `name` names key and chain. It stays, even if the database is lost. */
  signState(name: string): string {
    return join(this.path, `sign-${name}.state`)
  }

  /**
   * Claims the directory for the chain with this genesis block. A directory of another chain is refused, and so is one whose
   * database is `empty` although it held a chain before.
   */
  async claim(name: string, genesis: Hash, empty: boolean): Promise<void> {
    const file = this.claimFile
    const text = await readIfThere(file)
    if (text === undefined) return this.#keepText(file, `${JSON.stringify({ name, genesis: toHex(genesis) })}\n`)
    await this.requireChain(genesis)
    if (empty) throw damaged(`${this.database} is empty although ${file} says that it held a chain`)
  }

  /** Refuses a directory that is claimed for a chain with another genesis block. */
  async requireChain(genesis: Hash): Promise<void> {
    const held = await DataDirectory.held(this.path)
    if (held === undefined || held.genesis === toHex(genesis)) return
    throw new UserError(`${this.path} holds the chain ${held.name} of another spec; choose another --data-dir`)
  }

  /** Keeps the text of the chain's spec, so that commands need not be told it; `replace`: also where one is kept already. */
  async keepSpec(text: string, { replace }: { readonly replace: boolean }): Promise<void> {
    const { specFile } = filesOf(this.path)
    const kept = await readIfThere(specFile)
    if (kept === undefined || (replace && kept !== text)) await this.#keepText(specFile, text)
  }

  /** Writes a text for all who may read the directory: completely or not at all, where it outlives this process. */
  #keepText(file: string, text: string): Promise<void> {
    const bytes = Buffer.from(text)
    return onOwnFile(`${file} cannot be written`, () =>
      this.temporary ? writeFile(file, bytes) : replaceFile(file, [bytes], 0o666),
    )
  }

  /** Lets a temporary directory outlive this process. */
  async keep(): Promise<void> {
    if (!this.temporary || this.#kept) return
    this.#kept = true
    await keepTemporaryDirectory(this.path)
  }

  /** Removes a temporary directory that is not to be kept. */
  async close(): Promise<void> {
    if (this.temporary && !this.#kept) await removeTemporaryDirectory(this.path)
  }
}

/** Throws for the database of a data directory, and for a folder in one: another chain would begin there. */
async function refuseDatabase(path: string): Promise<void> {
  const place = await realpath(path).catch(() => resolve(path))
  if (existsSync(filesOf(place).claimFile)) return
  for (let folder = place; folder !== dirname(folder); folder = dirname(folder)) {
    if (!(await isDatabase(folder))) continue
    const what = folder === place ? 'is a database' : `is in the database ${folder}`
    throw new UserError(`${path} ${what}, and no data directory; that may be ${dirname(folder)}`)
  }
}

/** Whether LevelDB made a folder. */
async function isDatabase(folder: string): Promise<boolean> {
  if (!existsSync(join(folder, 'CURRENT'))) return false
  const names = await readdir(folder).catch(() => [])
  return names.some((name) => name.startsWith('MANIFEST-'))
}

function filesOf(path: string): Readonly<Record<'claimFile' | 'specFile' | 'runFile' | 'servedFile', string>> {
  const file = (name: string) => join(path, name)
  return {
    claimFile: file('network.json'),
    specFile: file('spec.json'),
    runFile: file('running'),
    servedFile: file('rest.url'),
  }
}

/** The text of a file; undefined if it is not there. */
function readIfThere(file: string): Promise<string | undefined> {
  return onOwnFile(`${file} cannot be read`, () =>
    readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw error
    }),
  )
}

/** The claim in the text of its file; undefined for any other text. */
function claimIn(text: string): { name: string; genesis: string } | undefined {
  const { name, genesis } = (parsedJson(text) ?? {}) as Record<string, unknown>
  return typeof name === 'string' && typeof genesis === 'string' ? { name, genesis } : undefined
}
