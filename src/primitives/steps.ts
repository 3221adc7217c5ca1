/** Work in short steps: the caller runs them all, and may let other work run in between. */
export type Steps<T = void> = Generator<undefined, T>

/** Runs steps to their end without a pause and returns their result. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Calls `work` for every item, with a pause after so many of them. */
export function* eachSteps<T>(items: Iterable<T>, work: (item: T, index: number) => void, together = 1): Steps {
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
