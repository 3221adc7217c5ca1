import { crc32 } from 'node:zlib'
import { damaged } from './failure.js'

/** Bytes behind every stored value. */
export const checksumSize = 4

/**
 * The stored form of a value: a checksum over key and value follows it. LevelDB does not check its own on reading, and copies
 * rows changed on disk into new tables with new checksums.
 */
export function seal(key: Buffer, value: Uint8Array): Buffer {
  const sealed = Buffer.allocUnsafe(value.length + checksumSize)
  sealed.set(value)
  sealed.writeUInt32LE(crc32(value, crc32(key)), value.length)
  return sealed
}

/** The value in a stored row; a StorageError if the row was changed. */
export function unseal(key: Buffer, sealed: Buffer): Buffer {
  const size = sealed.length - checksumSize
  const value = sealed.subarray(0, Math.max(0, size))
  if (size >= 0 && sealed.readUInt32LE(size) === crc32(value, crc32(key))) return value
  throw damaged(`row ${key.toString('hex')} is not as it was written`)
}
