import type { Steps } from '../../base/primitives/steps.js'

/** Items looked at in one step. */
const itemsAtOnce = 64

/** An item of a heap. */
export interface Placed {
  /** Index in its heap, kept by the heap; -1 outside of it. */
  place: number
}

/** Binary heap: holds its first item at the top, while any of them come, go and change. */
export class Heap<T extends Placed> {
  readonly #items: T[] = []
  readonly #before: (a: T, b: T) => boolean

  /** `before`: whether one item precedes another. */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before
  }

  /** A heap of items, which are in no other one. */
  static *of<T extends Placed>(items: Iterable<T>, before: (a: T, b: T) => boolean): Steps<Heap<T>> {
    const heap = new Heap<T>(before)
    for (const item of items) {
      item.place = heap.#items.length
      if (heap.#items.push(item) % itemsAtOnce === 0) yield
    }
    for (let i = (heap.#items.length >>> 1) - 1; i >= 0; i--) {
      heap.#sink(heap.#items[i] as T)
      if (i % itemsAtOnce === 0) yield
    }
    return heap
  }

  /** Undefined when empty. */
  get first(): T | undefined {
    return this.#items[0]
  }

  add(item: T): void {
    item.place = this.#items.length
    this.#items.push(item)
    this.#rise(item)
  }

  /** Removes an item; one that is not there changes nothing. */
  remove(item: T): void {
    const { place } = item
    if (place < 0) return
    item.place = -1
    const last = this.#items.pop() as T
    if (last === item) return
    this.#put(last, place)
    this.moved(last)
  }

  /** Puts an item of the heap where it belongs after a change of it. */
  moved(item: T): void {
    this.#rise(item)
    this.#sink(item)
  }

  #put(item: T, place: number): void {
    this.#items[place] = item
    item.place = place
  }

  /** Swaps an item with parents that it precedes. */
  #rise(item: T): void {
    let { place } = item
    while (place > 0) {
      const above = (place - 1) >>> 1
      const parent = this.#items[above] as T
      if (!this.#before(item, parent)) break
      this.#put(parent, place)
      place = above
    }
    this.#put(item, place)
  }

  /** Swaps an item with children that precede it. */
  #sink(item: T): void {
    const items = this.#items
    let { place } = item
    for (let child = 2 * place + 1; child < items.length; child = 2 * place + 1) {
      const right = child + 1
      if (right < items.length && this.#before(items[right] as T, items[child] as T)) child = right
      if (!this.#before(items[child] as T, item)) break
      this.#put(items[child] as T, place)
      place = child
    }
    this.#put(item, place)
  }
}
