import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock, Timers } from '../../src/base/runtime/env.js'
import type { Chance } from '../support/builders/chance.js'

/**
 * Time of a simulation. Everything that takes time is an event of one agenda: messages, writes, timers, faults. Events of one
 * moment come in an order that the seed draws.
 *
 * After each event the world comes to rest: all promises that can settle have settled. One turn of the event loop is enough
 * for that and waits for nothing, because no part of a simulated node uses threads, sockets, files or timers of the system:
 * stores and verifier answer from memory, so whatever goes on goes on in microtasks and ticks, and Node runs those to
 * exhaustion before the next turn. The code under test yields to others after a few milliseconds of real time; for it that
 * time stands still during a run, so that how fast the machine is changes nothing.
 */

export interface Scheduled {
  readonly time: number
  readonly tie: number
  readonly order: number
  run: (() => void) | undefined
}

/** Longest stretch of events in one moment: more of them are a loop without end. */
const momentLimit = 50_000

export class Agenda implements Clock, Timers {
  readonly #chance: Chance
  readonly #heap: Scheduled[] = []
  #now: number
  #order = 0
  #inMoment = 0
  /** Events that have happened. */
  count = 0

  constructor(start: number, chance: Chance) {
    this.#now = start
    this.#chance = chance
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    return this.#now
  }

  /** Does something in so many milliseconds; the returned function prevents it. */
  after(milliseconds: number, run: () => void): () => void {
    const time = this.#now + Math.max(0, milliseconds)
    const event: Scheduled = { time, tie: this.#chance.below(2 ** 32), order: this.#order++, run }
    push(this.#heap, event)
    return () => (event.run = undefined)
  }

  /** Lets the next event happen, and what follows from it at once; false when none is left before `limit`. */
  async step(limit: number): Promise<boolean> {
    for (;;) {
      const next = this.#heap[0]
      if (next === undefined || next.time > limit) {
        this.#now = Math.max(this.#now, limit)
        return false
      }
      pop(this.#heap)
      if (next.run === undefined) continue
      this.#inMoment = next.time > this.#now ? 0 : this.#inMoment + 1
      if (this.#inMoment > momentLimit) throw new Error(`time does not go on: ${momentLimit} events in one moment`)
      this.#now = next.time
      this.count++
      next.run()
      await rest()
      return true
    }
  }
}

/** Resolves when all that can settle without an event has settled. */
export async function rest(): Promise<void> {
  await nextTurn()
}

/** Runs with the time that slices of work are measured by standing still. */
async function timeless<T>(run: () => Promise<T>): Promise<T> {
  const measured = performance.now.bind(performance)
  performance.now = () => 0
  try {
    return await run()
  } finally {
    performance.now = measured
  }
}

/** A simulation that is run to its end, and told of promises that were rejected with no taker. */
interface RunnableWorld<T> {
  run(): Promise<T>
  broken(error: unknown): void
}

export async function runWorld<T>(world: RunnableWorld<T>): Promise<T> {
  const unhandled = (error: unknown) => world.broken(error)
  process.on('unhandledRejection', unhandled)
  try {
    return await timeless(() => world.run())
  } finally {
    process.off('unhandledRejection', unhandled)
  }
}

/** Time as one node sees it, as long as it lives: its clock is off by `skew` milliseconds, and its timers run at `rate`. */
export class NodeTime implements Clock, Timers {
  readonly #agenda: Agenda
  readonly #alive: () => boolean
  readonly #skew: number
  readonly #rate: number

  constructor(agenda: Agenda, alive: () => boolean, skew: number, rate: number) {
    this.#agenda = agenda
    this.#alive = alive
    this.#skew = skew
    this.#rate = rate
  }

  now(): number {
    return Math.floor(this.#agenda.now() + this.#skew)
  }

  after(milliseconds: number, callback: () => void): () => void {
    if (!this.#alive()) return () => {}
    return this.#agenda.after(Math.max(0, milliseconds) / this.#rate, () => {
      if (this.#alive()) callback()
    })
  }
}

function before(a: Scheduled, b: Scheduled): boolean {
  if (a.time !== b.time) return a.time < b.time
  return a.tie === b.tie ? a.order < b.order : a.tie < b.tie
}

function push(heap: Scheduled[], event: Scheduled): void {
  let place = heap.length
  for (; place > 0;) {
    const above = (place - 1) >>> 1
    if (!before(event, heap[above] as Scheduled)) break
    heap[place] = heap[above] as Scheduled
    place = above
  }
  heap[place] = event
}

function pop(heap: Scheduled[]): void {
  const last = heap.pop() as Scheduled
  if (heap.length === 0) return
  let place = 0
  for (let child = 1; child < heap.length; child = 2 * place + 1) {
    if (child + 1 < heap.length && before(heap[child + 1] as Scheduled, heap[child] as Scheduled)) child++
    if (!before(heap[child] as Scheduled, last)) break
    heap[place] = heap[child] as Scheduled
    place = child
  }
  heap[place] = last
}
