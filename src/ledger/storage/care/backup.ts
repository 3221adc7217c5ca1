import { existsSync } from 'node:fs'
import { copyFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { UserError } from '../../../base/errors/rule-error.js'
import { displayHash } from '../../../base/primitives/bytes.js'
import { BackupPlace, onBackup } from './backup-place.js'
import { Database } from '../database.js'
import type { FrozenRows } from '../stored-rows.js'
import type { DataDirectory } from '../directory.js'
import { diskSpaceOf } from '../disk-space.js'
import { damaged, fileFailure } from '../failure.js'
import { meta, tables, type TipRow } from '../rows/tables.js'

/**
 * Copies a database as it is at one moment into a new data directory, while its node runs. Every row is copied as it is, those of the
 * journal too, so that the copy has the same history of batches; a checkpoint follows them. The key of the peer, the token of the owner and
 * sign states are not copied: see docs/operate.md.
 */

/** How far a backup is. */
export interface BackupProgress {
  readonly rows: number
  /** Bytes of keys and values so far. */
  readonly bytes: number
  /** About as many bytes will be copied: those of the database's files. */
  readonly total: number
}

/** A complete backup. */
export interface Backup extends TipRow {
  readonly path: string
  readonly rows: number
  readonly bytes: number
}

export interface BackupOptions {
  /** Bytes a second at most, so that the node keeps answering; absent: as many as the disk takes. */
  readonly rate?: number
  /** Ends the copy; nothing of it stays. */
  readonly signal?: AbortSignal
  readonly progress?: (progress: BackupProgress) => void
  /** Free bytes of the file system that holds a directory. */
  readonly freeBytes?: (directory: string) => Promise<number>
}

/**
 * Bytes of rows read and written at once.
 * @tuning bytes: rows of a backup in memory
 */
const pageBytes = 256 * 1024
/** @tuning bytes: cache of a database that is only written */
const copyCache = 1024 * 1024
/** Free bytes that a backup leaves to a node whose data directory is on the same file system. */
const leftToNode = 256 * 1024 * 1024
/** Bytes copied between two looks at the free space. */
const spaceInterval = 64 * 1024 * 1024

/**
 * Writes a backup to `path`, which has to be absent or an empty directory. Refusals, of the place and of the system, are
 * UserErrors in plain words; then, and after an abort, the place is as it was.
 */
export async function writeBackup(
  { directory, database }: { readonly directory: DataDirectory; readonly database: Database },
  path: string,
  options: BackupOptions = {},
): Promise<Backup> {
  const place = await BackupPlace.take(path, directory.path)
  const rows = database.freeze()
  try {
    const total = await directory.databaseBytes()
    const room = await Room.beside(directory, place, options)
    await room.require(total)
    const copied = await copyRows(rows, place, total, room, options)
    const { height, hash } = copied.tip
    await onBackup(`the backup ${path} cannot be written`, async () => {
      await copyFile(directory.claimFile, place.directory.claimFile)
      // A directory of before has none: it is asked for the spec of its chain.
      if (existsSync(directory.specFile)) await copyFile(directory.specFile, place.directory.specFile)
      await place.describe({ complete: true, height, tip: displayHash(hash) })
      options.signal?.throwIfAborted()
      await place.finish()
    })
    return { path, height, hash, rows: copied.rows, bytes: copied.bytes }
  } catch (error) {
    await place.abandon().catch(() => {})
    throw error
  } finally {
    rows.close()
  }
}

/** Copies all rows and closes the copy with a checkpoint, so that its first start reads little. */
async function copyRows(
  source: FrozenRows,
  { path, directory }: BackupPlace,
  total: number,
  room: Room,
  { rate, signal, progress = () => {} }: BackupOptions,
): Promise<{ tip: TipRow; rows: number; bytes: number }> {
  const tip = meta.tip.get(source)
  if (tip === undefined) throw damaged('the row of the tip is gone')
  const written = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw fileFailure(error, `the backup ${path} cannot be written`)
    }
  }
  let [rows, bytes, looked] = [0, 0, 0]
  const copy = await written(() => Database.openDamaged(directory.database, copyCache))
  try {
    for await (const all of source.pages({}, pageBytes)) {
      signal?.throwIfAborted()
      const page = all.filter(([key]) => !isOfOutbox(key))
      const began = performance.now()
      await written(() => copy.putCopied(page))
      const size = page.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
      rows += page.length
      bytes += size
      progress({ rows, bytes, total })
      if (bytes - looked >= spaceInterval) {
        looked = bytes
        await room.require(0)
      }
      if (rate === undefined) continue
      const rest = (1000 * size) / rate - (performance.now() - began)
      if (rest >= 1) await pause(rest, undefined, signal && { signal })
    }
  } finally {
    await copy.close()
  }
  const whole = await written(() => Database.open(directory.database, copyCache))
  try {
    await written(() => whole.checkpoint(tip))
  } finally {
    await whole.close()
  }
  return { tip, rows, bytes }
}

/** The free space for a backup. */
class Room {
  readonly #parent: string
  readonly #path: string
  readonly #reserve: number
  readonly #freeBytes: (directory: string) => Promise<number>

  private constructor(path: string, reserve: number, freeBytes: (directory: string) => Promise<number>) {
    this.#parent = dirname(path)
    this.#path = path
    this.#reserve = reserve
    this.#freeBytes = freeBytes
  }

  /** A full disk ends a node, so a backup beside its data leaves it some space. */
  static async beside(directory: DataDirectory, place: BackupPlace, { freeBytes }: BackupOptions): Promise<Room> {
    const [own, other] = await Promise.all([stat(directory.path), stat(place.directory.path)])
    return new Room(place.path, own.dev === other.dev ? leftToNode : 0, freeBytes ?? freeBytesOf)
  }

  /** Throws a UserError when fewer bytes than `wanted`, beside what is left to the node, are free. */
  async require(wanted: number): Promise<void> {
    const free = await this.#freeBytes(this.#parent)
    const needed = wanted + this.#reserve
    if (free >= needed) return
    const why = this.#reserve === 0 ? '' : `, ${megabytes(this.#reserve)} of them left to the node on the same disk`
    throw new UserError(
      `the backup ${this.#path} needs ${megabytes(needed)} free in ${this.#parent}${why}; ${megabytes(free)} are free`,
    )
  }
}

async function freeBytesOf(directory: string): Promise<number> {
  return (await diskSpaceOf(directory)).free
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}

/** Whether a row is of the outbox: what a restored backup does next is no part of that stream. */
function isOfOutbox(key: Buffer): boolean {
  return key[0] === tables.outbox.number || key.equals(meta.shipping.key)
}
