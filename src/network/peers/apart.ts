import { mapKey } from '../../primitives/bytes.js'

/** Milliseconds for which a peer is kept apart that is not banned. */
const apartTime = 60_000
/** Keys that are kept apart; the one that was parted from longest ago goes first. */
const mostApart = 256

/** Peers that broke rules and are not banned for it, since the owner named them or they are useful: disconnected for a while. */
export class Apart {
  readonly #now: () => number
  readonly #until = new Map<string, number>()

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  part(publicKey: Uint8Array): void {
    const id = mapKey(publicKey)
    this.#until.delete(id)
    this.#until.set(id, this.#now() + apartTime)
    if (this.#until.size > mostApart) this.#until.delete(this.#until.keys().next().value as string)
  }

  /** Whether a key is kept apart; a clock that was set back does not make it longer. */
  has(publicKey: Uint8Array): boolean {
    const rest = (this.#until.get(mapKey(publicKey)) ?? -Infinity) - this.#now()
    return rest > 0 && rest <= apartTime
  }
}
