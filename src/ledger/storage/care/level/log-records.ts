import { concat } from '../../../../base/primitives/bytes.js'
import { crc32c, maskCrc } from './crc32c.js'

/**
 * LevelDB's log format, of write-ahead logs and MANIFEST: blocks of 32 KiB that hold fragments of records. A fragment: masked
 * checksum u32 of the bytes after the length, length u16, type u8, data; little-endian. Less than 7 bytes at the end of a block
 * are zeros.
 */

const blockSize = 32 * 1024
const headerSize = 7
const fragmentType = { full: 1, first: 2, middle: 3, last: 4 } as const

export interface LogContents {
  /** The readable records, in order. */
  readonly records: readonly Uint8Array[]
  /** Whether something before the end cannot be read. A last record that a crash cut short is no damage. */
  readonly damaged: boolean
  /** Whether zeros stand where its last record should end: LevelDB skips such a record of a log, and refuses one of a MANIFEST. */
  readonly torn: boolean
}

/** More zeros than any record ends in: the file's length reached the disk before its data. */
const tornZeros = 16

/** Reads a whole log file: unlike LevelDB it reports each changed part. */
export function readLog(file: Uint8Array): LogContents {
  const bytes = withoutZeros(file)
  const records: Uint8Array[] = []
  let damaged = false
  let fragments: Uint8Array[] | undefined
  const bad = () => {
    damaged = true
    fragments = undefined
  }
  for (let start = 0; start < bytes.length; start += blockSize) {
    const end = Math.min(start + blockSize, bytes.length)
    let at = start
    while (end - at >= headerSize) {
      const view = Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at)
      const length = view.readUInt16LE(4)
      const type = view.readUInt8(6)
      const cut = headerSize + length > view.length
      if (cut && end === bytes.length) return { records, damaged, torn: bytes.length < file.length }
      if (cut || maskCrc(crc32c(view, 6, headerSize + length)) !== view.readUInt32LE(0)) {
        // Like LevelDB: the length may be wrong, so the rest of the block is lost as well.
        bad()
        break
      }
      const data = bytes.subarray(at + headerSize, at + headerSize + length)
      at += headerSize + length
      if (type === fragmentType.full || type === fragmentType.first) {
        if (fragments !== undefined && fragments.length > 0) bad()
        fragments = type === fragmentType.first ? [data] : undefined
        if (type === fragmentType.full) records.push(data)
      } else if (fragments === undefined || (type !== fragmentType.middle && type !== fragmentType.last)) {
        bad()
      } else {
        fragments.push(data)
        if (type === fragmentType.last) {
          records.push(concat(...fragments))
          fragments = undefined
        }
      }
    }
  }
  return { records, damaged, torn: false }
}

/** A log file of the given records. */
export function writeLog(records: readonly Uint8Array[]): Uint8Array {
  const pieces: Uint8Array[] = []
  let used = 0
  const put = (piece: Uint8Array) => {
    pieces.push(piece)
    used = (used + piece.length) % blockSize
  }
  for (const record of records) {
    let at = 0
    do {
      if (blockSize - used < headerSize) put(new Uint8Array(blockSize - used))
      const data = record.subarray(at, at + blockSize - used - headerSize)
      const isFirst = at === 0
      at += data.length
      const isLast = at === record.length
      const { full, first, middle, last } = fragmentType
      put(fragment(isFirst ? (isLast ? full : first) : isLast ? last : middle, data))
    } while (at < record.length)
  }
  return concat(...pieces)
}

function fragment(type: number, data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(headerSize + data.length)
  bytes.writeUInt16LE(data.length, 4)
  bytes.writeUInt8(type, 6)
  bytes.set(data, headerSize)
  bytes.writeUInt32LE(maskCrc(crc32c(bytes, 6)), 0)
  return bytes
}

/** The bytes before trailing zeros, which a power cut between a file's length and its data leaves behind. */
function withoutZeros(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return bytes.length - end < tornZeros ? bytes : bytes.subarray(0, end)
}
