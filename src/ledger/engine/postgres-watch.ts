import type pg from 'pg'
import { discard } from './postgres-pool.js'
import { isAt } from './placement.js'
import type { PostgresShard } from './postgres-shard.js'
import type { ShardPosition } from './row-engine.js'

/** @tuning ms: time between two looks at the position of a shard */
const interval = 100
/** @tuning ms: time between attempts to listen to a shard that does not answer */
const listenAgain = 1000

/** Calls back when a shard moves: by its notes, and by looks at its position, since a note gets lost with a connection. */
export class PostgresWatch {
  readonly #shard: PostgresShard
  readonly #moved: () => void
  #last: ShardPosition | undefined
  #timer: NodeJS.Timeout | undefined
  #listener: pg.Client | undefined
  #listenAt = 0
  #isListening = false
  #isClosed = false

  constructor(shard: PostgresShard, moved: () => void) {
    this.#shard = shard
    this.#moved = moved
    void this.#look()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    if (this.#listener !== undefined) discard(this.#listener, () => {})
  }

  async #look(): Promise<void> {
    void this.#listen()
    const position = await this.#shard.position()
    if (this.#isClosed) return
    if (position !== undefined && (this.#last === undefined || !isAt(position, this.#last))) {
      this.#last = position
      this.#moved()
    }
    this.#timer = setTimeout(() => void this.#look(), interval)
  }

  async #listen(): Promise<void> {
    if (this.#listener !== undefined || this.#isListening || performance.now() < this.#listenAt) return
    this.#listenAt = performance.now() + listenAgain
    this.#isListening = true
    try {
      const listener = await this.#shard.listen(() => this.#moved())
      listener.once('end', () => (this.#listener = undefined))
      this.#listener = listener
      if (this.#isClosed) this.close()
    } catch {
      // One of the next looks tries again.
    } finally {
      this.#isListening = false
    }
  }
}
