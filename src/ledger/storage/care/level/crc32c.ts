/** CRC-32C, the checksum in LevelDB's files: Node's own `crc32` has another polynomial. */

const polynomial = 0x82f63b78

/** Sixteen tables of 256 entries: entry `256 * k + b` is the checksum of byte b with k zero bytes behind it. */
const tables = makeTables()

function makeTables(): Int32Array {
  const made = new Int32Array(16 * 256)
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1
    made[byte] = crc
  }
  for (let i = 256; i < made.length; i++) {
    const before = made[i - 256] as number
    made[i] = (before >>> 8) ^ (made[before & 255] as number)
  }
  return made
}

const entry = (table: number, byte: number): number => tables[256 * table + (byte & 255)] as number

/** The part of a checksum that four bytes make which end `behind` bytes before the end of what is taken in one step. */
const part = (word: number, behind: number): number =>
  entry(behind + 3, word) ^ entry(behind + 2, word >>> 8) ^ entry(behind + 1, word >>> 16) ^ entry(behind, word >>> 24)

/** One step of a checksum: starts at -1, takes one byte, ends by {@link finishCrc}. */
export function stepCrc(crc: number, byte: number): number {
  return entry(0, crc ^ byte) ^ (crc >>> 8)
}

/** Unsigned. */
export function finishCrc(crc: number): number {
  return ~crc >>> 0
}

/** The checksum of `bytes[start, end)`, unsigned. Sixteen bytes a step. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let crc = -1
  let at = start
  for (; at + 16 <= end; at += 16) {
    crc =
      part(crc ^ view.getInt32(at, true), 12) ^
      part(view.getInt32(at + 4, true), 8) ^
      part(view.getInt32(at + 8, true), 4) ^
      part(view.getInt32(at + 12, true), 0)
  }
  for (; at < end; at++) crc = stepCrc(crc, bytes[at] as number)
  return finishCrc(crc)
}

/** The stored form of a checksum in LevelDB: a plain one over data that holds checksums would be weak. */
export function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}
