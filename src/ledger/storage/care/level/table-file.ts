import { concat } from '../../../../base/primitives/bytes.js'
import { crc32c, finishCrc, maskCrc, stepCrc } from './crc32c.js'
import { LevelReader, varint } from './varint.js'

/**
 * LevelDB's table files (.ldb): data blocks, a filter, an index of metadata, an index of the data blocks, and a footer with the
 * positions of both indexes. A type (0: not compressed) and a masked checksum follow each block. LevelDB does not check them, and
 * aborts the process on some damaged contents. These functions never throw.
 */

/** Bytes of type and checksum after each block. */
const trailerSize = 5
const footerSize = 48
const magic = Buffer.from('57fb808b247547db', 'hex')

/** Position of a block. */
interface Handle {
  readonly offset: number
  readonly size: number
}

/** A data block. Its separator is at least its last key and below the first key of the next block. */
interface DataBlock extends Handle {
  readonly separator: Uint8Array
}

export interface TableState {
  /** Readable data blocks, in order. */
  readonly readable: readonly DataBlock[]
  /** Number of unreadable data blocks; undefined without an index, which would give the count. */
  readonly lost: number | undefined
  /** Whether any part of the file was changed after writing. */
  readonly damaged: boolean
}

/** Bytes of a table file. */
export interface TableBytes {
  readonly size: number
  /** The bytes from `offset` on, fewer at the end of the file. */
  read(offset: number, length: number): Uint8Array
}

/**
 * Verifies the checksums of footer, indexes and filter; with `data`, of all data blocks too. Without it no block counts as readable
 * or lost: a whole index is not decoded, which for a thousand tables would take longer than all else.
 */
export function checkTable(file: TableBytes, { data }: { readonly data: boolean }): TableState {
  const footer = readFooter(file.read(file.size - footerSize, footerSize))
  const index = footer && readBlock(file, footer.index)
  const blocks = index && (data ? blocksOf(index) : [])
  if (footer === undefined || index === undefined || blocks === undefined) {
    return { readable: data ? findBlocks(file) : [], lost: undefined, damaged: true }
  }
  // Only LevelDB's own repair compresses, in a copy that is read once.
  if (isCompressed(index)) return { readable: [], lost: 0, damaged: false }
  const readable = blocks.filter((block) => readBlock(file, block) !== undefined)
  const lost = blocks.length - readable.length
  return { readable, lost, damaged: lost > 0 || !isFilterWhole(file, footer.meta) }
}

/** A table of the readable data blocks of another one. */
export function mendTable(file: TableBytes, { readable }: TableState): Uint8Array {
  const pieces: Uint8Array[] = []
  let at = 0
  const put = (stored: Uint8Array): Handle => {
    const handle = { offset: at, size: stored.length - trailerSize }
    pieces.push(stored)
    at += stored.length
    return handle
  }
  const index = readable.map(({ offset, size, separator }) => {
    const handle = put(file.read(offset, size + trailerSize))
    return { key: separator, value: Uint8Array.from([...varint(handle.offset), ...varint(handle.size)]) }
  })
  const footer = Buffer.alloc(footerSize)
  const [meta, main] = [put(makeBlock([])), put(makeBlock(index))]
  footer.set([meta, main].flatMap(({ offset, size }) => [...varint(offset), ...varint(size)]))
  footer.set(magic, footerSize - magic.length)
  return concat(...pieces, footer)
}

function readFooter(bytes: Uint8Array): { readonly meta: Handle; readonly index: Handle } | undefined {
  if (bytes.length !== footerSize || !magic.equals(bytes.subarray(footerSize - magic.length))) return undefined
  return attempt(() => {
    const reader = new LevelReader(bytes)
    return { meta: readHandle(reader), index: readHandle(reader) }
  })
}

function readHandle(reader: LevelReader): Handle {
  return { offset: reader.varint(), size: reader.varint() }
}

/** A block and its type, without its checksum; undefined if damaged or out of range. */
function readBlock(file: TableBytes, { offset, size }: Handle): Uint8Array | undefined {
  if (offset + size + trailerSize > file.size) return undefined
  const stored = file.read(offset, size + trailerSize)
  if (stored.length !== size + trailerSize) return undefined
  return maskCrc(crc32c(stored, 0, size + 1)) === wordAt(stored, size + 1) ? stored.subarray(0, size + 1) : undefined
}

/** Whether a block, given with its type, is compressed, which this program never writes. */
function isCompressed(block: Uint8Array): boolean {
  return block.at(-1) !== 0
}

/** The data blocks by the index, given with its type; none of a compressed one. */
function blocksOf(index: Uint8Array): readonly DataBlock[] | undefined {
  if (isCompressed(index)) return []
  return attempt(() =>
    entriesOf(index).map(({ key, value }) => ({ ...readHandle(new LevelReader(value)), separator: key })),
  )
}

function isFilterWhole(file: TableBytes, meta: Handle): boolean {
  const block = readBlock(file, meta)
  if (block === undefined) return false
  if (isCompressed(block)) return true
  const filters = attempt(() => entriesOf(block).map(({ value }) => readHandle(new LevelReader(value))))
  return filters !== undefined && filters.every((handle) => readBlock(file, handle) !== undefined)
}

interface Entry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** The entries of a block followed by its type; throws a RangeError for one that does not decode. */
function entriesOf(block: Uint8Array): Entry[] {
  const content = block.subarray(0, block.length - 1)
  const restarts = wordAt(content, content.length - 4)
  const reader = new LevelReader(content.subarray(0, content.length - 4 - 4 * restarts))
  const entries: Entry[] = []
  let before: Uint8Array = new Uint8Array(0)
  while (!reader.done) {
    const [shared, rest, size] = [reader.varint(), reader.varint(), reader.varint()]
    if (shared > before.length) throw new RangeError('a key longer than the one it continues')
    before = concat(before.subarray(0, shared), reader.take(rest))
    entries.push({ key: before, value: reader.take(size) })
  }
  return entries
}

/** A block with its trailer; each key is stored in full. */
function makeBlock(entries: readonly Entry[]): Uint8Array {
  const pieces: Uint8Array[] = []
  const starts: number[] = []
  let at = 0
  for (const { key, value } of entries) {
    const entry = concat(Uint8Array.from([0, ...varint(key.length), ...varint(value.length)]), key, value)
    starts.push(at)
    pieces.push(entry)
    at += entry.length
  }
  // LevelDB expects a restart point in an empty block too.
  if (starts.length === 0) starts.push(0)
  const end = Buffer.alloc(4 * starts.length + 4 + trailerSize)
  for (const [i, start] of starts.entries()) end.writeUInt32LE(start, 4 * i)
  end.writeUInt32LE(starts.length, 4 * starts.length)
  const block = Buffer.from(concat(...pieces, end))
  block.writeUInt32LE(maskCrc(crc32c(block, 0, block.length - 4)), block.length - 4)
  return block
}

/**
 * Data blocks of a table without an index, from the beginning to the first unreadable one. A block ends where the checksum of the
 * bytes so far follows.
 */
function findBlocks(file: TableBytes): DataBlock[] {
  const bytes = file.read(0, file.size)
  const blocks: DataBlock[] = []
  let offset = 0
  for (;;) {
    const size = findEnd(bytes, offset)
    if (size === undefined) return blocks
    const block = bytes.subarray(offset, offset + size + 1)
    const separator = block[size] === 0 ? attempt(() => entriesOf(block).at(-1)?.key) : undefined
    // Neither a filter nor an index has keys that end in a row's sequence number and type.
    const isData = separator !== undefined && separator.length > 8 && (separator.at(-8) as number) <= 1
    const above = blocks.at(-1)
    if (!isData || (above !== undefined && Buffer.compare(rowKey(separator), rowKey(above.separator)) < 0)) {
      return blocks
    }
    blocks.push({ offset, size, separator })
    offset += size + trailerSize
  }
}

/** The key of a row, without the sequence number and type that LevelDB appends. */
const rowKey = (key: Uint8Array) => key.subarray(0, key.length - 8)

/** Size of the block that begins at `offset`: the first length whose own checksum follows. */
function findEnd(bytes: Uint8Array, offset: number): number | undefined {
  let crc = -1
  for (let at = offset; at + 4 < bytes.length; at++) {
    crc = stepCrc(crc, bytes[at] as number)
    if (at - offset >= 8 && maskCrc(finishCrc(crc)) === wordAt(bytes, at + 1)) return at - offset
  }
  return undefined
}

function wordAt(bytes: Uint8Array, at: number): number {
  if (at < 0 || at + 4 > bytes.length) throw new RangeError('bytes beyond the end')
  return (
    ((bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)) >>>
    0
  )
}

/** The result of `decode`; undefined if the bytes are too short or wrong. */
function attempt<T>(decode: () => T): T | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
