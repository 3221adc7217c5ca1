/** Bytes counted for an entry beside its value and the characters of its key, so that empty values are bounded too. */
export const entryOverhead = 300

interface Entry<Value> {
  readonly value: Value
  readonly bytes: number
  /** The count of moves when it was put behind all others. */
  moved: number
}

/** Cache of values, bounded by their bytes; evicts one of the quarter that is unused for longest, or of few the least recently used. */
export class ByteCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #capacity: number
  #bytes = 0
  #moves = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get entries(): number {
    return this.#entries.size
  }

  /** Bytes of all entries: values as given to {@link set}, keys, {@link entryOverhead}. */
  get bytes(): number {
    return this.#bytes
  }

  /** The value of `key`, which becomes the most recently used. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    // Moving it takes longer than finding it: one of the newest quarter stays where it is.
    if (this.#moves - entry.moved > this.#entries.size >> 2) this.#put(key, entry)
    return entry.value
  }

  /** Keeps a value that takes about `bytes`; an entry larger than an eighth of the cache is not kept. */
  set(key: string, value: Value, bytes: number): void {
    this.delete(key)
    const counted = bytes + key.length + entryOverhead
    if (counted > this.#capacity / 8) return
    this.#put(key, { value, bytes: counted, moved: 0 })
    this.#bytes += counted
    while (this.#bytes > this.#capacity) this.delete(this.#entries.keys().next().value as string)
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }

  /** Puts an entry behind all others. */
  #put(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.moved = ++this.#moves
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }
}
