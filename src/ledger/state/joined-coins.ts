import { mapKey, ofMapKey } from '../../base/primitives/bytes.js'
import { Yielder } from '../../base/runtime/cooperative.js'
import { coinRowSize } from '../consensus/coin-root.js'
import { type Balance, type Key, tables } from '../storage/rows/tables.js'
import { reusedRows, type RowBuffer, rowBufferOf } from '../storage/write/row-buffer.js'
import type { Spool } from './spool.js'

/** @tuning count: balances that are summed in memory */
const balancesAtOnce = 4096

/** Gathers and writes the rows of a state. */
interface CoinTarget {
  putRow(row: RowBuffer): void
  /** Writes what was gathered where that is much. */
  writeFull(): Promise<void>
  /** Writes all of it. */
  written(): Promise<void>
  getMany(keys: Key[]): Promise<(Buffer | undefined)[]>
}

/** Number of an owner by which its rows are sorted: the first six bytes of its program hash. */
function orderOf(key: Key): number {
  return key.readUIntBE(1, 6)
}

/** Numbers of a lane: 256 lanes for each prefix of program hashes. */
const laneNumbers = 2 ** 32

/** Lane of such a number. */
export function ownerLane(order: number): number {
  return Math.floor(order / laneNumbers)
}

/** Makes the rows of coins, which come in the order of their outpoints: as they come, those by their owners at the end. */
export class JoinedCoins {
  readonly #target: CoinTarget
  /** Rows of 09, by the first bytes of their owner. */
  readonly #owned: Spool

  constructor(target: CoinTarget, owned: Spool) {
    this.#target = target
    this.#owned = owned
  }

  /** Takes rows of coins as chunks have them (`consensus/coin-root.ts`). */
  async take(rows: Uint8Array): Promise<void> {
    const yielder = new Yielder()
    const row = rowBufferOf(tables.coin)
    const owned = reusedRows(tables.addressCoin)
    for (let at = 0; at < rows.length; at += coinRowSize) {
      row.bytes.set(rows.subarray(at, at + coinRowSize))
      this.#target.putRow(row)
      const { owner, height, value } = tables.coin.decode(row.value)
      const { key, bytes } = owned.row(value, owner, height, tables.coin.fields(row.key)[0])
      this.#owned.add(orderOf(key), bytes)
      await this.#target.writeFull()
      if (yielder.over) await yielder.next()
    }
  }

  /** Makes the coins of each owner, and what it owns. */
  async end(): Promise<void> {
    const row = rowBufferOf(tables.addressCoin)
    const balances = new Balances(this.#target)
    let last = -1
    for await (const coins of this.#owned.sorted({ inParts: true })) {
      for (const [order, bytes] of coins) {
        await balances.reach(order, last)
        last = order
        row.bytes.set(bytes)
        this.#target.putRow(row)
        balances.add(mapKey(tables.addressCoin.fields(row.key)[0]), tables.addressCoin.decode(row.value))
      }
      await this.#target.writeFull()
    }
    await balances.end()
  }
}

/**
 * Sums what owners have. Usually their coins come one behind the other. Not so those of owners whose first bytes are equal, and of lanes that
 * come in several parts: senders can pay to a million of such owners, and a million times to one, which is more than memory takes.
 */
class Balances {
  readonly #target: CoinTarget
  readonly #rows = reusedRows(tables.balance)
  readonly #sums = new Map<string, Balance>()
  /** Whether owners that come may have a row. */
  #haveRows = false
  /** Whether a part of this lane was before. */
  #again = false

  constructor(target: CoinTarget) {
    this.#target = target
  }

  /** Makes rows of what came, where coins of an owner with this number follow one with `last`. */
  async reach(order: number, last: number): Promise<void> {
    if (this.#sums.size >= balancesAtOnce) {
      await this.#put()
      this.#haveRows = true
    }
    if (order === last) return
    const inLane = ownerLane(order) === ownerLane(last)
    if (this.#again && inLane) return
    await this.end()
    this.#again = inLane && order < last
    this.#haveRows = this.#again
  }

  add(owner: string, value: bigint): void {
    const { sum, count } = this.#sums.get(owner) ?? { sum: 0n, count: 0 }
    this.#sums.set(owner, { sum: sum + value, count: count + 1 })
  }

  async end(): Promise<void> {
    await this.#put()
    this.#haveRows = false
  }

  async #put(): Promise<void> {
    if (this.#haveRows) await this.#addRows()
    for (const [owner, balance] of this.#sums) this.#target.putRow(this.#rows.row(balance, owner))
    this.#sums.clear()
  }

  async #addRows(): Promise<void> {
    await this.#target.written()
    const owners = [...this.#sums]
    const rows = await this.#target.getMany(owners.map(([owner]) => tables.balance.key(ofMapKey(owner))))
    for (const [i, [owner, { sum, count }]] of owners.entries()) {
      const row = rows[i]
      if (row === undefined) continue
      const before = tables.balance.decode(row)
      this.#sums.set(owner, { sum: before.sum + sum, count: before.count + count })
    }
  }
}
