import type { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers'
import { setImmediate as giveWay } from 'node:timers/promises'

/** Longest the event loop is held by work that can be divided, in milliseconds. */
const slice = 4

/** Whether a connection was accepted in this turn of the event loop. */
let accepted = false

/**
 * Divided work lets a server's connections in first. libuv accepts one in a turn of the event loop: a client behind 300
 * others would wait for 300 slices.
 */
export function acceptBetweenSlices(server: EventEmitter): void {
  server.on('connection', () => {
    accepted = true
    setImmediate(() => (accepted = false))
  })
}

/** Resolves in a later turn of the event loop: one that accepted no connection, or one after as long as a slice. */
export async function nextTurn(): Promise<void> {
  await giveWay()
  const since = performance.now()
  while (accepted && performance.now() - since < slice) await giveWay()
}

/** When divided work began in this turn of the event loop; undefined where none has. */
let begun: number | undefined

/** All divided work of one turn of the event loop shares one slice, however many pieces of work there are. */
function turnBegan(): number {
  if (begun === undefined) {
    begun = performance.now()
    // Runs before all that gives way in this turn and goes on in the next one.
    setImmediate(() => (begun = undefined))
  }
  return begun
}

/** A stretch of work that takes turns with all other work. */
export class Yielder {
  constructor() {
    turnBegan()
  }

  /** Whether it is time for others. */
  get over(): boolean {
    return performance.now() - turnBegan() >= slice
  }

  /** Resolves when the others had their turn. */
  async next(): Promise<void> {
    await nextTurn()
  }

  /** Runs through steps to their end and returns what they return. */
  async run<T>(steps: Iterator<unknown, T>): Promise<T> {
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      if (this.over) await this.next()
    }
  }
}

/** Calls `step` until it says false, letting other work in between slices. */
export async function cooperate(step: () => boolean): Promise<void> {
  const turns = new Yielder()
  while (step()) if (turns.over) await turns.next()
}

/** Runs through steps to their end, letting other work in between slices, and returns what they return. */
export async function runCooperatively<T>(steps: Iterator<unknown, T>): Promise<T> {
  let last: IteratorResult<unknown, T>
  await cooperate(() => (last = steps.next()).done !== true)
  return last!.value as T
}

/** Does something for every item, letting other work in between slices. */
export async function forEachCooperatively<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  const rest = items[Symbol.iterator]()
  await cooperate(() => {
    const next = rest.next()
    if (next.done === true) return false
    work(next.value)
    return true
  })
}
