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

/** LevelDB, whose batches take bytes as they are. */
export class NativeLevel extends Level<Buffer, Buffer> {
  /** Whether what is written with `sync` survives a failure of power. */
  durable = true
  /** Batches that were written. The memory of one would stay until its object is collected, and V8 does not know how much that is. */
  readonly #free: NativeBatch[] = []

  constructor(...options: ConstructorParameters<typeof Level<Buffer, Buffer>>) {
    super(...options)
    this.on('closing', () => this.#free.splice(0))
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
