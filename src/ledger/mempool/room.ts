import type { Steps } from '../../base/primitives/steps.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import type { FeeFloor } from './fee-floor.js'
import { rateText } from './fee-rate.js'
import type { PoolGraph } from './graph.js'
import type { PoolEntry } from './pool-entry.js'
import type { PoolLimits } from './policy.js'

interface RoomOptions {
  readonly limits: Pick<PoolLimits, 'poolSize'>
  readonly floor: FeeFloor
  /** The current pool. */
  graph(): PoolGraph
  /** Drops an entry on which no other one builds; `needed`: the sela a byte that it would have taken to stay. */
  drop(entry: PoolEntry, needed: string): void
}

/** Keeps the pool within its size: what is worth least goes, with all that builds on it. */
export class Room {
  /** Entries whose acceptance is not answered yet. */
  readonly newcomers = new Set<PoolEntry>()
  readonly #options: RoomOptions
  #made: Promise<void> = Promise.resolve()
  #evicting = false

  constructor(options: RoomOptions) {
    this.#options = options
  }

  /** Resolves when what had to go is gone. */
  get made(): Promise<void> {
    return this.#made
  }

  /** Resolves when the pool is within its size. */
  make(): Promise<void> {
    const { graph, limits } = this.#options
    if (!this.#evicting && graph().bytes > limits.poolSize) {
      this.#evicting = true
      this.#made = runCooperatively(this.#steps())
    }
    return this.#made
  }

  /** One leaf after another: in between the pool is valid as it is. */
  *#steps(): Steps {
    const { graph, limits, floor, drop } = this.#options
    try {
      while (graph().bytes > limits.poolSize) {
        const { entry, worth } = graph().worst as NonNullable<PoolGraph['worst']>
        floor.raise(worth)
        const needed = rateText(floor.perThousand)
        // Without a newcomer there was room: it must not take along what it builds on.
        const going = [...this.newcomers].find((one) => graph().isWithin(one, entry)) ?? entry
        for (let leaf = graph().leafOf(going); leaf !== undefined; leaf = graph().leafOf(going)) {
          drop(leaf, needed)
          yield
        }
      }
    } finally {
      this.#evicting = false
    }
  }
}
