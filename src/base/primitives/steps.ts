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
  const steps = nothing()
  steps.next()
  return steps
}

function* nothing(): Steps {}

/** Calls `work` for every item, with a pause after so many of them; for few short items at once. */
export function eachSteps<T>(items: Iterable<T>, work: (item: T, index: number) => void, together = 1): Steps {
  if (!Array.isArray(items) || items.length > few) return manySteps(items, work, together)
  for (let i = 0; i < items.length; i++) work(items[i] as T, i)
  return noSteps
}

function* manySteps<T>(items: Iterable<T>, work: (item: T, index: number) => void, together: number): Steps {
  let index = 0
  if (Array.isArray(items)) {
    while (index < items.length) {
      work(items[index] as T, index++)
      if (index % together === 0) yield
    }
    return
  }
  for (const item of items) {
    work(item, index++)
    if (index % together === 0) yield
  }
}

/** {@link eachSteps} of two lists, one after the other. */
export function bothSteps<T>(first: readonly T[], second: readonly T[], work: (item: T) => void, together = 1): Steps {
  if (first.length + second.length > few) return oneByOne(first, second, work, together)
  for (let i = 0; i < first.length; i++) work(first[i] as T)
  for (let i = 0; i < second.length; i++) work(second[i] as T)
  return noSteps
}

function* oneByOne<T>(first: readonly T[], second: readonly T[], work: (item: T) => void, together: number): Steps {
  yield* manySteps(first, work, together)
  yield* manySteps(second, work, together)
}

/** {@link eachSteps} of the entries of a map. */
export function* entrySteps<K, V>(map: ReadonlyMap<K, V>, work: (value: V, key: K) => void, together = 1): Steps {
  const rest = map.keys()
  while (someEntries(map, rest, work, together)) yield
}

/** Works on the next entries; returns whether there may be more. In a generator V8 would make an object for each. */
function someEntries<K, V>(
  map: ReadonlyMap<K, V>,
  rest: Iterator<K>,
  work: (value: V, key: K) => void,
  count: number,
): boolean {
  for (let left = count; left > 0; left--) {
    const next = rest.next()
    if (next.done === true) return false
    // By keys: an array for each entry would be most of the garbage of a block.
    work(map.get(next.value) as V, next.value)
  }
  return true
}

/** A part of ordered work: `each` for every number below `count`. */
export interface Phase<T> {
  count(of: T): number
  each(of: T, index: number): void
}

/** Runs phases in their order, each to its end before the next. */
export function runPhases<T>(of: T, phases: readonly Phase<T>[]): void {
  for (let p = 0; p < phases.length; p++) {
    const phase = phases[p] as Phase<T>
    for (let i = 0, count = phase.count(of); i < count; i++) phase.each(of, i)
  }
}

/** {@link runPhases} with a pause after so many items. */
export function* phaseSteps<T>(of: T, phases: readonly Phase<T>[], together: number): Steps {
  for (const phase of phases) {
    for (let i = 0, count = phase.count(of); i < count; i++) {
      phase.each(of, i)
      if (i % together === together - 1) yield
    }
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
