import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareBytes,
  compareLittleEndian,
  concat,
  displayHash,
  equalBytes,
  fromHex,
  fromUtf8,
  hex,
  joined,
  littleEndianInteger,
  mapKey,
  parseDisplayHash,
  pieces,
  reversed,
  toHex,
  utf8,
} from '../../../../src/base/primitives/bytes.js'
import { Writer } from '../../../../src/base/primitives/codec.js'
import { bytes, hash, runs, text } from '../../../support/builders/arbitraries.js'

describe('hex', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(bytes(0, 50), (value) => {
        const written = toHex(value)
        expect(written).toMatch(/^([0-9a-f]{2})*$/)
        expect(equalBytes(fromHex(written) as Uint8Array, value)).toBe(true)
        expect(equalBytes(hex(written.toUpperCase()), value)).toBe(true)
      }),
      runs,
    )
  })

  it.each(['0', '0g', ' 00', '00\n', '0x00', '００'])('refuses %j', (wrong) => {
    expect(fromHex(wrong)).toBeUndefined()
    expect(() => hex(wrong)).toThrow(TypeError)
  })
})

describe('display hashes', () => {
  it('are the reversed hex, and come back', () => {
    fc.assert(
      fc.property(hash, (value) => {
        expect(displayHash(value)).toBe(toHex(reversed(value)))
        expect(toHex(parseDisplayHash(displayHash(value)) as Uint8Array)).toBe(toHex(value))
        expect(toHex(parseDisplayHash(displayHash(value).toUpperCase()) as Uint8Array)).toBe(toHex(value))
      }),
      runs,
    )
    expect(displayHash(concat(Uint8Array.of(1), new Uint8Array(31)))).toBe(`${'00'.repeat(31)}01`)
  })

  it.each(['', '00'.repeat(31), '00'.repeat(33), `${'00'.repeat(31)}0g`])('refuse %j', (wrong) => {
    expect(parseDisplayHash(wrong)).toBeUndefined()
  })
})

describe('orders', () => {
  it('read from the front, or as little-endian integers', () => {
    fc.assert(
      fc.property(bytes(20), bytes(20), (a, b) => {
        const [x, y] = [littleEndianInteger(a), littleEndianInteger(b)]
        expect(compareLittleEndian(a, b)).toBe(x < y ? -1 : x > y ? 1 : 0)
        expect(compareBytes(reversed(a), reversed(b))).toBe(compareLittleEndian(a, b))
        expect(compareLittleEndian(a, a)).toBe(0)
      }),
      runs,
    )
    expect(compareLittleEndian(Uint8Array.of(9, 1), Uint8Array.of(1, 2))).toBe(-1)
    expect(littleEndianInteger(Uint8Array.of(1, 2))).toBe(0x0201n)
    expect(littleEndianInteger(new Uint8Array(0))).toBe(0n)
  })

  it('reversing copies', () => {
    const value = Uint8Array.of(1, 2, 3)
    expect([...reversed(value)]).toEqual([3, 2, 1])
    expect([...value]).toEqual([1, 2, 3])
  })
})

describe('parts', () => {
  const part = fc.oneof(bytes(0, 40), fc.integer({ min: 0, max: 0xffffffff }))

  it('are joined as a writer would write them', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const writer = new Writer()
        for (const one of parts) {
          if (typeof one === 'number') writer.u32(one)
          else writer.bytes(one)
        }
        return equalBytes(joined(...parts), writer.finish())
      }),
      runs,
    )
  })

  it.each([-1, 2 ** 32, NaN])('are not joined with %d, which four bytes do not hold', (wrong) => {
    expect(() => joined(Uint8Array.of(1), wrong)).toThrow(RangeError)
  })

  it('are cut as they were joined', () => {
    fc.assert(
      fc.property(fc.array(hash, { maxLength: 6 }), (hashes) => {
        expect(pieces(joined(...hashes), 32).map(toHex)).toEqual(hashes.map(toHex))
      }),
      runs,
    )
  })
})

describe('map keys', () => {
  it('are equal exactly for equal bytes', () => {
    fc.assert(
      fc.property(bytes(0, 3), bytes(0, 3), (a, b) => (mapKey(a) === mapKey(b)) === equalBytes(a, b)),
      runs,
    )
  })
})

describe('UTF-8', () => {
  it('comes back as it was, a BOM and U+0000 included', () => {
    fc.assert(
      fc.property(text, (value) => utf8(fromUtf8(value)) === value),
      runs,
    )
    expect(utf8(hex('efbbbf61'))).toBe('\ufeffa')
  })

  it('is refused or exact for any bytes', () => {
    fc.assert(
      fc.property(bytes(0, 6), (value) => {
        const decoded = utf8(value)
        return decoded === undefined || equalBytes(fromUtf8(decoded), value)
      }),
      runs,
    )
  })
})
