import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import type { AssumedBlock } from '../assumed-block.js'
import type { HeaderUnit } from '../wire/headers-message.js'
import { checkLinks } from './check-headers.js'

/**
 * With more headers to go nothing is assumed.
 * @limit count: headers below an assumed block, 32 bytes each
 */
const assumedHeaders = 4_000_000
/** Hashes per allocated chunk. */
const hashesOfChunk = 8192

/** Whether the headers from a tip up to an assumed block are few enough. */
export function isAssumable({ height }: Pick<AssumedBlock, 'height'>, tip: number): boolean {
  return height > tip && height - tip <= assumedHeaders
}

/**
 * The hashes of a chain from a connected block up to the block assumed valid. Headers link by hash, so the last one proves all
 * of them.
 */
export class AssumedChain {
  readonly assumed: AssumedBlock
  readonly #from: number
  readonly #chunks: Uint8Array[] = []
  #last: Hash
  #count = 0

  /** Starts on top of a block at `from`. */
  constructor(assumed: AssumedBlock, from: Header) {
    this.assumed = assumed
    this.#from = from.height
    this.#last = from.hash
  }

  /** Hash of the last header added. */
  get last(): Hash {
    return this.#last
  }

  get height(): number {
    return this.#from + this.#count
  }

  /** Whether it reaches the assumed height and ends with the assumed block. */
  get complete(): boolean {
    return this.height === this.assumed.height && equalBytes(this.#last, this.assumed.hash)
  }

  /** Whether it reaches the assumed height and ends with another block. */
  get wrong(): boolean {
    return this.height === this.assumed.height && !this.complete
  }

  /** Adds headers that follow the last one, up to the assumed height. Throws `peer-headers` when they do not follow. */
  add(units: readonly HeaderUnit[]): void {
    const first = units[0]?.header
    if (first === undefined) return
    if (!equalBytes(first.previous, this.#last) || first.height !== this.height + 1) {
      throw new RuleError('peer-headers', `${first.id} does not follow height ${this.height}`)
    }
    checkLinks(units)
    for (const { header } of units) {
      if (this.height === this.assumed.height) return
      const slot = this.#count % hashesOfChunk
      if (slot === 0) this.#chunks.push(new Uint8Array(32 * hashesOfChunk))
      this.#chunks.at(-1)?.set(header.hash, 32 * slot)
      this.#count++
      this.#last = Uint8Array.from(header.hash)
    }
  }

  /** Whether a complete chain contains the header. */
  has({ height, hash }: Header): boolean {
    const index = height - this.#from - 1
    if (!this.complete || index < 0 || index >= this.#count) return false
    const chunk = this.#chunks[Math.floor(index / hashesOfChunk)] as Uint8Array
    const offset = 32 * (index % hashesOfChunk)
    return equalBytes(chunk.subarray(offset, offset + 32), hash)
  }
}
