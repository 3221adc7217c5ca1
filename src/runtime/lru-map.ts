/** A map of at most `capacity` entries; the least recently used one makes room. */
export class LruMap<Value> {
  readonly #entries = new Map<string, Value>()
  /** One iterator for the map's lifetime: a new one would step over the slots of all deleted entries. */
  readonly #oldest = this.#entries.keys()
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
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  /** The value of `key`, which stays as old as it is. */
  peek(key: string): Value | undefined {
    return this.#entries.get(key)
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#capacity) this.#entries.delete(this.#oldest.next().value as string)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
