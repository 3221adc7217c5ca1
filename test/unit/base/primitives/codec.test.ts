import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import type { Reader } from '../../../../src/base/primitives/codec.js'
import { CodecError, decodeAll, Writer } from '../../../../src/base/primitives/codec.js'
import { bytes, i64, runs, text, u16, u32, u8 } from '../../../support/builders/arbitraries.js'
import { plainForm } from '../../../support/assert/plain-form.js'

/** Every primitive with how it is written and read back. */
const primitive = fc.oneof(
  u8.map((value) => ({ value, write: (w: Writer) => w.u8(value), read: (r: Reader): unknown => r.u8() })),
  u16.map((value) => ({ value, write: (w: Writer) => w.u16(value), read: (r: Reader): unknown => r.u16() })),
  u32.map((value) => ({ value, write: (w: Writer) => w.u32(value), read: (r: Reader): unknown => r.u32() })),
  fc
    .bigInt({ min: 0n, max: (1n << 64n) - 1n })
    .map((value) => ({ value, write: (w: Writer) => w.u64(value), read: (r: Reader): unknown => r.u64() })),
  i64.map((value) => ({ value, write: (w: Writer) => w.i64(value), read: (r: Reader): unknown => r.i64() })),
  fc.maxSafeNat().map((value) => ({
    value,
    write: (w: Writer) => w.varuint(value),
    read: (r: Reader): unknown => r.varuint(Number.MAX_SAFE_INTEGER),
  })),
  bytes(0, 300).map((value) => ({
    value,
    write: (w: Writer) => w.varbytes(value),
    read: (r: Reader): unknown => r.varbytes(300),
  })),
  text.map((value) => ({
    value,
    write: (w: Writer) => w.varstring(value),
    read: (r: Reader): unknown => r.varstring(100),
  })),
  fc.array(u16, { maxLength: 5 }).map((value) => ({
    value,
    write: (w: Writer) => w.list(value, (item) => w.u16(item)),
    read: (r: Reader): unknown => r.list(5, 2, () => r.u16()),
  })),
)

const decode = <T>(input: Uint8Array, read: (reader: Reader) => T) =>
  decodeAll(input, read, (reason) => new CodecError(reason))

function refused(run: () => unknown): boolean {
  try {
    run()
    return false
  } catch (error) {
    return error instanceof CodecError
  }
}

describe('writer and reader', () => {
  it('agree on any sequence of primitives, whatever the first capacity', () => {
    fc.assert(
      fc.property(fc.array(primitive, { maxLength: 8 }), fc.nat({ max: 16 }), (list, capacity) => {
        const writer = new Writer(capacity)
        for (const { write } of list) write(writer)
        const written = writer.finish()
        expect(plainForm(decode(written, (reader) => list.map(({ read }) => read(reader))))).toEqual(
          plainForm(list.map(({ value }) => value)),
        )
        // Cheaper than expect, which matters here.
        for (let length = 0; length < written.length; length++) {
          const shorter = written.subarray(0, length)
          if (!refused(() => decode(shorter, (reader) => list.map(({ read }) => read(reader))))) return false
        }
        return true
      }),
      runs,
    )
  })

  it('grow the buffer for bytes that do not fit', () => {
    // The buffer was once replaced between looking it up and writing to it.
    const long = new Uint8Array(1000).fill(7)
    expect(toHex(new Writer(4).u16(1).bytes(long).u8(9).finish())).toBe(`0100${'07'.repeat(1000)}09`)
  })

  it('give copies: writing on does not change what was finished', () => {
    const writer = new Writer(8).u8(1)
    const first = writer.finish()
    writer.u8(2)
    expect(toHex(first)).toBe('01')
    expect(toHex(writer.finish())).toBe('0102')
  })

  it('are little-endian', () => {
    expect(toHex(new Writer().u16(1).u32(2).u64(3n).i64(-2n).finish())).toBe(
      '0100' + '02000000' + '0300000000000000' + 'feffffffffffffff',
    )
  })
})

describe('compact sizes', () => {
  it.each([
    [0, '00'],
    [0xfc, 'fc'],
    [0xfd, 'fdfd00'],
    [0xffff, 'fdffff'],
    [0x10000, 'fe00000100'],
    [0xffffffff, 'feffffffff'],
    [0x100000000, 'ff0000000001000000'],
    [Number.MAX_SAFE_INTEGER, 'ffffffffffffff1f00'],
  ])('write %i as %s', (value, expected) => {
    const written = new Writer().varuint(value).finish()
    expect(toHex(written)).toBe(expected)
    expect(decode(written, (reader) => reader.varuint(Number.MAX_SAFE_INTEGER))).toBe(value)
  })

  it.each(['fd0000', 'fdfc00', 'fe00000000', 'feffff0000', 'ff0000000000000000', 'ffffffffff00000000'])(
    'refuse %s, which is longer than needed',
    (form) => {
      const input = Buffer.from(form, 'hex')
      expect(() => decode(input, (reader) => reader.varuint(Number.MAX_SAFE_INTEGER))).toThrow('shortest form')
    },
  )

  it('are refused in every longer form of any value', () => {
    fc.assert(
      fc.property(u32, (value) => {
        const longer = [new Writer().u8(0xff).u64(BigInt(value))]
        if (value < 0x10000) longer.push(new Writer().u8(0xfe).u32(value))
        if (value < 0xfd) longer.push(new Writer().u8(0xfd).u16(value))
        for (const writer of longer) {
          expect(() => decode(writer.finish(), (reader) => reader.varuint(0xffffffff))).toThrow('shortest form')
        }
      }),
      runs,
    )
  })

  it('are refused above the bound of their place', () => {
    const input = new Writer().varuint(300).finish()
    expect(decode(input, (reader) => reader.varuint(300))).toBe(300)
    expect(() => decode(input, (reader) => reader.varuint(299))).toThrow('at most 299')
    const huge = Buffer.from('ffffffffffffffffff', 'hex')
    expect(() => decode(huge, (reader) => reader.varuint(Number.MAX_SAFE_INTEGER))).toThrow('18446744073709551615')
  })
})

describe('counts', () => {
  it('are refused before an item is read when the input cannot hold them', () => {
    let read = 0
    const input = new Writer().varuint(0xffff).bytes(new Uint8Array(0xfffe)).finish()
    expect(() => decode(input, (reader) => reader.list(0xffff, 1, () => read++))).toThrow('do not fit')
    expect(() => decode(input, (reader) => reader.items(0xffffffff, 1, () => read++))).toThrow('do not fit')
    expect(read).toBe(0)
  })
})

describe('writer', () => {
  it('fills given memory again and again, and nothing beyond it', () => {
    const memory = new Uint8Array(8)
    const writer = Writer.over(memory.subarray(2, 6))
    for (const value of [0x01020304, 0xfffefdfc]) {
      writer.restart().u32(value)
      expect(toHex(memory)).toBe(`0000${toHex(new Writer().u32(value).finish())}0000`)
    }
    expect(() => writer.u8(1)).toThrow(RangeError)
    expect(() => writer.restart().u16(1).u32(1)).toThrow(/the 4 bytes/)
    expect(toHex(writer.restart().u32(7).finish())).toBe('07000000')
  })

  it.each<[string, (w: Writer) => unknown]>([
    ['u8', (w) => w.u8(0x100)],
    ['u8', (w) => w.u8(-1)],
    ['u16', (w) => w.u16(0x10000)],
    ['u32', (w) => w.u32(2 ** 32)],
    ['u32', (w) => w.u32(NaN)],
    ['u64', (w) => w.u64(1n << 64n)],
    ['u64', (w) => w.u64(-1n)],
    ['i64', (w) => w.i64(1n << 63n)],
    ['i64', (w) => w.i64(-(1n << 63n) - 1n)],
  ])('refuses what is beyond %s', (_, write) => {
    expect(() => write(new Writer())).toThrow(RangeError)
  })

  it.each([0n, (1n << 53n) - 1n, 1n << 53n, (1n << 63n) - 1n, 1n << 63n, (1n << 64n) - 1n])('keeps %d', (value) => {
    const written = new Writer().u64(value).finish()
    expect(Buffer.from(written).readBigUInt64LE()).toBe(value)
    expect(decode(written, (reader) => reader.u64())).toBe(value)
    expect(decode(written, (reader) => reader.i64())).toBe(BigInt.asIntN(64, value))
  })
})

describe('decodeAll', () => {
  it('wants all bytes used and says where it stopped', () => {
    expect(() => decode(Uint8Array.of(1, 2), (reader) => reader.u8())).toThrow('at byte 1: 1 bytes follow the end')
    expect(() => decode(Uint8Array.of(1), (reader) => reader.u16())).toThrow('at byte 0: the bytes end')
  })

  it('wants exact lengths where they are fixed', () => {
    const read = (reader: Reader) => reader.fixedbytes(2)
    expect(toHex(decode(Uint8Array.of(2, 7, 8), read))).toBe('0708')
    expect(() => decode(Uint8Array.of(1, 7), read)).toThrow('1 bytes where 2 belong')
    expect(() => decode(Uint8Array.of(3, 7, 8, 9), read)).toThrow('at most 2')
  })

  it('passes on errors that are not about the form', () => {
    const boom = new Error('boom')
    expect(() =>
      decode(Uint8Array.of(1), () => {
        throw boom
      }),
    ).toThrow(boom)
  })
})
