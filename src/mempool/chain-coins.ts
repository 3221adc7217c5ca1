import type { Chain } from '../chain/chain.js'
import type { Coin } from '../consensus/ledger.js'
import { type Outpoint, outpointKey } from '../primitives/transaction.js'

/** Coins of the chain that one transaction spends: it is evaluated more than once, and each is read once for a tip. */
export class ChainCoins {
  readonly #chain: Chain
  readonly #known = new Map<string, Coin | undefined>()
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
    const key = outpointKey(outpoint)
    if (this.#known.has(key)) return this.#known.get(key)
    const coin = this.#chain.state.coin(outpoint)
    this.#known.set(key, coin)
    return coin
  }
}
