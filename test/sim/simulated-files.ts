import { basename, dirname } from 'node:path'
import { Database } from '../../src/ledger/storage/database.js'
import type { DiskFiles } from '../../src/ledger/storage/disk-files.js'
import type { Chance } from '../support/builders/chance.js'
import { memoryScratch } from '../support/builders/memory-scratch.js'
import { Disk, type Fault, type Life, never, perform } from './disk.js'

/** What is done to a path: a write of a file or of rows, a name that moves, a removal. */
export interface Touch {
  readonly path: string
  readonly what: 'write' | 'rows' | 'rename' | 'remove'
}

/** Files and databases of one node, by path. They outlive the node; what is made of them in a life ends with it. */
export class SimulatedFiles {
  readonly #files = new Map<string, Uint8Array>()
  readonly #databases = new Map<string, Disk>()

  /** The database at a path; made if absent. */
  database(path: string): Disk {
    const there = this.#databases.get(path) ?? new Disk()
    this.#databases.set(path, there)
    return there
  }

  has(path: string): boolean {
    return this.#files.has(path) || this.#databases.has(path)
  }

  /** Names of the files in a directory. */
  names(directory: string): readonly string[] {
    return [...this.#files.keys()].filter((path) => dirname(path) === directory).map((path) => basename(path))
  }

  /** Power goes: of the rows that were not synced a beginning is left. */
  losePower(chance: Chance): void {
    for (const disk of this.#databases.values()) disk.losePower(chance)
  }

  /** The disk as a life sees it; `fault` is asked before each touch. */
  within(life: Life, fault: (touch: Touch) => Fault | undefined): DiskFiles {
    const touch = (path: string, what: Touch['what'], done: () => void) =>
      perform(
        faulty(life, () => fault({ path, what })),
        { what: 'file', synced: false },
        done,
      )
    return {
      exists: (path) => this.has(path),
      makeDirectory: () => Promise.resolve(),
      read: async (path) => (life.alive ? this.#read(path) : never()),
      write: (path, bytes) => touch(path, 'write', () => this.#files.set(path, bytes.slice())),
      rename: (from, to) => touch(to, 'rename', () => this.#rename(from, to)),
      openScratch: async (path) => {
        const memory = await memoryScratch()
        return {
          ...memory,
          write: (bytes, at) => {
            const copy = Buffer.from(bytes)
            return touch(path, 'write', () => void memory.write(copy, at))
          },
          read: (at, into) => (life.alive ? memory.read(at, into) : never()),
        }
      },
      remove: (path) => touch(path, 'remove', () => this.#remove(path)),
      openDatabase: async (path) => {
        const ofRows = faulty(life, () => fault({ path, what: 'rows' }))
        return Database.over(await this.database(path).open(ofRows), path)
      },
    }
  }

  #read(path: string): Uint8Array {
    const bytes = this.#files.get(path)
    if (bytes === undefined) throw missing(path)
    return bytes
  }

  #rename(from: string, to: string): void {
    const [bytes, disk] = [this.#files.get(from), this.#databases.get(from)]
    if (bytes === undefined && disk === undefined) throw missing(from)
    this.#remove(from)
    if (bytes !== undefined) this.#files.set(to, bytes)
    if (disk !== undefined) this.#databases.set(to, disk)
  }

  #remove(path: string): void {
    for (const held of [this.#files, this.#databases]) {
      for (const one of held.keys()) if (one === path || one.startsWith(`${path}/`)) held.delete(one)
    }
  }
}

/** A life whose writes to one place have faults of their own. */
function faulty(life: Life, fault: Life['fault']): Life {
  return {
    get alive() {
      return life.alive
    },
    fault,
    crash: () => life.crash(),
    took: (write) => life.took(write),
  }
}

function missing(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ENOENT: no such file or directory, '${path}'`), { code: 'ENOENT', syscall: 'open' })
}
