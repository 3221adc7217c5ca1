import type { Chain } from '../chain/chain.js'
import type { Coin } from '../consensus/ledger.js'
import type { Outpoint } from '../../base/primitives/transaction-fields.js'

/** Cache of the chain coins that one transaction spends: it is evaluated several times, each coin is read once per tip. */
export class ChainCoins {
  readonly #chain: Chain
  /** Keyed by the input objects, which are the same each time. */
  readonly #known = new Map<Outpoint, Coin>()
  #tip: Chain['tip']

  constructor(chain: Chain) {
    this.#chain = chain
    this.#tip = chain.tip
  }

  coin(outpoint: Outpoint): Coin | undefined {
    if (this.#chain.tip !== this.#tip) {
      this.#known.clear()
      this.#tip = this.#chain.tip
    }
    const known = this.#known.get(outpoint)
    if (known !== undefined) return known
    const coin = this.#chain.state.coin(outpoint)
    if (coin !== undefined) this.#known.set(outpoint, coin)
    return coin
  }
}
