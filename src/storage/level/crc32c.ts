/** CRC-32C, the checksum in LevelDB's files: Node's own `crc32` has another polynomial. */

const polynomial = 0x82f63b78

/** Eight tables of 256 entries: entry `256 * k + b` is the checksum of byte b with k zero bytes behind it. */
const tables = makeTables()

function makeTables(): Int32Array {
  const made = new Int32Array(8 * 256)
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

const word = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) |
  ((bytes[at + 1] as number) << 8) |
  ((bytes[at + 2] as number) << 16) |
  ((bytes[at + 3] as number) << 24)

/** One step of a checksum: starts at -1, takes one byte, ends by {@link finishCrc}. */
export function stepCrc(crc: number, byte: number): number {
  return entry(0, crc ^ byte) ^ (crc >>> 8)
}

/** Unsigned. */
export function finishCrc(crc: number): number {
  return ~crc >>> 0
}

/** The checksum of `bytes[start, end)`, unsigned. Eight bytes a step. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = -1
  let at = start
  for (; at + 8 <= end; at += 8) {
    const low = crc ^ word(bytes, at)
    const high = word(bytes, at + 4)
    crc =
      entry(7, low) ^
      entry(6, low >>> 8) ^
      entry(5, low >>> 16) ^
      entry(4, low >>> 24) ^
      entry(3, high) ^
      entry(2, high >>> 8) ^
      entry(1, high >>> 16) ^
      entry(0, high >>> 24)
  }
  for (; at < end; at++) crc = stepCrc(crc, bytes[at] as number)
  return finishCrc(crc)
}

/** The stored form of a checksum in LevelDB: a plain one over data that holds checksums would be weak. */
export function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}
