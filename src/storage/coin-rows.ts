import type { Coin, CoinChanges } from '../consensus/ledger.js'
import { InvariantError } from '../errors/rule-error.js'
import { mapKey } from '../primitives/bytes.js'
import type { Steps } from '../primitives/steps.js'
import { runCooperatively } from '../runtime/cooperative.js'
import type { BatchRows } from './batch-rows.js'
import type { Changes, Rows } from './database.js'
import { type Balance, type Key, keys, values } from './schema.js'

/** Rows loaded in one call. */
export const rowsAtOnce = 1024
/** Coins whose rows are written in one step. */
const coinsAtOnce = 8

/** The sum of what happened to one address. */
interface BalanceChange {
  readonly key: Key
  sum: bigint
  count: number
}

/** The rows that changes of coins make: coins, coins of addresses, balances. A coin that was created and spent since makes none. */
export class CoinRows implements Changes {
  readonly #coins: CoinChanges
  /** Balance rows after the changes; undefined: none. */
  readonly #balances: (readonly [Key, Uint8Array | undefined])[] = []

  private constructor(coins: CoinChanges) {
    this.#coins = coins
  }

  /** Reads the balances that change, as they are in the rows before. */
  static async of(coins: CoinChanges, before: Rows): Promise<CoinRows> {
    const rows = new CoinRows(coins)
    const sums = await runCooperatively(sumSteps(coins))
    const changes = [...sums.values()].filter(({ sum, count }) => sum !== 0n || count !== 0)
    for (let start = 0; start < changes.length; start += rowsAtOnce) {
      const some = changes.slice(start, start + rowsAtOnce)
      const found = await before.getMany(some.map(({ key }) => key))
      await runCooperatively(rows.#balanceSteps(some, found))
    }
    return rows
  }

  get count(): number {
    return 2 * this.#coins.size + this.#balances.length
  }

  /** Puts them into a batch. */
  *steps(rows: BatchRows): Steps {
    let count = 0
    for (const { outpoint, coin } of this.#coins.spent) {
      rows.del(keys.coin(outpoint))
      rows.del(keys.addressCoin(coin.programHash, coin.height, outpoint))
      if (++count % coinsAtOnce === 0) yield
    }
    for (const { outpoint, coin } of this.#coins.created) {
      rows.put(keys.coin(outpoint), values.coin.encode(coin))
      rows.put(keys.addressCoin(coin.programHash, coin.height, outpoint), values.addressCoin.encode(coin.value))
      if (++count % coinsAtOnce === 0) yield
    }
    for (const [key, value] of this.#balances) {
      if (value === undefined) rows.del(key)
      else rows.put(key, value)
      if (++count % coinsAtOnce === 0) yield
    }
  }

  *#balanceSteps(changes: readonly BalanceChange[], found: readonly (Uint8Array | undefined)[]): Steps {
    for (const [i, { key, sum, count }] of changes.entries()) {
      const row = found[i]
      const before: Balance = row === undefined ? { sum: 0n, count: 0 } : values.balance.decode(row)
      const after = { sum: before.sum + sum, count: before.count + count }
      if (after.count < 0 || after.sum < 0n) throw new InvariantError('a balance would fall below zero')
      this.#balances.push([key, after.count === 0 ? undefined : values.balance.encode(after)])
      if (i % coinsAtOnce === 0) yield
    }
  }
}

/** Sums the changes to each balance, so that every row is read and written once. */
function* sumSteps(coins: CoinChanges): Steps<Map<string, BalanceChange>> {
  const changes = new Map<string, BalanceChange>()
  const add = ({ programHash, value }: Coin, sign: 1 | -1) => {
    const id = mapKey(programHash)
    let change = changes.get(id)
    if (change === undefined) changes.set(id, (change = { key: keys.balance(programHash), sum: 0n, count: 0 }))
    change.sum += sign === 1 ? value : -value
    change.count += sign
  }
  let count = 0
  for (const { coin } of coins.spent) {
    add(coin, -1)
    if (++count % coinsAtOnce === 0) yield
  }
  for (const { coin } of coins.created) {
    add(coin, 1)
    if (++count % coinsAtOnce === 0) yield
  }
  return changes
}
