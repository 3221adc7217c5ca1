import { setImmediate as nextTurn } from 'node:timers/promises'

/** Longest the event loop is held by work that can be divided, in milliseconds. */
const slice = 4

/** Calls `step` until it says false, letting other work in between slices. */
export async function inSlices(step: () => boolean): Promise<void> {
  let started = performance.now()
  while (step()) {
    if (performance.now() - started < slice) continue
    await nextTurn()
    started = performance.now()
  }
}

/** Runs through steps to their end, letting other work in between slices. */
export async function runInSlices(steps: Iterator<unknown>): Promise<void> {
  await inSlices(() => steps.next().done !== true)
}

/** Does something for every item, letting other work in between slices. */
export async function eachInSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  const rest = items[Symbol.iterator]()
  await inSlices(() => {
    const next = rest.next()
    if (next.done === true) return false
    work(next.value)
    return true
  })
}
