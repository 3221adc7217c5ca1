import { mapKey } from '../../primitives/bytes.js'

/** Points at which a peer is banned. */
export const banPoints = 100
/** Points that are forgiven in a minute. */
const forgivenPerMinute = 5
/** Peers whose points are remembered, connected or not. */
const mostScored = 4096

interface Score {
  points: number
  at: number
}

/** What peers did wrong lately, by their key: points that go away with time, but not with the connection. */
export class Points {
  readonly #now: () => number
  readonly #scores = new Map<string, Score>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** The points of a key at this moment. */
  of(publicKey: Uint8Array): number {
    const score = this.#scores.get(mapKey(publicKey))
    return score === undefined ? 0 : this.#left(score)
  }

  /** Charges a key and returns its points. */
  add(publicKey: Uint8Array, points: number): number {
    const id = mapKey(publicKey)
    const sum = this.of(publicKey) + points
    // Deleted first, so that the order of the map is that of the last offence.
    this.#scores.delete(id)
    this.#scores.set(id, { points: sum, at: this.#now() })
    if (this.#scores.size > mostScored) this.#scores.delete(this.#scores.keys().next().value as string)
    return sum
  }

  /** Forgives everything. */
  forget(publicKey: Uint8Array): void {
    this.#scores.delete(mapKey(publicKey))
  }

  #left({ points, at }: Score): number {
    const minutes = Math.max(0, this.#now() - at) / 60_000
    return Math.max(0, points - minutes * forgivenPerMinute)
  }
}
