/** Work in short steps: the caller runs them all, and may let other work run in between. */
export type Steps<T = void> = Generator<undefined, T>

/** Runs steps to their end without a pause and returns their result. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Items for which steps would cost more than the work that they divide. */
const few = 8

/** Steps that are over, for work that was done at once. */
export const noSteps: Steps = /* @__PURE__ */ over()

function over(): Steps {
  const steps = (function* () {})()
  steps.next()
  return steps
}

/** Calls `work` for every item, with a pause after so many of them; for few short items at once. */
export function eachSteps<T>(items: Iterable<T>, work: (item: T, index: number) => void, together = 1): Steps {
  if (!Array.isArray(items) || items.length > few) return manySteps(items, work, together)
  for (let i = 0; i < items.length; i++) work(items[i] as T, i)
  return noSteps
}

function* manySteps<T>(items: Iterable<T>, work: (item: T, index: number) => void, together: number): Steps {
  let index = 0
  for (const item of items) {
    work(item, index++)
    if (index % together === 0) yield
  }
}

/** {@link Array.map} with a pause after each item. */
export function* mapSteps<T, R>(items: readonly T[], map: (item: T, index: number) => R): Steps<R[]> {
  const mapped: R[] = []
  for (let i = 0; i < items.length; i++) {
    mapped.push(map(items[i] as T, i))
    yield
  }
  return mapped
}
