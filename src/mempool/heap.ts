import type { Steps } from '../primitives/steps.js'

/** Items looked at in one step. */
const itemsAtOnce = 64

/** Binary heap: takes items in order, the first without a full sort. */
export class Heap<T> {
  readonly #items: T[]
  readonly #before: (a: T, b: T) => boolean

  private constructor(items: T[], before: (a: T, b: T) => boolean) {
    this.#items = items
    this.#before = before
  }

  /** A heap of items. `before`: whether one precedes another. */
  static *of<T>(items: Iterable<T>, before: (a: T, b: T) => boolean): Steps<Heap<T>> {
    const heap = new Heap<T>([], before)
    for (const item of items) if (heap.#items.push(item) % itemsAtOnce === 0) yield
    for (let i = (heap.#items.length >>> 1) - 1; i >= 0; i--) {
      heap.#sink(i)
      if (i % itemsAtOnce === 0) yield
    }
    return heap
  }

  /** First remaining item; undefined when empty. */
  take(): T | undefined {
    const first = this.#items[0]
    const last = this.#items.pop()
    if (this.#items.length > 0) {
      this.#items[0] = last as T
      this.#sink(0)
    }
    return first
  }

  /** Swaps the item at `start` with children that precede it. */
  #sink(start: number): void {
    const items = this.#items
    const item = items[start] as T
    let position = start
    for (let child = 2 * position + 1; child < items.length; child = 2 * position + 1) {
      const right = child + 1
      if (right < items.length && this.#before(items[right] as T, items[child] as T)) child = right
      if (!this.#before(items[child] as T, item)) break
      items[position] = items[child] as T
      position = child
    }
    items[position] = item
  }
}
