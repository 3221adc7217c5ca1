import type { RowBatch } from '../native-level.js'
import { checksumOf, checksumSize } from '../rows/sealed-row.js'

/** Bytes of memory in which rows are sealed; a longer one has its own. */
const memorySize = 16 * 1024

const memory = Buffer.allocUnsafeSlow(memorySize)

/** Rows of a batch without a journal row, each copied into LevelDB's memory as it comes. */
export class UnloggedRows {
  /** Bytes of its keys and values. */
  size = 0
  readonly #batch: RowBatch

  constructor(batch: RowBatch) {
    this.#batch = batch
  }

  put(key: Buffer, value: Uint8Array): void {
    const sealed = value.length + checksumSize <= memorySize ? memory : Buffer.allocUnsafe(value.length + checksumSize)
    sealed.set(value)
    sealed.writeUInt32LE(checksumOf(key, value), value.length)
    this.#batch.put(key, sealed.subarray(0, value.length + checksumSize))
    this.size += key.length + value.length
  }

  del(key: Buffer): void {
    this.#batch.del(key)
    this.size += key.length
  }

  /** Writes all of them or none; they survive a kill of the process. */
  write(): Promise<void> {
    return this.#batch.write({ sync: false })
  }
}
