import { RuleError } from '../../errors/rule-error.js'
import { equalBytes } from '../../primitives/bytes.js'
import type { Hash } from '../../primitives/hash.js'
import type { Header } from '../../primitives/header.js'
import type { AssumedBlock } from '../assumed-block.js'
import type { HeaderUnit } from '../wire/headers-message.js'
import { checkLinks } from './check-headers.js'

/** Headers below the assumed block whose hashes are held at once, 32 bytes each; with more to go nothing is assumed. */
export const assumedHeaders = 4_000_000
/** Hashes that memory is taken for at a time. */
const hashesOfChunk = 8192

/**
 * The hashes of a chain from a block that is connected up to one that is assumed to be valid. The headers link each other
 * by their hashes, so that the last one vouches for all of them.
 */
export class AssumedChain {
  readonly assumed: AssumedBlock
  readonly #from: number
  readonly #chunks: Uint8Array[] = []
  #last: Hash
  #count = 0

  /** Begins on top of a block at `from`. */
  constructor(assumed: AssumedBlock, from: Header) {
    this.assumed = assumed
    this.#from = from.height
    this.#last = from.hash
  }

  /** The hash of the last header that was added. */
  get last(): Hash {
    return this.#last
  }

  get height(): number {
    return this.#from + this.#count
  }

  /** Whether all of it is there and it ends with the assumed block. */
  get complete(): boolean {
    return this.height === this.assumed.height && equalBytes(this.#last, this.assumed.hash)
  }

  /** Whether all of it is there and it ends with another block. */
  get wrong(): boolean {
    return this.height === this.assumed.height && !this.complete
  }

  /** Adds headers that follow the last one, as far as the assumed height. Throws `peer-headers` when they do not follow. */
  add(units: readonly HeaderUnit[]): void {
    const first = units[0]?.header
    if (first === undefined) return
    if (!equalBytes(first.previous, this.#last) || first.height !== this.height + 1) {
      throw new RuleError('peer-headers', `${first.id} does not follow height ${this.height}`)
    }
    checkLinks(units)
    for (const { header } of units) {
      if (this.height === this.assumed.height) return
      const place = this.#count % hashesOfChunk
      if (place === 0) this.#chunks.push(new Uint8Array(32 * hashesOfChunk))
      this.#chunks.at(-1)?.set(header.hash, 32 * place)
      this.#count++
      this.#last = Uint8Array.from(header.hash)
    }
  }

  /** Whether a header is one of these, where they are complete. */
  has({ height, hash }: Header): boolean {
    const index = height - this.#from - 1
    if (!this.complete || index < 0 || index >= this.#count) return false
    const chunk = this.#chunks[Math.floor(index / hashesOfChunk)] as Uint8Array
    const place = 32 * (index % hashesOfChunk)
    return equalBytes(chunk.subarray(place, place + 32), hash)
  }
}
