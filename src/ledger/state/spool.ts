import { crc32 } from 'node:zlib'
import type { ScratchFile } from '../storage/disk-files.js'
import { StorageError } from '../storage/failure.js'

/** @tuning bytes: values of a lane that stand together in the file; the memory of each lane */
const pieceBytes = 16 * 1024
/** @tuning bytes: pieces that are written together */
const writtenBytes = 1024 * 1024
/** @tuning bytes: pieces on their way to the file beyond which who adds has to wait */
const underWayBytes = 4 * writtenBytes
/** @tuning bytes: a lane that is read at once; the values of a longer one are read a few at a time */
const heldBytes = 16 * 1024 * 1024
/** @tuning count: values that are given out together */
const groupSize = 256
/** @tuning bytes: values that are given out together, unless one has more */
const groupBytes = 512 * 1024

/** A number below 2^48, and a value that comes out behind those of lower ones. */
export type Spooled = readonly [number, Buffer]

/** Values of neighbouring numbers: they are read and sorted together. */
interface Lane {
  /** Those that are in no piece yet, and how many bytes of it they fill. */
  readonly buffer: Buffer
  used: number
  /** Places of the others in the file: offset, length and CRC-32 of each in turn, for there are many. */
  readonly pieces: number[]
}

interface Piece {
  readonly at: number
  readonly length: number
  /** CRC-32 of its bytes. */
  readonly sum: number
}

interface LoadedLane {
  readonly pieces: readonly Piece[]
  /** Its pieces, one behind the other; undefined where they are too long for memory. */
  readonly held: Buffer | undefined
}

/** Place of a value. */
interface Spot extends Piece {
  readonly order: number
}

/** Bytes before a value: its number u48, length u32. */
const headSize = 6 + 4

/**
 * Values that come in any order lie in a file meanwhile, and come out in the order of their numbers: LevelDB merges tables whose rows came
 * in another order than that of their keys again and again, and takes those that come in order as they are.
 *
 *   add -> lane of its number, 16 KiB of memory -> piece, in a file with those of the other lanes
 *   sorted -> lane by lane: its pieces from the file, values by their numbers
 */
export class Spool {
  readonly #file: ScratchFile
  readonly #laneOf: (order: number) => number
  readonly #heldBytes: number
  readonly #lanes = new Map<number, Lane>()
  /** The pieces that come next in the file, and how many bytes of it they fill. */
  #next: Buffer = Buffer.alloc(0)
  #nextUsed = 0
  /** Offset at which they begin. */
  #size = 0
  /** Memory of pieces that the file has. */
  readonly #free: Buffer[] = []
  /** Memory of the lane whose values are given out, and of the one that is read meanwhile. */
  readonly #held: [Buffer, Buffer] = [Buffer.alloc(0), Buffer.alloc(0)]
  #underWay = 0
  readonly #writes: Promise<void>[] = []

  /** `laneOf`: the lane of a number; it rises with the number. `held`: bytes of a lane that are read at once. */
  constructor(file: ScratchFile, laneOf: (order: number) => number, held: number = heldBytes) {
    this.#file = file
    this.#laneOf = laneOf
    this.#heldBytes = held
  }

  /** Adds a value, whose bytes are copied. */
  add(order: number, value: Uint8Array): void {
    const lane = this.#laneFor(order)
    const size = headSize + value.length
    if (lane.used + size > pieceBytes) this.#endPiece(lane)
    if (size > pieceBytes) {
      const alone = Buffer.allocUnsafe(size)
      writeValue(alone, 0, order, value)
      this.#append(lane, alone)
    } else lane.used = writeValue(lane.buffer, lane.used, order, value)
  }

  /** Whether {@link settle} comes before the next value. */
  get isFull(): boolean {
    return this.#underWay > underWayBytes
  }

  /** Waits until the file has what is on its way there; rejects where it could not be written. */
  async settle(): Promise<void> {
    await Promise.all(this.#writes.splice(0))
  }

  /**
   * All values in the order of their numbers, each until the next ones are asked for; nothing is added any more. Those of a lane that is too
   * long for memory are read one by one; `inParts`: as many at once as memory takes, so that their numbers begin anew with each part.
   */
  async *sorted({ inParts = false } = {}): AsyncGenerator<readonly Spooled[], void, void> {
    const all = [...this.#lanes].sort(([a], [b]) => a - b)
    const lanes = all.flatMap(([, lane]) => {
      this.#endPiece(lane)
      const pieces = piecesOf(lane.pieces)
      return inParts ? partsOf(pieces, this.#heldBytes) : [pieces]
    })
    this.#lanes.clear()
    this.#write()
    await this.settle()
    this.#free.length = 0
    let ahead = this.#load(lanes[0], 0)
    for (const i of lanes.keys()) {
      const lane = await ahead
      ahead = this.#load(lanes[i + 1], (i + 1) % 2)
      // It is met where its turn comes; a caller that stops before that does not need it.
      ahead.catch(() => {})
      yield* this.#sorted(lane)
    }
    this.#held.fill(Buffer.alloc(0))
  }

  close(): Promise<void> {
    return this.settle().finally(() => this.#file.close())
  }

  #laneFor(order: number): Lane {
    const number = this.#laneOf(order)
    let lane = this.#lanes.get(number)
    if (lane === undefined) {
      this.#lanes.set(number, (lane = { buffer: Buffer.allocUnsafeSlow(pieceBytes), used: 0, pieces: [] }))
    }
    return lane
  }

  #endPiece(lane: Lane): void {
    if (lane.used > 0) this.#append(lane, lane.buffer.subarray(0, lane.used))
    lane.used = 0
  }

  /** Copies a piece of a lane to the end of what goes to the file. */
  #append(lane: Lane, piece: Buffer): void {
    if (this.#nextUsed + piece.length > this.#next.length) {
      this.#write()
      const free = piece.length <= writtenBytes ? this.#free.pop() : undefined
      this.#next = free ?? Buffer.allocUnsafeSlow(Math.max(writtenBytes, piece.length))
    }
    lane.pieces.push(this.#size + this.#nextUsed, piece.length, crc32(piece))
    piece.copy(this.#next, this.#nextUsed)
    this.#nextUsed += piece.length
  }

  #write(): void {
    const memory = this.#next
    const bytes = memory.subarray(0, this.#nextUsed)
    const written = this.#file.write(bytes, this.#size).then(() => {
      this.#underWay -= bytes.length
      if (memory.length === writtenBytes) this.#free.push(memory)
    })
    // Who settles meets it.
    written.catch(() => {})
    this.#writes.push(written)
    this.#underWay += bytes.length
    this.#size += bytes.length
    this.#next = Buffer.alloc(0)
    this.#nextUsed = 0
  }

  async #load(pieces: readonly Piece[] = [], into: number): Promise<LoadedLane> {
    const size = pieces.reduce((sum, { length }) => sum + length, 0)
    return { pieces, held: size <= this.#heldBytes ? await this.#hold(pieces, size, into) : undefined }
  }

  async *#sorted({ pieces, held }: LoadedLane): AsyncGenerator<readonly Spooled[], void, void> {
    const spots = new Spots()
    if (held !== undefined) spots.add(held, 0, true)
    else for (const piece of pieces) spots.add(await this.#read(piece), piece.at, false)
    for (const group of spots.inOrder()) {
      if (held !== undefined) yield group.map(({ order, at, length }) => [order, held.subarray(at, at + length)])
      else yield await Promise.all(group.map(async (spot) => [spot.order, await this.#read(spot)] as const))
    }
  }

  /** The pieces of a lane, in memory that the one after the next takes. */
  async #hold(pieces: readonly Piece[], size: number, into: number): Promise<Buffer> {
    if (size > (this.#held[into] as Buffer).length) {
      this.#held[into] = Buffer.allocUnsafeSlow(Math.min(this.#heldBytes, size + (size >>> 2)))
    }
    const held = (this.#held[into] as Buffer).subarray(0, size)
    let to = 0
    const reads = pieces.map((piece) => {
      const into = held.subarray(to, to + piece.length)
      to += piece.length
      return this.#readInto(piece, into)
    })
    await Promise.all(reads)
    return held
  }

  async #read(piece: Piece): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(piece.length)
    await this.#readInto(piece, bytes)
    return bytes
  }

  /** Reads what was written: rows of it get checksums of their own, by which no reader would find a change. */
  async #readInto({ at, sum }: Piece, into: Buffer): Promise<void> {
    await this.#file.read(at, into)
    if (crc32(into) !== sum) throw otherBytes()
  }
}

function piecesOf(numbers: readonly number[]): Piece[] {
  return Array.from({ length: numbers.length / 3 }, (_, i) => {
    const [at, length, sum] = numbers.slice(3 * i, 3 * i + 3) as [number, number, number]
    return { at, length, sum }
  })
}

/** The pieces of a lane in groups that memory takes. */
function partsOf(pieces: readonly Piece[], most: number): Piece[][] {
  const parts: Piece[][] = []
  let size = most
  for (const piece of pieces) {
    if (size + piece.length > most) {
      parts.push([])
      size = 0
    }
    parts.at(-1)?.push(piece)
    size += piece.length
  }
  return parts
}

function otherBytes(): StorageError {
  const what = 'the disk gave back other bytes than it was given'
  return new StorageError(
    `${what}; look at the disk and at the log of the system, then start again`,
    'environment',
    what,
  )
}

/** Writes a value behind its head; returns where the next one begins. */
function writeValue(into: Buffer, at: number, order: number, value: Uint8Array): number {
  const from = into.writeUInt32LE(value.length, into.writeUIntLE(order, at, 6))
  into.set(value, from)
  return from + value.length
}

/** Places of the values of a lane, in the file or in its memory: numbers in a few lists, for an object of each would be collected late. */
class Spots {
  readonly #orders: number[] = []
  readonly #offsets: number[] = []
  readonly #lengths: number[] = []
  readonly #sums: number[] = []

  /** Adds the values in bytes that begin at an offset. `isRead`: they are read from these, and need no sums. */
  add(bytes: Buffer, offset: number, isRead: boolean): void {
    for (let at = 0; at < bytes.length;) {
      const length = bytes.readUInt32LE(at + 6)
      this.#orders.push(bytes.readUIntLE(at, 6))
      at += headSize
      this.#offsets.push(offset + at)
      this.#lengths.push(length)
      this.#sums.push(isRead ? 0 : crc32(bytes.subarray(at, at + length)))
      at += length
    }
  }

  /** Places in the order of their numbers, in groups; those of one number as they came. */
  *inOrder(): Generator<Spot[], void> {
    const orders = this.#orders
    const sorted = Uint32Array.from(orders.keys()).sort(
      (a, b) => (orders[a] as number) - (orders[b] as number) || a - b,
    )
    let [group, size]: [Spot[], number] = [[], 0]
    for (const i of sorted) {
      const length = this.#lengths[i] as number
      if (group.length === groupSize || (group.length > 0 && size + length > groupBytes)) {
        yield group
        ;[group, size] = [[], 0]
      }
      const at = this.#offsets[i] as number
      group.push({ order: orders[i] as number, at, length, sum: this.#sums[i] as number })
      size += length
    }
    if (group.length > 0) yield group
  }
}
