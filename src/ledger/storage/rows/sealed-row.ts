import { crc32 } from 'node:zlib'
import { damaged } from '../failure.js'

/** Bytes behind every stored value. */
export const checksumSize = 4

/** CRC-32 over key and value. */
export function checksumOf(key: Uint8Array, value: Uint8Array): number {
  // zlib begins anew where it gets no address, which bytes of length 0 may lack.
  return value.length === 0 ? crc32(key) : crc32(value, crc32(key))
}

/**
 * The stored form of a value: a checksum over key and value follows it. LevelDB does not check its own on reading, and copies
 * rows changed on disk into new tables with new checksums.
 */
export function seal(key: Buffer, value: Uint8Array): Buffer {
  const sealed = Buffer.allocUnsafe(value.length + checksumSize)
  sealed.set(value)
  sealed.writeUInt32LE(checksumOf(key, value), value.length)
  return sealed
}

/** The value in a stored row; a StorageError if the row was changed. */
export function unseal(key: Buffer, sealed: Buffer): Buffer {
  const size = sealed.length - checksumSize
  const value = sealed.subarray(0, Math.max(0, size))
  if (size >= 0 && sealed.readUInt32LE(size) === checksumOf(key, value)) return value
  throw damaged(`row ${key.toString('hex')} is not as it was written`)
}
