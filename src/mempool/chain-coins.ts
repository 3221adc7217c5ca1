import type { Chain } from '../chain/chain.js'
import type { Coin } from '../consensus/ledger.js'
import type { Outpoint } from '../primitives/transaction-fields.js'

/** Coins of the chain that one transaction spends: it is evaluated more than once, and each is read once for a tip. */
export class ChainCoins {
  readonly #chain: Chain
  /** By the inputs themselves, which are the same objects each time. */
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
