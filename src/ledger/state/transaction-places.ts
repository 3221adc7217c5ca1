import { RuleError } from '../../base/errors/rule-error.js'
import { toHex } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Entry } from '../../identity/proofs/history.js'
import type { BlockOutline } from './block-outline.js'
import { GrowingBytes } from './growing-bytes.js'

/** Bytes of the two hashes of a transaction, and of its index u16 in its block. */
const placeSize = 32 + 32 + 2

/** Hashes and places of the transactions of blocks from 1 on, coinbases excepted: 66 bytes of memory each, and 4 a block. */
export class TransactionPlaces {
  readonly #bytes = new GrowingBytes()
  /** Number of transactions up to each height, u32. */
  readonly #ends = new GrowingBytes()

  constructor() {
    this.#ends.add(Buffer.alloc(4))
  }

  /** Adds the next block. */
  add({ transactions }: BlockOutline): void {
    const places = transactions.map(({ txid, digest }, i) => {
      return Buffer.concat([txid, digest, Buffer.of((i + 1) & 0xff, (i + 1) >>> 8)])
    })
    this.#bytes.add(Buffer.concat(places.sort(Buffer.compare)))
    const end = Buffer.alloc(4)
    end.writeUInt32LE(this.#bytes.length / placeSize)
    this.#ends.add(end)
  }

  /** The hash of all bytes of the transaction of an entry, and its index in its block; a RuleError where the block has none. */
  of({ height, txid }: Pick<Entry, 'height' | 'txid'>): { readonly digest: Hash; readonly index: number } {
    let [from, to] = [this.#end(height - 1), this.#end(height)]
    // Half of what is left goes with each look.
    while (from < to) {
      const middle = (from + to) >>> 1
      const place = this.#bytes.part(middle * placeSize, (middle + 1) * placeSize)
      const order = place.compare(txid, 0, 32, 0, 32)
      if (order === 0) return { digest: place.subarray(32, 64), index: place.readUInt16LE(64) }
      if (order < 0) from = middle + 1
      else to = middle
    }
    throw new RuleError('coinbase-witness-root', `block ${height} has no transaction ${toHex(txid)}`)
  }

  /** Number of transactions up to a height. */
  #end(height: number): number {
    const end = height < 0 ? Buffer.alloc(0) : this.#ends.part(4 * height, 4 * height + 4)
    return end.length === 4 ? end.readUInt32LE() : 0
  }
}
