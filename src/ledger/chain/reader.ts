import { medianTime } from '../consensus/context.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import type { Block } from '../../base/primitives/block.js'
import { toHex } from '../../base/primitives/bytes.js'
import { type Confirm, parseConfirm } from '../../base/primitives/confirm.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { HeaderFields } from '../../base/primitives/header.js'
import { Transaction } from '../../base/primitives/transaction.js'
import type { Outpoint } from '../../base/primitives/transaction-fields.js'
import { LruMap } from '../../base/runtime/lru-map.js'
import type { RowSource } from '../storage/stored-rows.js'
import { requireHad, requireUnpruned, requireWhole } from '../storage/rows/prune-rows.js'
import { type Balance, type Location, tables } from '../storage/rows/tables.js'
import type { ChainView } from './chain-view.js'
import type { KnownHeader } from './header-index.js'
import { readBlock, readSideBody } from './read-body.js'

/** @tuning bytes: a transaction that is decoded for an answer without waiting for room */
export const largeTransaction = 64 * 1024
/** @tuning count: larger transactions that are known as such without a read */
const largeRemembered = 4096

/** Bytes of a transaction of the active chain, with the header of its block. */
export interface LocatedBytes extends Location {
  readonly bytes: Uint8Array
  readonly block: KnownHeader
}

/** A transaction of the active chain, with the header of its block. */
export interface LocatedTransaction extends Location {
  readonly transaction: Transaction
  readonly block: KnownHeader
}

/** An unspent output of an address. */
export interface AddressCoin {
  readonly outpoint: Outpoint
  readonly value: bigint
  readonly height: number
}

/** Queries on the chain, each from a few rows. */
export class ChainReader {
  readonly #chain: ChainView
  readonly #database: RowSource
  /** Size (bytes) of large transactions read before, by txid in hex; saves a read. */
  readonly #large = new LruMap<number>(largeRemembered)

  constructor(chain: ChainView) {
    this.#chain = chain
    this.#database = chain.database
  }

  get chain(): ChainView {
    return this.#chain
  }

  get height(): number {
    return this.#chain.tip.header.height
  }

  /** Header of the active block at a height; undefined above the tip. */
  headerAt(height: number): KnownHeader | undefined {
    return this.#chain.headers.active(height)
  }

  /** Header of a block whose body is stored, on the active chain or off it. */
  headerOf(hash: Hash): KnownHeader | undefined {
    const known = this.#chain.headers.get(hash)
    return known?.status === 'active' || known?.status === 'side' ? known : undefined
  }

  /** Number of confirmations: 1 at the tip, 0 off the active chain. */
  confirmations(known: KnownHeader): number {
    return known.status === 'active' ? this.height - known.header.height + 1 : 0
  }

  /** Hash of the next active block; undefined at the tip and off the active chain. */
  nextHash(known: KnownHeader): Hash | undefined {
    return known.status === 'active' ? this.#chain.headers.activeHash(known.header.height + 1) : undefined
  }

  /** Median time of a block and up to ten before it. */
  medianTime(known: KnownHeader): number {
    const { at } = this.#chain.headers.ancestry(known)
    return medianTime(known.header, at as (height: number) => HeaderFields)
  }

  async block(known: KnownHeader): Promise<Block> {
    return known.status === 'active'
      ? readBlock(this.#database, known)
      : readSideBody(this.#database, known.header.hash)
  }

  /**
   * Bytes of the transactions at a height of the active chain, one by one; a snapshot taken at the first read. Throws `pruned` if
   * the block gave up any.
   */
  async *transactionRows(height: number): AsyncGenerator<Uint8Array, void, void> {
    requireUnpruned(this.#database, height)
    let isWhole = false
    for await (const [, bytes] of this.#database.scan(tables.transaction.range(height))) {
      // After the first read, whose state all others have.
      if (!isWhole) await requireWhole(this.#database, height)
      isWhole = true
      yield bytes
    }
  }

  confirm(hash: Hash): Confirm | undefined {
    const row = this.#database.get(tables.confirm.key(hash))
    return row === undefined ? undefined : parseConfirm(row)
  }

  /** Transaction of the active chain by its id; two point reads. Throws `pruned` if it was given up. */
  transaction(txid: Hash): LocatedTransaction | undefined {
    const located = this.transactionBytes(txid)
    if (located === undefined) return undefined
    const { bytes, ...rest } = located
    return { ...rest, transaction: Transaction.fromBytes(bytes) }
  }

  /** Whether a transaction is on the active chain; one point read. */
  isMined(txid: Hash): boolean {
    const location = tables.location.get(this.#database, txid)
    // Rows of a block may be visible a moment before the tip moves to it.
    return location !== undefined && location.height <= this.height
  }

  /** Same as {@link transaction}, without decoding. */
  transactionBytes(txid: Hash): LocatedBytes | undefined {
    const location = tables.location.get(this.#database, txid)
    if (location === undefined) return undefined
    const bytes = this.#database.get(tables.transaction.key(location.height, location.index))
    const block = this.headerAt(location.height)
    if (bytes === undefined) requireHad(this.#database, location)
    if (bytes === undefined || block === undefined) return undefined
    if (bytes.length > largeTransaction) this.#large.set(toHex(txid), bytes.length)
    return { ...location, bytes, block }
  }

  /** Size (bytes) of a large transaction read recently, which may have left the chain since; reads no row. */
  knownLarge(txid: Hash): number | undefined {
    return this.#large.get(toHex(txid))
  }

  /** Sum and number of the unspent outputs of an address, immature and locked ones included. */
  balance(programHash: ProgramHash): Balance {
    return tables.balance.get(this.#database, programHash) ?? { sum: 0n, count: 0 }
  }

  /** Unspent outputs of an address, oldest first; a snapshot taken at the first read. */
  async *eachCoin(programHash: ProgramHash): AsyncGenerator<AddressCoin, void, void> {
    for await (const [key, value] of this.#database.scan(tables.addressCoin.range(programHash))) {
      yield addressCoin(key, value)
    }
  }

  /** Unspent outputs of an address in one array. */
  async coins(programHash: ProgramHash): Promise<AddressCoin[]> {
    const rows = await this.#database.rows(tables.addressCoin.range(programHash))
    return rows.map(([key, value]) => addressCoin(key, value))
  }
}

function addressCoin(key: Buffer, value: Buffer): AddressCoin {
  const [, height, outpoint] = tables.addressCoin.fields(key)
  return { height, outpoint, value: tables.addressCoin.decode(value) }
}
