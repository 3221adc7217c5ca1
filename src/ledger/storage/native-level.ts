import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { AbstractLevel } from 'abstract-level'
import { Level } from 'level'

/** A store of rows: LevelDB, or in tests one in memory. */
export type Store = AbstractLevel<string | Buffer | Uint8Array, Buffer, Buffer>

/** A batch on its way into a store, which copies every key and value before the call returns. */
export interface RowBatch {
  put(key: Uint8Array, sealed: Uint8Array): void
  del(key: Uint8Array): void
  write(options: { readonly sync: boolean }): Promise<void>
}

/**
 * The methods by which abstract-level calls an implementation, here called straight: its own copy options, look up encodings
 * and check the state for every row, which takes longer than LevelDB. Its version is exact in package.json for that reason.
 */
interface NativeBatch {
  _put(key: Uint8Array, value: Uint8Array): void
  _del(key: Uint8Array): void
  _clear(): void
  _write(options: { readonly sync: boolean }): Promise<void>
  close(): Promise<void>
}

/** @tuning bytes: rows of a batch whose memory the next one takes; that of a longer one goes back to the system in time */
const reusedBytes = 4 * 1024 * 1024
/** @tuning count: batches whose memory waits for the next ones */
const freeBatches = 2

/** The methods that abstract-level calls to open and close an implementation. */
interface Openable {
  _open(options: object): Promise<void>
  _close(): Promise<void>
}
const inherited = Level.prototype as unknown as Openable

/**
 * Databases that are open here, by their path and by the file of their lock. The system lets a process take its own lock again, and ends
 * it when any descriptor of that file closes: a second opening, even a refused one, would let other processes in.
 */
const opened = new Set<string>()

/** LevelDB, whose batches take bytes as they are, and which is opened once in a process. */
export class NativeLevel extends Level<Buffer, Buffer> {
  /** Whether what is written with `sync` survives a failure of power. */
  durable = true
  /** Batches that were written. The memory of one would stay until its object is collected, and V8 does not know how much that is. */
  readonly #free: NativeBatch[] = []
  /** Its entries in {@link opened}. */
  #names: readonly string[] = []

  constructor(...options: ConstructorParameters<typeof Level<Buffer, Buffer>>) {
    super(...options)
    this.on('closing', () => this.#free.splice(0))
  }

  /** Called by abstract-level. */
  async _open(options: object): Promise<void> {
    const path = resolve(this.location)
    const before = [path, ...lockNames(path)]
    if (before.some((name) => opened.has(name))) throw alreadyOpen(path)
    this.#note(before)
    try {
      await inherited._open.call(this, options)
      // It may have been made only now.
      this.#note(lockNames(path))
    } catch (error) {
      this.#forget()
      throw error
    }
  }

  /** Called by abstract-level. */
  async _close(): Promise<void> {
    await inherited._close.call(this)
    this.#forget()
  }

  #note(names: readonly string[]): void {
    this.#names = [...this.#names, ...names]
    for (const name of names) opened.add(name)
  }

  #forget(): void {
    for (const name of this.#names) opened.delete(name)
    this.#names = []
  }

  rowBatch(): RowBatch {
    const batch = this.#free.pop() ?? (this as unknown as { _chainedBatch(): NativeBatch })._chainedBatch()
    let size = 0
    return {
      put: (key, sealed) => {
        size += key.length + sealed.length
        batch._put(key, sealed)
      },
      del: (key) => {
        size += key.length
        batch._del(key)
      },
      write: async (options) => {
        try {
          if (this.status !== 'open') throw closed()
          await batch._write({ sync: options.sync && this.durable })
        } catch (error) {
          await batch.close()
          throw error
        }
        if (size <= reusedBytes && this.#free.length < freeBatches) {
          batch._clear()
          this.#free.push(batch)
        } else await batch.close()
      },
    }
  }
}

/** The file of a database's lock, whichever path or link leads to it; nothing before it can be seen. */
function lockNames(path: string): string[] {
  try {
    const file = statSync(join(path, 'LOCK'), { bigint: true })
    return [`${file.dev}:${file.ino}`]
  } catch {
    // LevelDB says what cannot be reached.
    return []
  }
}

/** The error that LevelDB has for that. */
function alreadyOpen(path: string): Error {
  return Object.assign(new Error(`${path} is open in this process`), { code: 'LEVEL_LOCKED' })
}

/** The error that abstract-level has for that. */
function closed(): Error {
  return Object.assign(new Error('the database is closed'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
}

/** An empty batch for a store. */
export function rowBatchOf(store: Store): RowBatch {
  if (store instanceof NativeLevel) return store.rowBatch()
  const batch = store.batch()
  const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  return {
    put: (key, sealed) => void batch.put(Buffer.from(key), Buffer.from(sealed), encodings),
    del: (key) => void batch.del(Buffer.from(key), encodings),
    write: (options) => batch.write(options),
  }
}
