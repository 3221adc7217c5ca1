/** Reads LevelDB's variable-length integers and length-prefixed bytes; throws a RangeError past the end of the bytes. */
export class LevelReader {
  at = 0

  constructor(readonly bytes: Uint8Array) {}

  get done(): boolean {
    return this.at >= this.bytes.length
  }

  /** 7 bits a byte, lowest first. Loses digits above 2^53: no file offset or number is as high. */
  varint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.bytes[this.at++]
      if (byte === undefined || factor > 2 ** 63) throw new RangeError('an integer without an end')
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new RangeError('bytes beyond the end')
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }

  /** Bytes after their length. */
  varbytes(): Uint8Array {
    return this.take(this.varint())
  }
}

/** An integer below 2^53, 7 bits a byte, lowest first. */
export function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
}
