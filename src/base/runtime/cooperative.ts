/**
 * Divides long work so that other work gets the event loop; the room holds what belongs to the process, not to a chain.
 *
 *   steps of a generator, or items
 *     -> runCooperatively, forEachCooperatively, cooperate    run step after step
 *     -> Yielder.over                                         are the 3 ms of this turn used up?
 *        yes -> nextTurn: timers, sockets, new connections    then the next step
 *     -> result of the last step
 *
 * Imports errors; used by all rooms except errors, did, credentials, proofs, verifier, light, did-index, identifiers and consensus. Pure rooms yield steps, and never wait.
 * - All divided work in one turn of the event loop shares one slice, however much of it there is. Pieces that waited for the turn get
 *   equal parts of it, and at least a step each: none takes the time of others, however long its own work is.
 * - A step is never interrupted, but anything may change between two: callers compare the tip afterwards.
 * - A flood of new connections delays the next slice by no more than one slice.
 */
import type { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers'
import { setImmediate as giveWay } from 'node:timers/promises'

/** Maximum milliseconds that divided work holds the event loop. */
const slice = 3

/** Whether a connection was accepted in this turn of the event loop. */
let accepted = false

/**
 * Lets divided work wait for new connections of a server. libuv accepts one per turn of the event loop: a client behind 300
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

/** Start of divided work in this turn of the event loop; undefined if there was none. */
let begun: number | undefined

/** Start of the slice that all divided work in one turn of the event loop shares. */
function turnBegan(): number {
  if (begun === undefined) {
    begun = performance.now()
    // Runs before anything that yields in this turn and continues in the next one.
    setImmediate(() => (begun = undefined))
  }
  return begun
}

/** Continues each piece of work that waits for the next turn, for its part of the slice in milliseconds. */
const queue: ((part: number) => void)[] = []

async function resumeAll(): Promise<void> {
  await nextTurn()
  const due = queue.splice(0)
  for (const resume of due) {
    resume(slice / due.length)
    await pause()
  }
}

/** Resolves once all that is resolved so far has continued, in the same turn. */
function pause(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

/** Maximum steps between two looks at the clock: each look takes as long as a short step. */
const strideAtMost = 16
/** Milliseconds between two looks below which the next ones may be further apart. */
const shortStride = 0.05

/** Divides a stretch of work so that other work gets the event loop between slices. */
export class Yielder {
  #stride = 1
  #left = 1
  #looked: number
  /** Start of the turn in which the work runs. */
  #turn: number
  /** When its part of that turn's slice began, and the milliseconds of that part. */
  #from: number
  #part = slice

  constructor() {
    this.#looked = this.#turn = this.#from = turnBegan()
  }

  /** Whether the part of the slice is used up; to be asked after each step. */
  get over(): boolean {
    if (--this.#left > 0) return false
    const now = performance.now()
    this.#stride = now - this.#looked < shortStride ? Math.min(2 * this.#stride, strideAtMost) : 1
    this.#left = this.#stride
    this.#looked = now
    const turn = turnBegan()
    // It waited for something else.
    if (turn !== this.#turn) this.#begin(turn, turn, slice)
    return now - this.#from >= this.#part
  }

  /** Resolves once other work had the event loop. */
  async next(): Promise<void> {
    const part = await new Promise<number>((resolve) => {
      if (queue.push(resolve) === 1) void resumeAll()
    })
    this.#begin(turnBegan(), performance.now(), part)
  }

  #begin(turn: number, from: number, part: number): void {
    this.#turn = turn
    this.#from = from
    this.#part = part
  }

  /** Runs through steps to their end and returns their result. */
  async run<T>(steps: Iterator<unknown, T>): Promise<T> {
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      if (this.over) await this.next()
    }
  }
}

/** Calls `step` until it returns false; other work runs between slices. */
export async function cooperate(step: () => boolean): Promise<void> {
  const yielder = new Yielder()
  while (step()) if (yielder.over) await yielder.next()
}

/** Runs through steps to their end and returns their result; other work runs between slices. */
export async function runCooperatively<T>(steps: Iterator<unknown, T>): Promise<T> {
  let last: IteratorResult<unknown, T>
  await cooperate(() => (last = steps.next()).done !== true)
  return last!.value as T
}

/** Calls `work` for every item; other work runs between slices. */
export async function forEachCooperatively<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  const rest = items[Symbol.iterator]()
  await cooperate(() => {
    const next = rest.next()
    if (next.done === true) return false
    work(next.value)
    return true
  })
}
