import type { Clock } from '../../base/runtime/env.js'
import { isWaiting } from '../../base/runtime/wait.js'
import { siteOf } from '../address/ip-address.js'
import type { TransportLimits } from './transport-limits.js'

/** Initial read rate of a link: so many bytes in so many milliseconds. */
const creditTime = 1_000
const creditBytes = 1_048_576
/** Milliseconds of answers after which the history of a link is halved. */
const pastTime = 60_000

/** The receiver of an answer. */
export interface Taker {
  readonly host: string
}

/** An answer that the peer has not read completely. */
export interface UnsentAnswer {
  readonly bytes: number
  /** Records that the peer read so many more bytes. */
  took(bytes: number): void
  /** Releases the memory: sent or aborted. */
  end(): void
}

interface Entry<L extends Taker> {
  readonly link: L
  readonly bytes: number
  /** In milliseconds of the clock. */
  readonly since: number
  taken: number
  readonly drop: () => void
}

type UnsentLimits = Pick<TransportLimits, 'answersUnsent' | 'siteUnsent' | 'linkAnswersUnsent' | 'answersRest'>

/**
 * Bounds the memory of answers that peers have not read: per link, per site and in total. Over the bound of a site or the
 * total → drops the link that would need longest to read what it holds.
 */
export class Unsent<L extends Taker> {
  readonly #limits: UnsentLimits
  readonly #clock: Clock
  readonly #entries = new Set<Entry<L>>()
  /** Bytes read of finished answers by link, and in how many milliseconds. */
  readonly #history = new WeakMap<L, { readonly taken: number; readonly time: number }>()
  /** End of the back-off of a link that did not read: no large answers until then. */
  readonly #backOffs = new WeakMap<L, number>()

  constructor(limits: UnsentLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Bytes of all answers. */
  get bytes(): number {
    return sumOf(this.#entries)
  }

  /** Whether a link is in back-off because it did not read its answers. */
  rests(link: L): boolean {
    return isWaiting(this.#backOffs.get(link) ?? 0, this.#clock.now(), this.#limits.answersRest)
  }

  /** Starts the back-off of a link that did not read an answer in time. */
  rest(link: L): void {
    this.#backOffs.set(link, this.#clock.now() + this.#limits.answersRest)
  }

  /** Reserves memory for an answer, dropping other links if needed; undefined if this one has to be refused. */
  hold(link: L, bytes: number, drop: () => void): UnsentAnswer | undefined {
    const { answersUnsent, siteUnsent, linkAnswersUnsent } = this.#limits
    const own = this.#of((one) => one.link === link)
    if (own.length > 0 && sumOf(own) + bytes > linkAnswersUnsent) return undefined
    const entry: Entry<L> = { link, bytes, since: this.#clock.now(), taken: 0, drop }
    const site = siteOf(link.host)
    this.#entries.add(entry)
    const fits =
      this.#makeRoom(entry, siteUnsent, (one) => siteOf(one.link.host) === site) &&
      this.#makeRoom(entry, answersUnsent, () => true)
    if (!fits) {
      this.#entries.delete(entry)
      return undefined
    }
    const took = (more: number) => void (entry.taken += more)
    return { bytes, took, end: () => this.#end(entry) }
  }

  #end(entry: Entry<L>): void {
    if (!this.#entries.delete(entry)) return
    const { taken, time } = this.#history.get(entry.link) ?? { taken: 0, time: 0 }
    const sum = { taken: taken + entry.taken, time: time + Math.abs(this.#clock.now() - entry.since) }
    this.#history.set(entry.link, sum.time > pastTime ? { taken: sum.taken / 2, time: sum.time / 2 } : sum)
  }

  /** Drops links until the selected entries hold at most `most` bytes; false if the link of `entry` is the slowest. */
  #makeRoom(entry: Entry<L>, most: number, selected: (one: Entry<L>) => boolean): boolean {
    for (;;) {
      const some = this.#of(selected)
      const links = new Set(some.map((one) => one.link))
      if (sumOf(some) <= most || links.size === 1) return true
      const [worst] = [...links].sort((a, b) => this.#timeOf(b) - this.#timeOf(a))
      if (worst === undefined || worst === entry.link) return false
      this.rest(worst)
      for (const one of this.#of(({ link }) => link === worst)) {
        this.#end(one)
        one.drop()
      }
    }
  }

  /** Milliseconds that a link needs to read all it holds at its rate. */
  #timeOf(link: L): number {
    const own = this.#of((one) => one.link === link)
    const now = this.#clock.now()
    const past = this.#history.get(link) ?? { taken: 0, time: 0 }
    const time = Math.max(...own.map(({ since }) => Math.abs(now - since))) + past.time + creditTime
    const taken = own.reduce((sum, one) => sum + one.taken, past.taken + creditBytes)
    return (sumOf(own) * time) / taken
  }

  #of(selected: (one: Entry<L>) => boolean): readonly Entry<L>[] {
    return [...this.#entries].filter(selected)
  }
}

function sumOf(entries: Iterable<{ readonly bytes: number }>): number {
  let sum = 0
  for (const { bytes } of entries) sum += bytes
  return sum
}
