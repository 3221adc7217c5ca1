/**
 * Files of a LevelDB without LevelDB, which may abort the process on damaged ones: what is whole, what can be saved.
 *
 *   start, chain verify -> levelFiles -> manifest, log-records, table-file -> damages with file and reason
 *   chain reindex       -> salvage -> directory of whole blocks and records
 *   lock                -> who has the directory open
 *
 * - Nothing changes a database in place.
 */
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { readLog } from './log-records.js'
import { type Manifest, readManifest } from './manifest.js'
import { checkTable, type TableBytes, type TableState } from './table-file.js'

/** A file that was changed after writing. */
export interface FileDamage {
  readonly file: string
  readonly what: string
}

export interface LevelFiles {
  /** Names of all tables, newest first. */
  readonly tables: readonly string[]
  readonly logs: readonly string[]
  /** The contents of MANIFEST; undefined if it cannot be read. */
  readonly manifest: Manifest | undefined
  readonly damages: readonly FileDamage[]
}

/** The files of a directory, and damage to those that name the others. An absent directory has none. */
export function levelFiles(directory: string): LevelFiles {
  const names = existsSync(directory) ? readdirSync(directory) : []
  const tables = names.filter((name) => /^\d+\.(ldb|sst)$/.test(name)).sort((a, b) => numberOf(b) - numberOf(a))
  const logs = names.filter((name) => /^\d+\.log$/.test(name))
  const written = tables.length > 0 || logs.length > 0 || names.some((name) => /^(MANIFEST-\d+|CURRENT)$/.test(name))
  if (!written) return { tables, logs, manifest: undefined, damages: [] }
  const read = readCurrent(directory)
  if ('what' in read) return { tables, logs, manifest: undefined, damages: [read] }
  const { log, tables: sizes } = read
  const damages: FileDamage[] = []
  const found = new Set(tables.map(numberOf))
  for (const number of sizes.keys()) {
    if (!found.has(number)) damages.push({ file: tableName(number), what: 'is missing' })
  }
  const needed = `${String(log).padStart(6, '0')}.log`
  if (log > 0 && !logs.some((name) => numberOf(name) === log)) damages.push({ file: needed, what: 'is missing' })
  for (const name of logs) {
    // LevelDB skips unreadable parts of a log, moves the rest into a table and removes the log.
    const used = numberOf(name) >= log && readLog(readIfThere(join(directory, name)) ?? new Uint8Array(0))
    if (used && used.damaged) damages.push({ file: name, what: unreadableRecords })
  }
  return { tables, logs, manifest: read, damages }
}

export const unreadableRecords = 'has records that cannot be read'

function readCurrent(directory: string): Manifest | FileDamage {
  const damage = (file: string, what: string): FileDamage => ({ file, what })
  const current = readIfThere(join(directory, 'CURRENT'))?.toString('latin1')
  if (current === undefined) return damage('CURRENT', 'is missing')
  const [, name] = /^(MANIFEST-\d+)\n$/.exec(current) ?? []
  if (name === undefined) return damage('CURRENT', 'names no MANIFEST')
  const bytes = readIfThere(join(directory, name))
  if (bytes === undefined) return damage(name, 'is missing')
  const { records, damaged, torn } = readLog(bytes)
  if (damaged || torn) return damage(name, 'is not as it was written')
  if (records.length === 0) return damage(name, 'is empty')
  try {
    return readManifest(records)
  } catch (error) {
    if (error instanceof RangeError) return damage(name, `holds ${error.message}`)
    throw error
  }
}

/**
 * Checks the tables in use, newest first: the indexes of all, and the data of so many bytes. Yields each damage, and undefined
 * after a good table, so that the caller can yield to other work.
 */
export function* damagedTables(
  directory: string,
  { tables, manifest }: LevelFiles,
  dataBytes: number,
): Generator<FileDamage | undefined, void, void> {
  let left = dataBytes
  for (const name of tables) {
    const size = manifest?.tables.get(numberOf(name))
    // A table that is not in use is left over from an interrupted write.
    if (size === undefined) continue
    yield withTable(join(directory, name), (file) => {
      if (file.size !== size) return { file: name, what: `has ${file.size} bytes instead of ${size}` }
      const data = left > 0
      if (data) left -= size
      const state = checkTable(data ? wholeOf(file) : endOf(file), { data })
      return state.damaged ? { file: name, what: wordsOf(state) } : undefined
    })
  }
}

/** The lost part of a table, as text. */
export function wordsOf({ readable, lost }: TableState): string {
  if (lost === undefined) return 'has no readable index'
  return lost === 0 ? 'has no readable filter' : `has ${lost} of ${lost + readable.length} blocks that cannot be read`
}

interface TableFile extends TableBytes {
  readonly descriptor: number
}

/** Runs with the bytes of a table; bytes that the disk cannot read are zeros. */
export function withTable<T>(path: string, run: (file: TableFile) => T): T {
  const descriptor = openSync(path, 'r')
  try {
    const read = (offset: number, length: number) => readPart(descriptor, offset, length)
    return run({ descriptor, size: fstatSync(descriptor).size, read })
  } finally {
    closeSync(descriptor)
  }
}

/** The same bytes, read at once. */
export function wholeOf({ size, read }: TableBytes): TableBytes {
  const bytes = read(0, size)
  return { size: bytes.length, read: (offset, length) => bytes.subarray(Math.max(0, offset), offset + length) }
}

/** Memory for the end of a table, in which its filter, indexes and footer mostly lie: one for all, which are checked one by one. */
const endMemory = Buffer.alloc(160 * 1024)

/** The same bytes, of which the last ones are read at once. */
function endOf(file: TableFile): TableBytes {
  const start = Math.max(0, file.size - endMemory.length)
  const end = readInto(endMemory, file.descriptor, start)
  const read = (offset: number, length: number) =>
    offset < start ? file.read(offset, length) : end.subarray(offset - start, offset - start + length)
  return { size: file.size, read }
}

/** Bytes that are read, or skipped, at once on a disk with read errors. */
const sectorSize = 4096

/** Reads of a file; tests pass their own. */
export type ReadAt = (descriptor: number, bytes: Uint8Array, at: number, length: number, offset: number) => number

/** Part of a file, shorter at its end; zeros stand for bytes that the disk cannot read. */
export function readPart(descriptor: number, offset: number, length: number, readAt: ReadAt = readSync): Uint8Array {
  return offset < 0 ? new Uint8Array(0) : readInto(Buffer.allocUnsafeSlow(length), descriptor, offset, readAt)
}

/** {@link readPart} as long as the memory that is filled; the part of it that is. */
function readInto(bytes: Buffer, descriptor: number, offset: number, readAt: ReadAt = readSync): Uint8Array {
  const { length } = bytes
  let got = 0
  let step = length
  while (got < length) {
    const wanted = Math.min(step, length - got)
    try {
      const read = readAt(descriptor, bytes, got, wanted, offset + got)
      if (read === 0) break
      got += read
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error
      if (step > sectorSize) step = sectorSize
      else {
        bytes.fill(0, got, got + wanted)
        got += wanted
      }
    }
  }
  return bytes.subarray(0, got)
}

export function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const tableName = (number: number): string => `${String(number).padStart(6, '0')}.ldb`

function numberOf(name: string): number {
  return Number.parseInt(name, 10)
}
