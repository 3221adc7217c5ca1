import { RuleError } from '../../src/base/errors/rule-error.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import type { Agenda } from './clock.js'
import type { Prepared } from './ground.js'
import type { SimulatedNode } from './node.js'
import type { Chance } from '../support/builders/chance.js'

/** Milliseconds until a transaction that a node refused is tried at another. */
const pause = 2_000

/** People who send transactions to whichever node is there, and remember what was acknowledged. */
export class Users {
  readonly #acknowledged: Prepared[] = []
  readonly #agenda: Agenda
  readonly #chance: Chance
  /** Honest nodes. */
  readonly #nodes: readonly SimulatedNode[]
  readonly #tell: (line: string) => void

  constructor(agenda: Agenda, chance: Chance, nodes: readonly SimulatedNode[], tell: (line: string) => void) {
    this.#agenda = agenda
    this.#chance = chance
    this.#nodes = nodes
    this.#tell = tell
  }

  /** Has transactions sent at any moment within so many milliseconds. */
  begin(transactions: readonly Prepared[], within: number): void {
    for (const one of transactions) this.#agenda.after(this.#chance.below(within), () => void this.#send(one))
  }

  /** What was acknowledged and is on no chain yet. */
  waiting(): readonly Prepared[] {
    return this.#acknowledged.filter(({ transaction: { hash } }) => !this.#somewhere(({ mined }) => mined(hash)))
  }

  /** What was acknowledged and is neither on a chain nor in a pool. */
  lost(): readonly Prepared[] {
    return this.waiting().filter(({ transaction: { hash } }) => !this.#somewhere(({ pooled }) => pooled(hash)))
  }

  get mined(): number {
    return this.#acknowledged.length - this.waiting().length
  }

  async #send(one: Prepared): Promise<void> {
    const node = this.#chance.pick(this.#nodes)
    const again = () => void this.#agenda.after(pause, () => void this.#send(one))
    if (node.running === undefined) return again()
    try {
      await node.running.mempool.accept(one.transaction.bytes, { local: true })
      this.#acknowledged.push(one)
      this.#tell(`n${node.number} acknowledges ${one.transaction.txid.slice(0, 8)}`)
    } catch (error) {
      // Another node may have told it before; then that one acknowledged it, or has not answered yet.
      if (!(error instanceof RuleError) || error.code !== 'tx-known') again()
    }
  }

  #somewhere(
    holds: (seen: { mined(hash: Uint8Array): boolean; pooled(hash: Uint8Array): boolean }) => boolean,
  ): boolean {
    return this.#nodes.some(({ running }) => {
      if (running === undefined) return false
      const { chain, mempool } = running
      return holds({
        mined: (hash) => chain.database.get(tables.location.key(hash)) !== undefined,
        pooled: (hash) => mempool.get(hash) !== undefined,
      })
    })
  }
}
