import { RuleError } from '../../base/errors/rule-error.js'
import { outpointKey } from '../../base/primitives/input.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { TransactionEvaluation, type EvaluationContext } from './evaluate-transaction.js'
import { entryOf, type PoolEntry } from './pool-entry.js'

/**
 * Declares and revokes that leave the pool with the update or credential operation on which they stood, since a deactivate
 * replaces it. They are tried again before the deactivate is added: those that hold without it become its parents.
 */
export class Returning {
  readonly #surroundings: EvaluationContext
  readonly #deactivate: Transaction
  readonly #did: string | undefined
  readonly #spent: ReadonlySet<string>
  readonly #read = new Map<PoolEntry, TransactionEvaluation>()

  /** `did`: the DID that the deactivate ends. */
  constructor(deactivate: Transaction, did: string | undefined, surroundings: EvaluationContext) {
    this.#deactivate = deactivate
    this.#did = did
    this.#surroundings = surroundings
    this.#spent = new Set(deactivate.inputs.map(outpointKey))
  }

  /** Reads operations of replaced entries, in slices; undefined when all of them are read. */
  read(replaced: readonly PoolEntry[]): Promise<void> | undefined {
    const unread = replaced.filter((entry) => this.#mayReturn(entry) && !this.#read.has(entry))
    return unread.length === 0 ? undefined : this.#readAll(unread)
  }

  /** Adds a read entry to the pool again, in this turn; false if it does not hold, or would cost the deactivate its place. */
  add(entry: PoolEntry): boolean {
    const newcomer = this.#read.get(entry)
    const { limits } = this.#surroundings
    if (newcomer === undefined) return false
    const graph = this.#surroundings.graph()
    try {
      const { connected } = newcomer.evaluate()
      if (newcomer.verify(connected.checks) !== undefined) return false
      const again = entryOf(entry.transaction, connected, entry.arrival)
      graph.add(again)
      if (graph.ancestors(this.#deactivate, this.#did, undefined, limits.ancestors).length <= limits.ancestors)
        return true
      graph.remove(again)
      return false
    } catch (error) {
      if (error instanceof RuleError) return false
      throw error
    }
  }

  /** The deactivate spends what it was evaluated to spend: no returning entry spends the same. */
  #mayReturn({ did, transaction }: PoolEntry): boolean {
    return did?.credential !== undefined && !transaction.inputs.some((input) => this.#spent.has(outpointKey(input)))
  }

  async #readAll(entries: readonly PoolEntry[]): Promise<void> {
    for (const entry of entries) {
      const newcomer = new TransactionEvaluation(entry.transaction, this.#surroundings)
      await newcomer.readOperation()
      this.#read.set(entry, newcomer)
    }
  }
}
