import { Refused } from './registration.js'

/** @limit count: payments that wait for their turn at one registrar */
const mostInLane = 100
/** @limit count: payments of one client of a registrar that wait for their turn */
const mostOfLane = 20

/** Payments one after another, since each spends the change of the last; no client has many of them wait. */
export class PaymentLane {
  readonly #waiting = new Map<string, number>()
  #last: Promise<unknown> = Promise.resolve()

  /** Payments under way, or waiting for their turn. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Makes a payment of a client in its turn. A {@link Refused} where too many wait. */
  async run<T>(client: string, work: () => Promise<T>): Promise<T> {
    const own = this.#waiting.get(client) ?? 0
    if (own >= mostOfLane || this.waiting >= mostInLane) {
      const whose = own >= mostOfLane ? 'of this client' : 'at this registrar'
      throw new Refused('busy', `too many registrations ${whose} are being paid for: ask again`, 503)
    }
    this.#waiting.set(client, own + 1)
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    try {
      return await done
    } finally {
      const left = (this.#waiting.get(client) ?? 1) - 1
      if (left === 0) this.#waiting.delete(client)
      else this.#waiting.set(client, left)
    }
  }
}
