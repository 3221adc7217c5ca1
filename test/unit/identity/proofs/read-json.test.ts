import { describe, expect, it } from 'vitest'
import { hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { headerSize } from '../../../../src/base/primitives/header.js'
import * as read from '../../../../src/identity/proofs/read-json.js'

const refused = expect.objectContaining({ failure: 'form' }) as unknown

/** What comes of reading a value. */
function outcome(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}

describe('a whole number', () => {
  it.each([0, 1, 2 ** 32 - 1])('may be %d', (value) => {
    expect(read.whole(value)).toBe(value)
  })

  it.each([-1, 0.5, 1.5, 2 ** 32, Number.NaN, Infinity, -Infinity, '1', null, undefined])('is none: %s', (value) => {
    expect(outcome(() => read.whole(value))).toEqual(refused)
  })
})

describe('what was sent', () => {
  it.each<[string, (sent: unknown) => unknown, unknown, unknown]>([
    ['hex', (sent) => read.hexText(sent, 2), '00af', '00af'],
    ['hex of another length', (sent) => read.hexText(sent, 2), '00a', refused],
    ['hex that is longer', (sent) => read.hexText(sent, 2), '00af00', refused],
    ['hex in capitals', (sent) => read.hexText(sent, 2), '00AF', refused],
    ['no hex', (sent) => read.hexText(sent, 2), '00ag', refused],
    ['base64url', read.base64, 'QQ', 'QQ'],
    ['empty base64url', read.base64, '', ''],
    ['base64url that no bytes have', read.base64, 'Q', refused],
    ['no base64url', read.base64, 'Q+', refused],
    ['a text that may be missing', read.optionalText, undefined, undefined],
    ['a text that is there', read.optionalText, 'x', 'x'],
    ['a number for a text', read.optionalText, 1, refused],
    ['a flag', read.flag, false, false],
    ['no flag', read.flag, 0, refused],
    ['an object', (sent) => read.members(sent, 'it'), { a: 1 }, { a: 1 }],
    ['a list for an object', (sent) => read.members(sent, 'it'), [], refused],
    ['nothing for an object', (sent) => read.members(sent, 'it'), null, refused],
    ['a text for an object', (sent) => read.members(sent, 'it'), 'x', refused],
  ])('is read or refused: %s', (_, reader, sent, expected) => {
    expect(outcome(() => reader(sent))).toEqual(expected)
  })

  const encoded = (size: number) => Buffer.alloc(size, 7).toString('base64url')

  it('is decoded up to so many bytes', () => {
    for (const size of [0, 1, 2, 3, 80]) {
      expect(toHex(read.bytesOf(encoded(size), size) ?? hex('ff'))).toBe('07'.repeat(size))
      if (size > 0) expect(read.bytesOf(encoded(size), size - 1)).toBeUndefined()
    }
  })

  it('is a header where it has the bytes of one', () => {
    const sizes = [headerSize - 1, headerSize, headerSize + 1]
    expect(sizes.map((size) => read.headerText(encoded(size))?.version)).toEqual([undefined, 0x07070707, undefined])
  })
})
