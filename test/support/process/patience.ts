import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { availableParallelism, loadavg } from 'node:os'

/** How long tests wait. A limit ends what hangs: no test passes or fails by it on a machine that is merely slow. */

/**
 * Milliseconds that a test, or a hook, may take where nothing else ran when the tests began: longer than the longest wait, which says what
 * it waited for, and nine times what the longest test takes. Other programs may begin later.
 */
const hang = 500_000
/** Seconds that most waits take on an idle machine at the very most. */
const usual = 30
/** By how much the seconds given for a wait are exceeded before it fails, on an idle machine. */
const slack = 4

/** Programs that want a processor, for each processor; at least 1: by how much the others slow this one down. */
export function busyness(): number {
  return Math.max(1, (loadavg()[0] ?? 0) / availableParallelism())
}

/** Milliseconds of a signature's verification on the machine that bounds of processor time are made for. */
const verification = 0.06

/** How many times as long as that machine this one takes for the same work, at least 1: for bounds of processor time. */
export function slowness(): number {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const message = new Uint8Array(200)
  const signature = sign('sha256', message, privateKey)
  const rounds = Array.from({ length: 10 }, () => {
    const before = processorTime()
    for (let i = 0; i < 50; i++) verify('sha256', message, publicKey, signature)
    return (processorTime() - before) / 50
  })
  return Math.max(1, Math.min(...rounds) / verification)
}

/** Milliseconds after which a test, or a hook, counts as hung. */
export const testPatience = hang * Math.ceil(busyness())
/** Milliseconds after which `expect.poll` gives up. */
export const pollPatience = usual * 1000 * slack * Math.ceil(busyness())

/** The end of a wait. Time that other programs take does not count. */
export class Deadline {
  readonly #limit: number
  #last = performance.now()
  #spent = 0

  /** For what takes an idle machine so many seconds at most. */
  constructor(seconds = usual) {
    this.#limit = seconds * 1000 * slack
  }

  /** Whether the time is over: to be asked again and again, since the load changes meanwhile. */
  get over(): boolean {
    const now = performance.now()
    this.#spent += (now - this.#last) / busyness()
    this.#last = now
    return this.#spent > this.#limit
  }
}

/** Starts to measure: what it returns gives milliseconds since, less the time that other programs took. */
export function stopwatch(): () => number {
  const start = performance.now()
  return () => (performance.now() - start) / busyness()
}

/** Milliseconds of processor time that this process has taken so far. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Looks every few milliseconds until a condition holds; rejects with its name when it never does. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = new Deadline()
  while (!(await holds())) {
    if (deadline.over) throw new Error(`${what}: in vain`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
