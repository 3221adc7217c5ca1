import { namedCredential } from '../../identity/did/named-did.js'
import { didKey, didText, operationAt } from '../storage/rows/did-reader.js'
import { present } from '../storage/rows/row-reader.js'
import { isOfLongName } from '../../base/primitives/did-key.js'
import { nextOrdinal } from '../storage/rows/token-index.js'
import { type Location, tables } from '../storage/rows/tables.js'
import type { FrozenRows } from '../storage/stored-rows.js'
import { didMapKey, type Leaf, type MapKey } from '../../identity/proofs/map-tree.js'
import { kept, leafOf, type LeafRecord } from './leaf-record.js'
import { Yielder } from '../../base/runtime/cooperative.js'

/** Bytes of a key and the program hash of its DID. */
const itemSize = 32 + 21
/** Keys are sorted by their first byte before all others. */
const buckets = 256
const pageBytes = 64 * 1024
/**
 * Each may have two transactions of the greatest length in memory.
 * @tuning count: DIDs whose rows are read in one call
 */
const didsAtOnce = 16
/** @tuning count: operations of a DID that are read one by one; those of more come from one walk through them */
const fewOperations = 32

/** The leaves of the map after a block in the order of their keys, from rows that later blocks may have added to. */
export class LeafOrder {
  readonly #rows: FrozenRows
  readonly #height: number
  /** Keys with program hashes, by the first byte of the key. */
  readonly #dids: readonly Bucket[]
  /** Number of leaves after the block. */
  readonly size: number

  private constructor(rows: FrozenRows, height: number, dids: readonly Bucket[], size: number) {
    this.#rows = rows
    this.#height = height
    this.#dids = dids
    this.size = size
  }

  /** Reads the keys of all DIDs. */
  static async of(rows: FrozenRows, height: number): Promise<LeafOrder> {
    const dids = Array.from({ length: buckets }, () => new Bucket())
    const yielder = new Yielder()
    for await (const page of rows.pages(tables.didHead.range(), pageBytes)) {
      for (const [key] of page) {
        const [did] = tables.didHead.fields(key)
        const place = didMapKey(didText(rows, did))
        dids[place[0] as number]?.add(place, did)
        if (yielder.over) await yielder.next()
      }
    }
    let credentials = 0
    for await (const page of rows.pages(tables.credential.range(), pageBytes)) {
      const isOf = ([, row]: readonly [Buffer, Buffer]) => (tables.credential.decode(row)[0]?.height ?? 0) <= height
      credentials += page.filter(isOf).length
    }
    return new LeafOrder(rows, height, dids, createdUpTo(rows, height) + credentials)
  }

  async *leaves(): AsyncGenerator<Leaf, void, void> {
    for await (const group of this.#groups()) for (const { record } of group) yield leafOf(record)
  }

  /** The same with their transactions. */
  async *records(): AsyncGenerator<LeafRecord, void, void> {
    for await (const group of this.#groups()) {
      const wanted = group.map(({ record, places }) => kept(record).map((i) => places[i] as Location))
      const keys = wanted.flat().map(({ height, index }) => tables.transaction.key(height, index))
      const transactions = (await this.#rows.getMany(keys)).map((bytes) => present(bytes, 'a transaction')).values()
      for (const [i, { record }] of group.entries()) {
        const ofRecord = (wanted[i] as readonly Location[]).map(() => transactions.next().value as Buffer)
        yield { ...record, transactions: ofRecord }
      }
    }
  }

  /** All leaves, some at a time: rows of many are read in one call. */
  async *#groups(): AsyncGenerator<readonly FoundLeaf[], void, void> {
    for (const [first, bucket] of this.#dids.entries()) {
      const dids = bucket.inOrder()
      let next = 0
      for await (const credential of this.#credentials(first)) {
        let end = next
        while (end < dids.length && Buffer.compare((dids[end] as Keyed).key, credential.key) < 0) end++
        yield* this.#ofDids(dids.slice(next, end))
        next = end
        yield [credential]
      }
      yield* this.#ofDids(dids.slice(next))
    }
  }

  /** The leaves of DIDs, without those that were created later. A long history comes alone: there may be room for one, and not for many. */
  async *#ofDids(all: readonly Keyed[]): AsyncGenerator<readonly FoundLeaf[], void, void> {
    for (let at = 0; at < all.length; at += didsAtOnce) {
      const dids = all.slice(at, at + didsAtOnce)
      const heads = await this.#rows.getMany(dids.map(({ did }) => tables.didHead.key(did)))
      const counts = heads.map((head) => tables.didHead.decode(present(head, 'a DID')).operationCount)
      const keys = dids.flatMap(({ did }, i) => {
        const count = counts[i] as number
        return Array.from({ length: count > fewOperations ? 0 : count }, (_, n) => tables.didOperation.key(did, n))
      })
      const rows = (await this.#rows.getMany(keys)).values()
      let leaves: FoundLeaf[] = []
      for (const [i, one] of dids.entries()) {
        const count = counts[i] as number
        if (count > fewOperations) {
          yield leaves
          leaves = []
          const stored = await this.#rows.rows(tables.didOperation.range(one.did), {})
          yield this.#leafOf(
            one,
            stored.map(([, row]) => row),
          )
        } else {
          const stored = Array.from({ length: count }, () => present(rows.next().value, 'an operation'))
          leaves.push(...this.#leafOf(one, stored))
        }
      }
      yield leaves
    }
  }

  /** The leaf of a DID by the rows of its operations; none where it was created later. */
  #leafOf({ key, did }: Keyed, rows: readonly Uint8Array[]): FoundLeaf[] {
    const entries = rows.map((row) => tables.didOperation.decode(row)).filter(({ height }) => height <= this.#height)
    if (entries.length === 0) return []
    const record = { did, ...(isOfLongName(did) && { text: didText(this.#rows, did) }), entries }
    return [{ key, record, places: entries }]
  }

  /** The credentials whose keys begin with a byte. */
  async *#credentials(first: number): AsyncGenerator<FoundLeaf, void, void> {
    const { gte, lt } = tables.credential.range()
    const from = Buffer.concat([gte, Buffer.of(first)])
    const to = first === buckets - 1 ? lt : Buffer.concat([gte, Buffer.of(first + 1)])
    for await (const page of this.#rows.pages({ gte: from, lt: to }, pageBytes)) {
      for (const [rowKey, row] of page) {
        const entries = tables.credential.decode(row).filter(({ height }) => height <= this.#height)
        const [entry] = entries
        if (entry === undefined) continue
        const [key] = tables.credential.fields(rowKey)
        const { id, signer } = present(
          namedCredential(operationAt(this.#rows, entry)),
          'the credential of an operation',
        )
        const did = present(didKey(signer), 'the key of a signer')
        const record = { did, ...(isOfLongName(did) && { text: signer }), credential: id, entries }
        yield { key, record, places: entries }
      }
    }
  }
}

/** Number of DIDs that were created up to a height: their ordinals are in that order. */
function createdUpTo(rows: FrozenRows, height: number): number {
  const get = (key: Buffer) => {
    const row = rows.get(key)
    return row !== undefined && tables.location.decode(row).height <= height ? row : undefined
  }
  return nextOrdinal({ get })
}

/** A DID with the key of its leaf. */
interface Keyed {
  readonly key: MapKey
  readonly did: Uint8Array
}

/** A leaf without its transactions, and the places of these. */
interface FoundLeaf {
  readonly key: MapKey
  readonly record: Omit<LeafRecord, 'transactions'>
  /** Places of all its entries, in their order. */
  readonly places: readonly Location[]
}

/** Keys and program hashes, one after another in memory that grows. */
class Bucket {
  #bytes = Buffer.alloc(64 * itemSize)
  length = 0

  add(key: MapKey, did: Uint8Array): void {
    const at = this.length * itemSize
    if (at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)])
    this.#bytes.set(key, at)
    this.#bytes.set(did, at + 32)
    this.length++
  }

  inOrder(): Keyed[] {
    const all = Array.from({ length: this.length }, (_, i) => this.#bytes.subarray(i * itemSize, (i + 1) * itemSize))
    return all.sort(Buffer.compare).map((item) => ({ key: item.subarray(0, 32), did: item.subarray(32) }))
  }
}
