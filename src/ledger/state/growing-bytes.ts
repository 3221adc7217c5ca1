/** Bytes in one piece of memory, which doubles as they grow: many small arrays would take several times as much. */
export class GrowingBytes {
  #memory = Buffer.alloc(0)
  length = 0

  add(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#memory.length) {
      const larger = Buffer.allocUnsafe(Math.max(1024, this.length + bytes.length, 2 * this.#memory.length))
      this.#memory.copy(larger, 0, 0, this.length)
      this.#memory = larger
    }
    this.#memory.set(bytes, this.length)
    this.length += bytes.length
  }

  /** A view, which stays as it is when more is added. */
  part(start: number, end: number): Buffer {
    return this.#memory.subarray(start, Math.min(end, this.length))
  }
}
