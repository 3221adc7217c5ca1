import type { Coin, CoinChanges, CoinEntry } from '../consensus/ledger.js'
import { InvariantError } from '../errors/rule-error.js'
import { mapKey } from '../primitives/bytes.js'
import { eachSteps, type Steps } from '../primitives/steps.js'
import { runCooperatively, Yielder } from '../runtime/cooperative.js'
import type { BatchRows, RowChange } from './batch-rows.js'
import type { Changes } from './changes.js'
import { type Balance, type Key, keys, values } from './schema.js'
import type { Rows } from './stored-rows.js'

/** Rows loaded in one call: they all arrive in one turn of the event loop. */
const rowsAtOnce = 256
/** Calls under way at a time: further ones would only keep other reads waiting. */
const callsAtOnce = 4

/** Loads many rows in parts of a few hundred, some side by side. */
export async function loadInParts<T>(wanted: readonly T[], load: (some: readonly T[]) => Promise<void>): Promise<void> {
  const yielder = new Yielder()
  const calls: Promise<void>[] = []
  for (let start = 0; start < wanted.length; start += rowsAtOnce) {
    const call = load(wanted.slice(start, start + rowsAtOnce))
    // One that fails behind another is not awaited.
    call.catch(() => {})
    calls.push(call)
    if (calls.length === callsAtOnce) await calls.shift()
    if (yielder.over) await yielder.next()
  }
  for (const call of calls) await call
}

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
  readonly #balances: RowChange[] = []

  private constructor(coins: CoinChanges) {
    this.#coins = coins
  }

  /** Reads the balances that change, as they are in the rows before. */
  static async of(coins: CoinChanges, before: Rows): Promise<CoinRows> {
    const rows = new CoinRows(coins)
    const changes = await runCooperatively(sumSteps(coins))
    await loadInParts(changes, async (some) => {
      const found = await before.getMany(some.map(({ key }) => key))
      await runCooperatively(rows.#balanceSteps(some, found))
    })
    return rows
  }

  get count(): number {
    return 2 * this.#coins.size + this.#balances.length
  }

  /** Puts them into a batch. */
  *steps(rows: BatchRows): Steps {
    const drop = ({ outpoint, coin }: CoinEntry) => {
      rows.del(keys.coin(outpoint))
      rows.del(keys.addressCoin(coin.programHash, coin.height, outpoint))
    }
    const add = ({ outpoint, coin }: CoinEntry) => {
      rows.put(keys.coin(outpoint), values.coin.encode(coin))
      rows.put(keys.addressCoin(coin.programHash, coin.height, outpoint), values.addressCoin.encode(coin.value))
    }
    yield* eachSteps(this.#coins.spent, drop, coinsAtOnce)
    // The same coin may have gone with one block and come with another.
    yield* eachSteps(this.#coins.created, add, coinsAtOnce)
    yield* eachSteps(this.#balances, (row) => rows.change(row), coinsAtOnce)
  }

  *#balanceSteps(changes: readonly BalanceChange[], found: readonly (Uint8Array | undefined)[]): Steps {
    for (const [i, { key, sum, count }] of changes.entries()) {
      const row = found[i]
      const before: Balance = row === undefined ? { sum: 0n, count: 0 } : values.balance.decode(row)
      const after = { sum: before.sum + sum, count: before.count + count }
      if (after.count < 0 || after.sum < 0n) throw new InvariantError('a balance would fall below zero')
      this.#balances.push({ key, value: after.count === 0 ? undefined : values.balance.encode(after) })
      if (i % coinsAtOnce === 0) yield
    }
  }
}

/** Sums the changes to each balance, so that every row is read and written once; those that come to nothing are left out. */
function* sumSteps(coins: CoinChanges): Steps<BalanceChange[]> {
  const changes = new Map<string, BalanceChange>()
  const add = ({ programHash, value }: Coin, sign: 1 | -1) => {
    const id = mapKey(programHash)
    let change = changes.get(id)
    if (change === undefined) changes.set(id, (change = { key: keys.balance(programHash), sum: 0n, count: 0 }))
    change.sum += sign === 1 ? value : -value
    change.count += sign
  }
  yield* eachSteps(coins.spent, ({ coin }) => add(coin, -1), coinsAtOnce)
  yield* eachSteps(coins.created, ({ coin }) => add(coin, 1), coinsAtOnce)
  const left: BalanceChange[] = []
  const keep = (change: BalanceChange) => {
    if (change.sum !== 0n || change.count !== 0) left.push(change)
  }
  yield* eachSteps(changes.values(), keep, coinsAtOnce)
  return left
}
