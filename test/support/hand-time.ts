import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock, Timers } from '../../src/env.js'

interface Alarm {
  readonly time: number
  readonly callback: () => void
}

/** Time that goes on only when a test says so, for any number of parts at once: a clock with its timers. */
export class HandTime implements Clock, Timers {
  #now: number
  #alarms: Alarm[] = []

  /** Begins at so many Unix milliseconds. */
  constructor(start = 1_800_000_000_000) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(milliseconds: number, callback: () => void): () => void {
    const alarm = { time: this.#now + Math.max(0, milliseconds), callback }
    this.#alarms.push(alarm)
    return () => (this.#alarms = this.#alarms.filter((one) => one !== alarm))
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#alarms.length
  }

  /** Lets time go on; whatever a timer sets off comes to rest before the next one goes off. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    await rest()
    for (;;) {
      const [next] = [...this.#alarms].sort((a, b) => a.time - b.time)
      if (next === undefined || next.time > end) break
      this.#alarms = this.#alarms.filter((one) => one !== next)
      this.#now = Math.max(this.#now, next.time)
      next.callback()
      await rest()
    }
    this.#now = end
  }
}

/** Resolves when what goes on in memory alone has come to rest: answers of a memory store take some turns. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await nextTurn()
}
