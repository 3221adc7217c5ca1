/**
 * Takes items out in order, the first of them at once: unlike a sort, which orders all before it gives any. `before` says
 * whether one comes before another.
 */
export class Heap<T> {
  readonly #items: T[]
  readonly #before: (a: T, b: T) => boolean

  constructor(items: Iterable<T>, before: (a: T, b: T) => boolean) {
    this.#items = [...items]
    this.#before = before
    for (let i = (this.#items.length >>> 1) - 1; i >= 0; i--) this.#sink(i)
  }

  /** The first of those that are left; undefined when there are none. */
  take(): T | undefined {
    const first = this.#items[0]
    const last = this.#items.pop()
    if (this.#items.length > 0) {
      this.#items[0] = last as T
      this.#sink(0)
    }
    return first
  }

  /** Lets the item at `start` change places with children that come before it. */
  #sink(start: number): void {
    const items = this.#items
    const item = items[start] as T
    let place = start
    for (let child = 2 * place + 1; child < items.length; child = 2 * place + 1) {
      const right = child + 1
      if (right < items.length && this.#before(items[right] as T, items[child] as T)) child = right
      if (!this.#before(items[child] as T, item)) break
      items[place] = items[child] as T
      place = child
    }
    items[place] = item
  }
}
