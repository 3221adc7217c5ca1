import type { Coin, CoinChanges } from '../../consensus/ledger.js'
import { InvariantError } from '../../../base/errors/rule-error.js'
import { ofMapKey } from '../../../base/primitives/bytes.js'
import { entrySteps, type Steps } from '../../../base/primitives/steps.js'
import { runCooperatively, Yielder } from '../../../base/runtime/cooperative.js'
import type { BatchRows } from './batch-rows.js'
import type { Changes, RowsBelow } from './row-changes.js'
import type { CoinCache } from './coin-cache.js'
import { type Balance, tables } from '../rows/tables.js'
import { reusedRows } from './row-buffer.js'

/** Rows loaded in one call: they all arrive in one turn of the event loop. */
export const rowsAtOnce = 256
/** Calls under way at a time: further ones would only keep other reads waiting. */
export const callsAtOnce = 4

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

const noBalance: Balance = { sum: 0n, count: 0 }

/** The sum of what happened to one address. */
interface BalanceChange {
  sum: bigint
  count: number
  /** After the change; undefined until it is known what it was before. */
  after?: Balance
}

/** The rows that changes of coins make: coins, coins of addresses, balances. A coin that was created and spent since makes none. */
export class CoinRows implements Changes {
  readonly #coins: CoinChanges
  readonly #balances: ReadonlyMap<string, BalanceChange>
  readonly #cache: CoinCache

  private constructor(coins: CoinChanges, balances: ReadonlyMap<string, BalanceChange>, cache: CoinCache) {
    this.#coins = coins
    this.#balances = balances
    this.#cache = cache
  }

  /** Reads the balances that change, as they are in the rows before. */
  static async of(coins: CoinChanges, before: Pick<RowsBelow, 'getMany' | 'coins'>): Promise<CoinRows> {
    const cache = before.coins
    // Past the cache it would be wrong from now on.
    if (cache === undefined) throw new InvariantError('coins are written while readers are held at earlier rows')
    const balances = await runCooperatively(sumSteps(coins))
    const unknown: { readonly owner: string; readonly change: BalanceChange }[] = []
    const look = (change: BalanceChange, owner: string) => {
      const before = cache.balance(owner)
      if (before === undefined) unknown.push({ owner, change })
      else change.after = balanceAfter(before, change)
    }
    await runCooperatively(entrySteps(balances, look, coinsAtOnce))
    await loadInParts(unknown, async (some) => {
      const found = await before.getMany(some.map(({ owner }) => tables.balance.key(ofMapKey(owner))))
      for (const [i, { change }] of some.entries()) {
        const row = found[i]
        change.after = balanceAfter(row === undefined ? noBalance : tables.balance.decode(row), change)
      }
    })
    return new CoinRows(coins, balances, cache)
  }

  /** At most: a balance that comes to nothing makes none. */
  get count(): number {
    return 2 * this.#coins.size + this.#balances.size
  }

  /** Puts them into a batch, and what they say into the cache. */
  *steps(rows: BatchRows): Steps {
    const coinRows = reusedRows(tables.coin)
    const addressCoins = reusedRows(tables.addressCoin)
    const balances = reusedRows(tables.balance)
    const cache = this.#cache
    const drop = (coin: Coin, outpoint: string) => {
      rows.del(coinRows.key(outpoint))
      rows.del(addressCoins.key(coin.owner, coin.height, outpoint))
      cache.spent(outpoint)
    }
    const add = (coin: Coin, outpoint: string) => {
      rows.putRow(coinRows.row(coin, outpoint))
      rows.putRow(addressCoins.row(coin.value, coin.owner, coin.height, outpoint))
      cache.created(outpoint, coin)
    }
    const balance = ({ after }: BalanceChange, owner: string) => {
      if (after === undefined) throw new InvariantError('a balance was not read before its change')
      if (after.count === 0) rows.del(balances.key(owner))
      else rows.putRow(balances.row(after, owner))
      cache.changed(owner, after)
    }
    yield* entrySteps(this.#coins.spent, drop, coinsAtOnce)
    // The same coin may have gone with one block and come with another.
    yield* entrySteps(this.#coins.created, add, coinsAtOnce)
    yield* entrySteps(this.#balances, balance, coinsAtOnce)
  }
}

function balanceAfter(before: Balance, { sum, count }: Balance): Balance {
  const after = { sum: before.sum + sum, count: before.count + count }
  if (after.count < 0 || after.sum < 0n) throw new InvariantError('a balance would fall below zero')
  return after
}

/** Sums the changes to each balance, by the owner of its coins, so that every row is read and written once; those that come to nothing are left out. */
function* sumSteps(coins: CoinChanges): Steps<ReadonlyMap<string, BalanceChange>> {
  const changes = new Map<string, BalanceChange>()
  const add = ({ owner, value }: Coin, sign: 1 | -1) => {
    let change = changes.get(owner)
    if (change === undefined) changes.set(owner, (change = { sum: 0n, count: 0 }))
    change.sum += sign === 1 ? value : -value
    change.count += sign
  }
  yield* entrySteps(coins.spent, (coin) => add(coin, -1), coinsAtOnce)
  yield* entrySteps(coins.created, (coin) => add(coin, 1), coinsAtOnce)
  const drop = ({ sum, count }: BalanceChange, owner: string) => {
    if (sum === 0n && count === 0) changes.delete(owner)
  }
  yield* entrySteps(changes, drop, coinsAtOnce)
  return changes
}
