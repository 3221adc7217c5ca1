import { type ChunkSource, notRead } from '../../identity/did-index/plan-part.js'
import { decodeChunk } from '../../identity/did-index/posting-chunk.js'
import type { Token } from '../../identity/did-index/token.js'
import { CodecError } from '../../base/primitives/codec.js'
import { damaged } from '../../ledger/storage/failure.js'
import type { FrozenRows } from '../../ledger/storage/stored-rows.js'
import { tables } from '../../ledger/storage/rows/tables.js'

/** Rows of a first read, and of one after a leap. */
const firstRows = 8
/** @tuning count: rows of postings that a search reads at once for one token */
const rowsAtMost = 512
/** Bytes that LevelDB reads in one step. */
const stepBytes = 256 * 1024
const lastChunk = 0xffffff

/** Postings of a token from their rows, read some at a time: more where chunk follows chunk, few where it leaps. */
export class PostingSource implements ChunkSource {
  readonly #rows: FrozenRows
  readonly #token: Token
  #chunks: number[] = []
  #values: Uint8Array[] = []
  #at = 0
  #decoded: { at: number; postings: Uint16Array } | undefined
  /** The chunk from which on rows are to be read. */
  #wanted: number | undefined
  #read = firstRows
  #ended = false

  constructor(rows: FrozenRows, token: Token) {
    this.#rows = rows
    this.#token = token
  }

  seek(chunk: number): number {
    while (this.#at < this.#chunks.length && (this.#chunks[this.#at] as number) < chunk) this.#at++
    const found = this.#chunks[this.#at]
    if (found !== undefined) return found
    if (this.#ended || chunk > lastChunk) return Infinity
    this.#wanted = chunk
    return notRead
  }

  postings(): Uint16Array {
    if (this.#decoded?.at !== this.#at) {
      this.#decoded = { at: this.#at, postings: this.#decode(this.#values[this.#at] as Uint8Array) }
    }
    return this.#decoded.postings
  }

  /** Whether a step came to rows that {@link load} has to read first. */
  get isLacking(): boolean {
    return this.#wanted !== undefined
  }

  async load(): Promise<void> {
    if (this.#wanted === undefined) return
    const from = this.#wanted
    const next = (this.#chunks.at(-1) ?? -1) + 1
    this.#read = from > next ? firstRows : Math.min(this.#chunks.length === 0 ? firstRows : 4 * this.#read, rowsAtMost)
    const range = { gte: tables.posting.key(this.#token, from), lte: tables.posting.key(this.#token, lastChunk) }
    const rows = await this.#rows.rows(range, { limit: this.#read, highWaterMarkBytes: stepBytes })
    this.#chunks = rows.map(([key]) => tables.posting.fields(key)[1])
    this.#values = rows.map(([, value]) => value)
    this.#at = 0
    this.#decoded = undefined
    this.#wanted = undefined
    this.#ended = rows.length < this.#read
  }

  #decode(value: Uint8Array): Uint16Array {
    try {
      return decodeChunk(value)
    } catch (error) {
      throw error instanceof CodecError ? damaged(`row of table 17: ${error.message}`) : error
    }
  }
}
