/** Cache of values, bounded by their bytes; evicts the least recently used. */
export class ByteCache<Value> {
  readonly #entries = new Map<string, { value: Value; bytes: number }>()
  readonly #capacity: number
  #bytes = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Bytes of all values, as given to {@link set}. */
  get bytes(): number {
    return this.#bytes
  }

  /** The value of `key`, which becomes the most recently used. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Keeps a value that takes about `bytes`; one larger than an eighth of the cache is not kept. */
  set(key: string, value: Value, bytes: number): void {
    this.delete(key)
    if (bytes > this.#capacity / 8) return
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
    while (this.#bytes > this.#capacity) this.delete(this.#entries.keys().next().value as string)
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }
}
