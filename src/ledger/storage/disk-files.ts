import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { Database } from './database.js'
import { onOwnFile } from './failure.js'

/** A file for what does not fit into memory: of no use to a later run. */
export interface ScratchFile {
  write(bytes: Uint8Array, at: number): Promise<void>
  /** Fills memory with bytes that were written; rejects where the file has fewer. */
  read(at: number, into: Buffer): Promise<void>
  close(): Promise<void>
}

/** Files and databases of a data directory, by their paths. A simulation has a disk of its own. */
export interface DiskFiles {
  exists(path: string): boolean
  makeDirectory(path: string): Promise<void>
  read(path: string): Promise<Uint8Array>
  write(path: string, bytes: Uint8Array): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** An empty file; its directory is there. */
  openScratch(path: string): Promise<ScratchFile>
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
  openScratch,
  remove: (path) => rm(path, { recursive: true, force: true }),
  openDatabase: (...options) => Database.open(...options),
}

async function openScratch(path: string): Promise<ScratchFile> {
  const file = await onOwnFile(`${path} cannot be made`, () => open(path, 'w+', 0o600))
  return {
    write: (bytes, at) => onOwnFile(`${path} cannot be written`, () => writeAll(file, bytes, at)),
    read: (at, into) => onOwnFile(`${path} cannot be read`, () => readAll(file, at, into)),
    close: () => file.close(),
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    from += (await file.write(bytes, from, bytes.length - from, at + from)).bytesWritten
  }
}

async function readAll(file: FileHandle, at: number, into: Buffer): Promise<void> {
  for (let from = 0; from < into.length;) {
    const { bytesRead } = await file.read(into, from, into.length - from, at + from)
    if (bytesRead === 0) throw new Error(`the file ends before byte ${at + into.length}`)
    from += bytesRead
  }
}
