import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { TestChain } from './chain.js'
import { type Holder, holder } from './did.js'
import { testAddress } from './spec.js'

/** A small generator of numbers that follow from a seed. */
export function random(seed: number): (sides: number) => number {
  let state = seed >>> 0
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

/** People who pay each other and keep DIDs, with what they know of the last operation of each. */
export class Crowd {
  readonly #roll: (sides: number) => number
  readonly #holders: readonly Holder[]
  /** The last operation that was accepted, and its kind, by DID. */
  readonly #last = new Map<string, { txid: string; kind: string }>()

  constructor(roll: (sides: number) => number, holders = Array.from({ length: 6 }, holder)) {
    this.#roll = roll
    this.#holders = holders
  }

  /** Submits something at random. Some of it breaks a rule: that must be refused and change nothing. */
  async act(chain: TestChain): Promise<void> {
    try {
      if (this.#roll(3) === 0) await this.#operate(chain)
      else await this.#pay(chain)
    } catch (error) {
      // Not enough coins is the wallet's word; everything else must be a rule.
      if (!(error instanceof RuleError) && !String(error).includes('not enough coins')) throw error
    }
  }

  async #pay(chain: TestChain): Promise<void> {
    const from = 10 + this.#roll(4)
    const to = testAddress(10 + this.#roll(4))
    await chain.send(await chain.transfer(to, BigInt(1 + this.#roll(2_000_000_000)), from))
  }

  async #operate(chain: TestChain): Promise<void> {
    const one = this.#holders[this.#roll(this.#holders.length)] as Holder
    const last = this.#last.get(one.did)
    const choice = this.#roll(10)
    const kind = last === undefined ? 'create' : choice < 7 ? 'update' : choice < 8 ? 'deactivate' : 'create'
    const operation =
      kind === 'create' ? one.create() : kind === 'update' ? one.update(last?.txid ?? '') : one.deactivate()
    const { txid } = await chain.send(await chain.carry(operation, one.did, 10 + this.#roll(2)))
    this.#last.set(one.did, { txid, kind })
  }

  /** Looks at the chain again: after a reorganisation other operations may be the last. */
  look(chain: TestChain): void {
    for (const { did } of this.#holders) {
      const pending = [...chain.mempool.entries()].filter((entry) => entry.did?.id === did).at(-1)
      const state = pending?.did?.state ?? chain.chain.state.did(did)
      if (state === undefined) this.#last.delete(did)
      else this.#last.set(did, { txid: state.lastTxid, kind: state.status })
    }
  }
}
