/** Changes after which the iterator is renewed. */
const renewed = 4096

/** A map of at most `capacity` entries; the least recently used one makes room. */
export class LruMap<Value> {
  readonly #entries = new Map<string, Value>()
  /**
   * One iterator for many changes: a new one steps over the slots of all deleted entries. Not for ever: V8 keeps every table that the
   * map has outgrown since its iterator moved last, which is only when the map is full.
   */
  #oldest = this.#entries.keys()
  #changes = 0
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#entries.size
  }

  /** The value of `key`, which becomes the most recently used. */
  get(key: string): Value | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#put(key, value)
    return value
  }

  /** The value of `key`, which stays as old as it is. */
  peek(key: string): Value | undefined {
    return this.#entries.get(key)
  }

  set(key: string, value: Value): void {
    this.#put(key, value)
    if (this.#entries.size > this.#capacity) this.#entries.delete(this.#oldest.next().value as string)
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#changed()
  }

  clear(): void {
    this.#entries.clear()
    this.#changed()
  }

  /** Puts an entry behind all others. */
  #put(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    this.#changed()
  }

  #changed(): void {
    if (++this.#changes < renewed) return
    this.#changes = 0
    this.#oldest = this.#entries.keys()
  }
}
