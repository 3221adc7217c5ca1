import { describe, expect, it } from 'vitest'
import { CodecError, Reader, Writer } from '../../../../src/base/primitives/codec.js'
import * as form from '../../../../src/base/primitives/forms.js'

function bytesOf<T>(of: form.Form<T>, value: T): Uint8Array {
  return of.write(new Writer(), value).finish()
}

interface Row {
  readonly count: number
  readonly kind: 'a' | 'b'
  readonly at: number
  readonly open: boolean
}

const row = form.record<Row>({ count: form.u16, kind: form.oneOf(['a', 'b']), at: form.i64, open: form.flag })

describe('a record', () => {
  it('has its members one after the other, in both directions', () => {
    const value: Row = { count: 0x0102, kind: 'b', at: -1, open: true }
    const bytes = bytesOf(row, value)
    expect([...bytes]).toEqual([2, 1, 1, ...new Array<number>(8).fill(255), 1])
    expect(row.read(new Reader(bytes))).toEqual(value)
  })

  it('knows its size where all members have one', () => {
    expect(row.valueSize).toBe(12)
    expect(form.record<{ a: number; b: string }>({ a: form.u8, b: form.varstring(9) })).not.toHaveProperty('valueSize')
  })
})

describe('a form', () => {
  it.each([
    ['of a list', form.list(2, 1, form.u8), [1, 2], [1, 2, 3]],
    ['of a compact size', form.varuint(300), 300, 301],
    ['of bytes behind their number', form.varbytes(2), Buffer.of(1, 2), Buffer.of(1, 2, 3)],
    ['of text', form.varstring(2), 'ab', 'abc'],
    ['with a condition', form.where(form.u8, (value) => value < 9, 'too large'), 8, 9],
  ])('%s takes the largest value, and refuses the next on reading', (_, of, taken, refused) => {
    const any = of as form.Form<unknown>
    expect(any.read(new Reader(bytesOf(any, taken)))).toEqual(taken)
    expect(() => any.read(new Reader(bytesOf(any, refused)))).toThrow(CodecError)
  })

  it('of a flag refuses a byte that is neither 0 nor 1', () => {
    expect(form.flag.read(new Reader(Uint8Array.of(0)))).toBe(false)
    expect(() => form.flag.read(new Reader(Uint8Array.of(2)))).toThrow('a flag is neither 0 nor 1')
  })

  it('of one of some values takes the last, and refuses a number beyond it', () => {
    expect(form.oneOf(['a', 'b']).read(new Reader(Uint8Array.of(1)))).toBe('b')
    expect(() => form.oneOf(['a', 'b']).read(new Reader(Uint8Array.of(2)))).toThrow('there is no value 2')
  })

  it('of the rest takes all that is left', () => {
    const reader = new Reader(Uint8Array.of(1, 2, 3))
    reader.u8()
    expect([...form.rest.read(reader)]).toEqual([2, 3])
  })
})
