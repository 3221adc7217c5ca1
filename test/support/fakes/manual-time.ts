import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock, Timers } from '../../../src/base/runtime/env.js'

interface Alarm {
  readonly time: number
  callback: (() => void) | undefined
}

/** Time that goes on only when a test says so, for any number of parts at once: a clock with its timers. */
export class ManualTime implements Clock, Timers {
  #now: number
  /** In the order in which they go off. */
  readonly #alarms: Alarm[] = []

  /** Begins at so many Unix milliseconds. */
  constructor(start = 1_800_000_000_000) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(milliseconds: number, callback: () => void): () => void {
    const alarm: Alarm = { time: this.#now + Math.max(0, milliseconds), callback }
    let [low, high] = [0, this.#alarms.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#alarms[middle] as Alarm).time <= alarm.time) low = middle + 1
      else high = middle
    }
    this.#alarms.splice(low, 0, alarm)
    return () => (alarm.callback = undefined)
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#alarms.filter(({ callback }) => callback !== undefined).length
  }

  /** Lets time go on; whatever the timers of one moment set off comes to rest before the next moment. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    await rest()
    for (;;) {
      const next = this.#alarms[0]
      if (next === undefined || next.time > end) break
      this.#alarms.shift()
      if (next.callback === undefined) continue
      this.#now = Math.max(this.#now, next.time)
      next.callback()
      if (this.#alarms[0]?.time !== next.time) await rest()
    }
    this.#now = end
  }
}

/** Resolves when what goes on in memory alone has come to rest: answers of a memory store take some turns. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await nextTurn()
}
