import type { RowBatch } from '../native-level.js'
import { crc32 } from 'node:zlib'
import { checksumSize } from '../rows/sealed-row.js'
import type { RowBuffer } from './row-buffer.js'

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
    const size = key.length + value.length
    const row = size + checksumSize <= memorySize ? memory : Buffer.allocUnsafe(size + checksumSize)
    row.set(key)
    row.set(value, key.length)
    // Of both at once: for short rows the call takes longer than the bytes.
    row.writeUInt32LE(crc32(row.subarray(0, size)), size)
    this.#batch.put(key, row.subarray(key.length, size + checksumSize))
    this.size += size
  }

  putRow(row: RowBuffer): void {
    this.#batch.put(row.key, row.seal())
    this.size += row.bytes.length
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
