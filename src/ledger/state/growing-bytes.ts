/** @tuning bytes: memory that is taken at once */
const pieceSize = 64 * 1024

/** Bytes in a few pieces of memory: many small arrays would take several times as much, and one that grows is there twice while it is copied. */
export class GrowingBytes {
  readonly #pieces: Buffer[] = []
  length = 0

  add(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length;) {
      const at = this.length % pieceSize
      if (at === 0) this.#pieces.push(Buffer.allocUnsafeSlow(pieceSize))
      const some = bytes.subarray(from, from + pieceSize - at)
      this.#pieces.at(-1)?.set(some, at)
      from += some.length
      this.length += some.length
    }
  }

  /** The bytes from an offset to another, up to the last one: a view of them, or a copy where they lie in several pieces. */
  part(start: number, end: number): Buffer {
    const to = Math.min(end, this.length)
    const parts: Buffer[] = []
    for (let at = start; at < to;) {
      const inPiece = at % pieceSize
      const piece = this.#pieces[Math.floor(at / pieceSize)] as Buffer
      const some = piece.subarray(inPiece, inPiece + Math.min(to - at, pieceSize - inPiece))
      parts.push(some)
      at += some.length
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  }
}
