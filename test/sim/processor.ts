import type { Chain } from '../../src/ledger/chain/chain.js'
import type { Verifier } from '../../src/base/crypto/verifier.js'
import { RuleError } from '../../src/base/errors/rule-error.js'
import { Block, blockHashOf } from '../../src/base/primitives/block.js'
import { mapKey } from '../../src/base/primitives/bytes.js'
import type { Agenda } from './clock.js'

/** What work costs a simulated node: milliseconds of its processor, and how many times as long a write takes. */
export interface Costs {
  /** For each transaction of a template. */
  readonly select: number
  /** For each signature check; stands for all that is done with a transaction. */
  readonly check: number
  readonly disk: number
}

/** Milliseconds after which a job gives way to the others. */
const slice = 50

interface Job {
  left: number
  readonly wanted: () => boolean
  /** Whether it was done to its end. */
  readonly resolve: (done: boolean) => void
}

/** The one processor of a node: all its jobs take turns. */
export class Processor {
  readonly #agenda: Agenda
  readonly #alive: () => boolean
  readonly #jobs: Job[] = []

  constructor(agenda: Agenda, alive: () => boolean) {
    this.#agenda = agenda
    this.#alive = alive
  }

  /** Resolves with true when so many milliseconds were spent, with false as soon as the work is not wanted any more. */
  spend(milliseconds: number, wanted: () => boolean = () => true): Promise<boolean> {
    return new Promise((resolve) => {
      this.#jobs.push({ left: milliseconds, wanted, resolve })
      if (this.#jobs.length === 1) this.#turn()
    })
  }

  #turn(): void {
    const job = this.#jobs[0]
    if (job === undefined) return
    const part = job.wanted() ? Math.min(slice, job.left) : 0
    this.#agenda.after(part, () => {
      if (!this.#alive()) return
      this.#jobs.shift()
      job.left -= part
      const over = job.left <= 0 || part === 0
      if (over) job.resolve(job.left <= 0)
      else this.#jobs.push(job)
      this.#turn()
    })
  }
}

/** Makes what a verifier and a chain do take the time of a processor; without costs nothing changes. */
export class Workshop {
  readonly #processor: Processor
  readonly #costs: () => Costs | undefined
  /** Blocks that some node has made, of all nodes: the first one that checks a block is its maker. */
  readonly #made: Set<string>

  constructor(processor: Processor, made: Set<string>, costs: () => Costs | undefined) {
    this.#processor = processor
    this.#made = made
    this.#costs = costs
  }

  verifier(verifier: Verifier): Verifier {
    return {
      verifyAll: async (checks) => {
        const costs = this.#costs()
        if (costs !== undefined && checks.length > 0) await this.#processor.spend(checks.length * costs.check)
        return verifier.verifyAll(checks)
      },
      close: () => verifier.close(),
    }
  }

  /** The maker of a block pays for its template before it checks it. */
  equip(chain: Chain): void {
    const prepare = chain.prepare.bind(chain)
    chain.prepare = async (bytes, wanted = () => true) => {
      const costs = this.#costs()
      const id = mapKey(blockHashOf(bytes))
      const own = !this.#made.has(id)
      this.#made.add(id)
      const count = own && costs !== undefined ? Block.fromBytes(bytes).transactions.length : 0
      if (costs !== undefined && count > 0 && !(await this.#processor.spend(count * costs.select, wanted))) {
        throw new RuleError('busy', 'the template is not wanted any more')
      }
      return prepare(bytes, wanted)
    }
  }
}
