import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { Database } from './database.js'

/** Files and databases of a data directory, by their paths. A simulation has a disk of its own. */
export interface DiskFiles {
  exists(path: string): boolean
  makeDirectory(path: string): Promise<void>
  read(path: string): Promise<Uint8Array>
  write(path: string, bytes: Uint8Array): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Removes a file, or a directory with all below it; there may be none. */
  remove(path: string): Promise<void>
  /** As {@link Database.open}. */
  openDatabase(...options: Parameters<typeof Database.open>): Promise<Database>
}

/** Those of the system; what they make only its owner may read. */
export const diskFiles: DiskFiles = {
  exists: (path) => existsSync(path),
  makeDirectory: async (path) => void (await mkdir(path, { recursive: true, mode: 0o700 })),
  read: (path) => readFile(path),
  write: (path, bytes) => writeFile(path, bytes, { mode: 0o600 }),
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { recursive: true, force: true }),
  openDatabase: (...options) => Database.open(...options),
}
