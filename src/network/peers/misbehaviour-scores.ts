import { mapKey } from '../../primitives/bytes.js'

/** Points at which a peer is banned. */
export const banPoints = 100
/** Milliseconds in which one point is forgiven. */
const forgivenEvery = 12_000
/** Peers whose points are remembered, connected or not. */
const mostScored = 4096

interface Score {
  readonly points: number
  /** From when on points are forgiven. */
  readonly since: number
}

/** What peers did wrong lately, by their key: points that go away with time, but not with the connection. */
export class MisbehaviourScores {
  readonly #now: () => number
  readonly #scores = new Map<string, Score>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** The points of a key at this moment. */
  of(publicKey: Uint8Array): number {
    return this.#scoreOf(mapKey(publicKey)).points
  }

  /** Charges a key and returns its points. */
  add(publicKey: Uint8Array, points: number): number {
    const id = mapKey(publicKey)
    const score = this.#scoreOf(id)
    const sum = score.points + points
    // Deleted first, so that the order of the map is that of the last offence.
    this.#scores.delete(id)
    this.#scores.set(id, { points: sum, since: score.since })
    if (this.#scores.size > mostScored) this.#scores.delete(this.#scores.keys().next().value as string)
    return sum
  }

  /** Forgives everything. */
  forget(publicKey: Uint8Array): void {
    this.#scores.delete(mapKey(publicKey))
  }

  #scoreOf(id: string): Score {
    const now = this.#now()
    const { points, since } = this.#scores.get(id) ?? { points: 0, since: now }
    const forgiven = Math.floor(Math.max(0, now - since) / forgivenEvery)
    return forgiven >= points
      ? { points: 0, since: now }
      : { points: points - forgiven, since: since + forgiven * forgivenEvery }
  }
}
