import { mapKey } from '../../primitives/bytes.js'

/** What a peer can be the first to bring. */
export const deliveries = ['block', 'vote', 'transaction'] as const
export type Delivery = (typeof deliveries)[number]

/** Milliseconds for which a valid vote or block that came first keeps a key from being banned by points. */
const meritTime = 60 * 60 * 1000
/** Keys whose deliveries are remembered; the one that delivered longest ago goes first. */
const mostMerits = 1024

type Latest = Readonly<Partial<Record<Delivery, number>>>

/** Which keys were the first to bring what is valid, connected or not. */
export class Merits {
  readonly #now: () => number
  readonly #latest = new Map<string, Latest>()

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  note(publicKey: Uint8Array, delivery: Delivery): void {
    const id = mapKey(publicKey)
    const before = this.#latest.get(id)
    this.#latest.delete(id)
    this.#latest.set(id, { ...before, [delivery]: this.#now() })
    if (this.#latest.size > mostMerits) this.#latest.delete(this.#latest.keys().next().value as string)
  }

  /** When a key last was the first; -Infinity for never. */
  latest(publicKey: Uint8Array, delivery: Delivery): number {
    return this.#latest.get(mapKey(publicKey))?.[delivery] ?? -Infinity
  }

  /** Whether a key lately was the first to bring a valid vote or block. */
  lately(publicKey: Uint8Array): boolean {
    const from = this.#now() - meritTime
    return this.latest(publicKey, 'block') > from || this.latest(publicKey, 'vote') > from
  }
}
