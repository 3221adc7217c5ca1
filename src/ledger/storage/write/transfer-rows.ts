import type { Coin } from '../../consensus/ledger.js'
import { type Balance, type Location, tables } from '../rows/tables.js'
import { RowBuffer } from './row-buffer.js'

/**
 * Memory for rows of the tables that every transfer changes: each row is made where the one before it of its table was, and lasts as
 * long. The bytes are those that `key` and `encode` of the table make.
 */
export class TransferRows {
  readonly #coin = RowBuffer.of(tables.coin)
  readonly #addressCoin = RowBuffer.of(tables.addressCoin)
  readonly #balance = RowBuffer.of(tables.balance)
  readonly #history = RowBuffer.of(tables.history)
  readonly #location = RowBuffer.of(tables.location)

  /** A coin by its `outpointKey`; without `coin` the key alone. */
  coin(outpoint: string, coin?: Coin): RowBuffer {
    tables.coin.fill(this.#coin.key, outpoint)
    if (coin !== undefined) tables.coin.write(this.#coin.begin(), coin)
    return this.#coin
  }

  addressCoin(outpoint: string, { owner, height, value }: Coin): RowBuffer {
    tables.addressCoin.fill(this.#addressCoin.key, owner, height, outpoint)
    tables.addressCoin.write(this.#addressCoin.begin(), value)
    return this.#addressCoin
  }

  /** The balance of an owner, as coins name it. */
  balance(owner: string, balance: Balance): RowBuffer {
    tables.balance.fill(this.#balance.key, owner)
    tables.balance.write(this.#balance.begin(), balance)
    return this.#balance
  }

  history(owner: string, height: number, index: number): RowBuffer {
    tables.history.fill(this.#history.key, owner, height, index)
    return this.#history
  }

  /** The position of a transaction, by `mapKey` of its txid. */
  location(txid: string, location: Location): RowBuffer {
    tables.location.fill(this.#location.key, txid)
    tables.location.write(this.#location.begin(), location)
    return this.#location
  }
}
