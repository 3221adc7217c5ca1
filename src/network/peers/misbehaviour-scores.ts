import { LruMap } from '../../base/runtime/lru-map.js'
import { mapKey } from '../../base/primitives/bytes.js'

/** @limit points: misbehaviour score at which a peer is banned */
export const banPoints = 100
/** @limit ms: time in which a misbehaviour score fades by one point */
const forgivenEvery = 12_000
/** @limit count: kept misbehaviour scores of keys, connected or not */
const mostScored = 4096

interface Score {
  readonly points: number
  /** Start of the current decay, in milliseconds. */
  readonly since: number
}

/** Misbehaviour scores by key: they fade with time and survive the connection. */
export class MisbehaviourScores {
  readonly #now: () => number
  readonly #scores = new LruMap<Score>(mostScored)

  constructor(now: () => number) {
    this.#now = now
  }

  /** The current score of a key. */
  of(publicKey: Uint8Array): number {
    return this.#scoreOf(mapKey(publicKey)).points
  }

  /** Adds a penalty to a key and returns its score. */
  add(publicKey: Uint8Array, points: number): number {
    const id = mapKey(publicKey)
    const score = this.#scoreOf(id)
    const sum = score.points + points
    this.#scores.set(id, { points: sum, since: score.since })
    return sum
  }

  /** Resets the score of a key. */
  forget(publicKey: Uint8Array): void {
    this.#scores.delete(mapKey(publicKey))
  }

  #scoreOf(id: string): Score {
    const now = this.#now()
    const { points, since } = this.#scores.peek(id) ?? { points: 0, since: now }
    const forgiven = Math.floor(Math.max(0, now - since) / forgivenEvery)
    return forgiven >= points
      ? { points: 0, since: now }
      : { points: points - forgiven, since: since + forgiven * forgivenEvery }
  }
}
