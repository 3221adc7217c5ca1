import type { Coin } from '../consensus/ledger.js'
import { mapKey, ofMapKey } from '../primitives/bytes.js'
import { LruMap } from '../runtime/lru-map.js'
import type { Balance } from './schema.js'

/**
 * About 320 bytes a coin and 170 a balance: 16 MB in all.
 * @limit count: coins, and balances, that are kept in memory with their rows
 */
export const cachedCoins = 32_768

/** A coin with its program hash as `mapKey` makes it: a view would hold the whole block, and a copy takes three times the memory. */
type KeptCoin = Omit<Coin, 'programHash'> & { readonly owner: string }

/**
 * Coins and balances as the newest rows have them, of those written last: most coins are spent soon, most addresses change again. Every
 * batch with coins passes through it, so it needs no rows to compare with. For the writer alone: readers may be held at earlier rows.
 */
export class CoinCache {
  readonly #coins: LruMap<KeptCoin>
  readonly #balances: LruMap<Balance>

  constructor(capacity: number = cachedCoins) {
    this.#coins = new LruMap(capacity)
    this.#balances = new LruMap(capacity)
  }

  /** A coin by its `outpointKey`; undefined if that says nothing of its row. */
  coin(outpoint: string): Coin | undefined {
    const kept = this.#coins.peek(outpoint)
    if (kept === undefined) return undefined
    const { height, coinbase, value, outputLock, owner } = kept
    return { height, coinbase, value, outputLock, programHash: ofMapKey(owner) }
  }

  /** A balance by `mapKey` of its program hash; undefined if that says nothing of its row. */
  balance(programHash: string): Balance | undefined {
    return this.#balances.peek(programHash)
  }

  /** Number of coins and of balances. */
  get sizes(): { readonly coins: number; readonly balances: number } {
    return { coins: this.#coins.size, balances: this.#balances.size }
  }

  created(outpoint: string, { height, coinbase, value, outputLock, programHash }: Coin): void {
    this.#coins.set(outpoint, { height, coinbase, value, outputLock, owner: mapKey(programHash) })
  }

  spent(outpoint: string): void {
    this.#coins.delete(outpoint)
  }

  changed(programHash: string, balance: Balance): void {
    this.#balances.set(programHash, balance)
  }

  /** Forgets everything: a batch failed, and its rows may or may not be there. */
  clear(): void {
    this.#coins.clear()
    this.#balances.clear()
  }
}
