import type { Coin } from '../../consensus/ledger.js'
import { LruMap } from '../../../base/runtime/lru-map.js'
import type { Balance } from '../rows/tables.js'

/**
 * About 320 bytes a coin and 170 a balance: 16 MB in all.
 * @tuning count: coins, and balances, that are kept in memory with their rows
 */
export const cachedCoins = 32_768

/**
 * Coins and balances as the newest rows have them, of those written last: most coins are spent soon, most addresses change again. Every
 * batch with coins passes through it, so it needs no rows to compare with. For the writer alone: readers may be held at earlier rows.
 */
export class CoinCache {
  readonly #coins: LruMap<Coin>
  readonly #balances: LruMap<Balance>

  constructor(capacity: number = cachedCoins) {
    this.#coins = new LruMap(capacity)
    this.#balances = new LruMap(capacity)
  }

  /** A coin by its `outpointKey`; undefined if that says nothing of its row. */
  coin(outpoint: string): Coin | undefined {
    return this.#coins.peek(outpoint)
  }

  /** A balance by the owner of its coins; undefined if that says nothing of its row. */
  balance(owner: string): Balance | undefined {
    return this.#balances.peek(owner)
  }

  /** Number of coins and of balances. */
  get sizes(): { readonly coins: number; readonly balances: number } {
    return { coins: this.#coins.size, balances: this.#balances.size }
  }

  created(outpoint: string, coin: Coin): void {
    this.#coins.set(outpoint, coin)
  }

  spent(outpoint: string): void {
    this.#coins.delete(outpoint)
  }

  changed(owner: string, balance: Balance): void {
    this.#balances.set(owner, balance)
  }

  /** Forgets everything: a batch failed, and its rows may or may not be there. */
  clear(): void {
    this.#coins.clear()
    this.#balances.clear()
  }
}
