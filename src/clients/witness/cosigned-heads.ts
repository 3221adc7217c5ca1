import { displayHash } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { defined } from '../../base/primitives/defined.js'
import { verifierKeyText, type WitnessKey } from '../../identity/proofs/witness-note.js'
import { maxHeads, type ShownHead, witnessFormat } from '../light/witnessed-heads.js'

/** @tuning count: cosigned heads that a witness still shows */
const keptHeads = 288

/** Heads that a witness shows: the last ones, and each of the last 288 by its height. */
export class CosignedHeads {
  readonly #key: WitnessKey
  readonly #genesis: Hash
  readonly #alarm: () => string | undefined
  readonly #heads = new Map<number, ShownHead>()

  constructor(key: WitnessKey, genesis: Hash, alarm: () => string | undefined) {
    this.#key = key
    this.#genesis = genesis
    this.#alarm = alarm
  }

  add(height: number, head: ShownHead): void {
    this.#heads.set(height, head)
    if (this.#heads.size > keptHeads) this.#heads.delete(this.#heads.keys().next().value as number)
  }

  /** The newest ones first, or the one of a height. */
  shown(height?: number): object {
    const one = height === undefined ? undefined : this.#heads.get(height)
    const newest = [...this.#heads.values()].slice(-maxHeads).reverse()
    return {
      format: witnessFormat,
      key: verifierKeyText(this.#key),
      chain: displayHash(this.#genesis),
      ...defined({ alarm: this.#alarm() }),
      heads: height === undefined ? newest : one === undefined ? [] : [one],
    }
  }
}
