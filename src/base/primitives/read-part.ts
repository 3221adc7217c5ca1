import { mapKeyOf } from './bytes.js'
import { type Reader, uint16, uint32, uint64 } from './codec.js'

/** Method that `console.log` and `util.inspect` of Node call, if there is one. */
export const inspect = Symbol.for('nodejs.util.inspect.custom')

/**
 * A part of a transaction that was read. It holds its place in the bytes, and its fields are getters: a block has thousands of parts, and
 * views of all their fields would take several times the memory of the bytes. To copy one, name its fields.
 */
export abstract class ReadPart {
  readonly #source: Uint8Array
  readonly #at: number

  /** Goes past so many bytes at the reader's position. */
  constructor(reader: Reader, size: number) {
    this.#source = reader.bytes
    this.#at = reader.advance(size)
  }

  /** A view of bytes behind its beginning, as are the offsets of all below. */
  protected view(start: number, end: number): Uint8Array {
    return this.#source.subarray(this.#at + start, this.#at + end)
  }

  /** `mapKey` of the bytes of {@link view}. */
  protected text(start: number, end: number): string {
    return mapKeyOf(this.#source, this.#at + start, this.#at + end)
  }

  protected u16(offset: number): number {
    return uint16(this.#source, this.#at + offset)
  }

  protected u32(offset: number): number {
    return uint32(this.#source, this.#at + offset)
  }

  protected i64(offset: number): bigint {
    return BigInt.asIntN(64, uint64(this.#source, this.#at + offset))
  }

  /** Shows the fields to people. */
  [inspect](): object {
    const names: string[] = []
    for (let from = Object.getPrototypeOf(this); from !== ReadPart.prototype; from = Object.getPrototypeOf(from)) {
      names.unshift(...Object.getOwnPropertyNames(from).filter((name) => name !== 'constructor'))
    }
    return Object.fromEntries(names.map((name) => [name, this[name as keyof this]]))
  }
}
