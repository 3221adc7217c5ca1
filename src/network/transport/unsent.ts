import type { Clock } from '../../runtime/env.js'
import { siteOf } from '../address/ip-address.js'
import type { TransportLimits } from './transport-limits.js'

/** A link of which nothing is known yet counts as one that took so many bytes in so many milliseconds. */
const creditTime = 1_000
const creditBytes = 1_048_576
/** Milliseconds of answers after which what a link took counts half. */
const pastTime = 60_000

/** Whose answer it is. */
export interface Taker {
  readonly host: string
}

/** An answer that the other side has not taken whole. */
export interface UnsentAnswer {
  readonly bytes: number
  /** Notes that the other side took so many bytes more. */
  took(bytes: number): void
  /** It is sent, or given up. */
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
 * The memory of answers that others are slow to take: bounded for each link, for each site and in all. Where a site or all
 * have too many bytes, the link goes first that would need longest for what it holds: who holds most and reads least.
 */
export class Unsent<L extends Taker> {
  readonly #limits: UnsentLimits
  readonly #clock: Clock
  readonly #entries = new Set<Entry<L>>()
  /** What a link took of answers that ended, and in how many milliseconds. */
  readonly #past = new WeakMap<L, { readonly taken: number; readonly time: number }>()
  /** Until when a link that did not read gets no large answers. */
  readonly #resting = new WeakMap<L, number>()

  constructor(limits: UnsentLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Bytes of all answers. */
  get bytes(): number {
    return sumOf(this.#entries)
  }

  /** Whether a link rests, because it did not take what it asked for. */
  rests(link: L): boolean {
    const left = (this.#resting.get(link) ?? -Infinity) - this.#clock.now()
    return left > 0 && left <= this.#limits.answersRest
  }

  /** A link did not take an answer in time. */
  rest(link: L): void {
    this.#resting.set(link, this.#clock.now() + this.#limits.answersRest)
  }

  /** Takes on an answer; others may be dropped for it. Undefined where it is the one that has no room. */
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
    const { taken, time } = this.#past.get(entry.link) ?? { taken: 0, time: 0 }
    const sum = { taken: taken + entry.taken, time: time + Math.abs(this.#clock.now() - entry.since) }
    this.#past.set(entry.link, sum.time > pastTime ? { taken: sum.taken / 2, time: sum.time / 2 } : sum)
  }

  /** Drops links until those chosen hold no more than `most`; false where the one of `entry` has to go. */
  #makeRoom(entry: Entry<L>, most: number, chosen: (one: Entry<L>) => boolean): boolean {
    for (;;) {
      const some = this.#of(chosen)
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

  /** Milliseconds that a link needs for all it holds, at the rate at which it reads. */
  #timeOf(link: L): number {
    const own = this.#of((one) => one.link === link)
    const now = this.#clock.now()
    const past = this.#past.get(link) ?? { taken: 0, time: 0 }
    const time = Math.max(...own.map(({ since }) => Math.abs(now - since))) + past.time + creditTime
    const taken = own.reduce((sum, one) => sum + one.taken, past.taken + creditBytes)
    return (sumOf(own) * time) / taken
  }

  #of(chosen: (one: Entry<L>) => boolean): readonly Entry<L>[] {
    return [...this.#entries].filter(chosen)
  }
}

function sumOf(entries: Iterable<{ readonly bytes: number }>): number {
  let sum = 0
  for (const { bytes } of entries) sum += bytes
  return sum
}
