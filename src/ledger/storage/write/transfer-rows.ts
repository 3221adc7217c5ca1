import type { Coin } from '../../consensus/ledger.js'
import { FixedRow } from './row-buffer.js'
import { type Balance, coinSize, writeBalance, writeCoin, writeLocation } from '../rows/row-values.js'
import { fill, type Location, table } from '../rows/schema.js'

/**
 * Memory for rows of the tables that every transfer changes: each row is made where the one before it of its table was, and lasts as
 * long. What `keys` and `values` make is the same bytes.
 */
export class TransferRows {
  readonly #coin = new FixedRow(table.coin, 34, coinSize)
  readonly #addressCoin = new FixedRow(table.addressCoin, 59, 8)
  readonly #balance = new FixedRow(table.balance, 21, 12)
  readonly #history = new FixedRow(table.history, 27, 0)
  readonly #location = new FixedRow(table.location, 32, 6)

  /** A coin by its `outpointKey`; without `coin` the key alone. */
  coin(outpoint: string, coin?: Coin): FixedRow {
    fill.coin(this.#coin.key, outpoint)
    if (coin !== undefined) writeCoin(this.#coin.begin(), coin)
    return this.#coin
  }

  addressCoin(outpoint: string, { owner, height, value }: Coin): FixedRow {
    fill.addressCoin(this.#addressCoin.key, owner, height, outpoint)
    this.#addressCoin.begin().i64(value)
    return this.#addressCoin
  }

  /** The balance of an owner, as coins name it. */
  balance(owner: string, balance: Balance): FixedRow {
    this.#balance.key.write(owner, 1, 'latin1')
    writeBalance(this.#balance.begin(), balance)
    return this.#balance
  }

  history(owner: string, height: number, index: number): FixedRow {
    fill.history(this.#history.key, owner, height, index)
    return this.#history
  }

  /** The position of a transaction, by `mapKey` of its txid. */
  location(txid: string, location: Location): FixedRow {
    this.#location.key.write(txid, 1, 'latin1')
    writeLocation(this.#location.begin(), location)
    return this.#location
  }
}
